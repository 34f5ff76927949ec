"""Kimi Code: tables in its config, in which any key but four spoils everything; three events act on an answer, and a
prompt's context is whatever is printed. Measured with 2.1.0, and with kimi-cli 1.51.0, which follows the same rules."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, NOTE, REASON, SOURCE, TASK, TRIGGER, permission
from anyhook.agents._results import parts_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "2.1.0"

TOOL = (
    Taken("tool", ("tool_name",)),
    Taken("input", ("tool_input",)),
    Taken("call_id", ("tool_call_id",)),
    Taken("output", ("tool_output",)),
)
ERROR = (Taken("tool_error", ("error.message", "error")), Taken("output", ("error.message", "error")))
AGENT = (Taken("agent_type", ("agent_name", "agent_type")),)
EDIT = {"old_text": "old_string", "new_text": "new_string"}
READ = {"offset": "line_offset", "limit": "n_lines"}

EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        (Taken("prompt", ("prompt",), parts_text),),
        {"block": EXIT_2, "context": Say(text="{context}")},
    ),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": permission("PreToolUse", "deny")}, limit_s=600),
    HostEvent("PostToolUse", ("post_tool",), TOOL, limit_s=600, why_not="often lost when the run ends at once"),
    HostEvent("PostToolUseFailure", ("post_tool_failure",), (*TOOL, *ERROR), limit_s=600),
    HostEvent("PermissionRequest", ("permission_request",), TOOL, why_not="its answer is not read"),
    HostEvent("Notification", ("notification",), NOTE),
    HostEvent("SubagentStart", ("subagent_start",), AGENT),
    HostEvent("SubagentStop", ("subagent_stop",), AGENT),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER),
    HostEvent("PostCompact", ("post_compact",), TRIGGER),
    HostEvent("Stop", ("stop",), (), {"block": EXIT_2}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON, why_not="not fired by `kimi -p`"),
)

HOST = Host(
    name="kimi",
    title="Kimi Code",
    events=EVENTS,
    base=BASE,
    tools={
        "Bash": HostTool("shell"),
        "Shell": HostTool("shell"),
        "Read": HostTool("read_file", READ),
        "ReadFile": HostTool("read_file", READ),
        "Write": HostTool("write_file"),
        "WriteFile": HostTool("write_file"),
        "Edit": HostTool("edit_file", EDIT),
        "StrReplaceFile": HostTool("edit_file", {"old_text": "edit.old", "new_text": "edit.new"}),
        "Glob": HostTool("list_files", {"glob": "pattern"}),
        "Grep": HostTool("grep"),
        "Agent": HostTool("delegate_task", TASK),
        "Task": HostTool("delegate_task", {"agent_name": "subagent_name", "task": "prompt"}),
    },
    entry=Entry(
        "tables",
        {"user": "{config}/config.toml"},
        {"config": ("KIMI_CODE_HOME", "{home}/.kimi-code")},
        {"event": "{event}", "command": "{command}", "timeout": "{seconds}"},
    ),
    program="kimi",
    confirms=(),
    without_us="open",  # exit 127 was seen to be passed over, 2026-11
    confirm="nothing to confirm: it reads its user config alone.",
    gaps=("context after a tool", "rewritten input and output", "asking the user"),
)


MODEL = """

[providers.anyhook_live]
type = "openai"
base_url = "{url}/v1"
api_key = "sk-not-a-real-key"

[models.anyhook_live]
provider = "anyhook_live"
model = "{model}"
max_context_size = 200000
"""


def drive() -> Drive:
    from anyhook.tables.drive_rows import PROVIDER, Drive

    never_asks, not_fired = "`kimi -p` never asks", "`kimi -p` does not fire it"
    return Drive(
        ("-p", "{prompt}"),
        {"KIMI_CODE_HOME": "{config}", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"},
        heads={"{config}/config.toml": {"default_model": f'"{PROVIDER}"', "telemetry": "false"}},
        appends={"{config}/config.toml": MODEL},
        helper="coder",
        cannot_show={
            "pre_tool allow": never_asks,
            "permission_request": never_asks,
            "notification": not_fired,
            "session_end": not_fired,
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, Sample, denied

    return Sample(
        calls="PreToolUse",
        payload={"session_id": "s", "tool_name": "Bash", "tool_input": {"command": COMMAND}},
        stdout=denied("PreToolUse"),
    )
