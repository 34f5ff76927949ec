"""Kimi Code, and Kimi CLI before it, by Moonshot: `[[hooks]]` tables in the user's config, where any key but four makes
the whole file invalid. Three events act on an answer, and all output becomes context for a prompt. Measured with 2.1.0,
and with kimi-cli 1.51.0, which follows the same rules."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, TASK, TRIGGER, event
from anyhook.agents._results import parts_text
from anyhook.tables.host_rows import Entry, Host, HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "2.1.0"


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
    event("SessionStart"),
    event(
        "UserPromptSubmit",
        "block context",
        {"block": EXIT_2, "context": Say(text="{context}")},
        takes=(Taken("prompt", ("prompt",), parts_text),),
    ),
    event("PreToolUse", "block", takes=TOOL),
    event("PostToolUse", takes=TOOL, why_not="often lost when the run ends at once"),
    event("PostToolUseFailure", takes=(*TOOL, *ERROR)),
    event("PermissionRequest", takes=TOOL, limit_s=60.0, why_not="its answer is not read"),
    event("Notification"),
    event("SubagentStart", takes=(*AGENT, Taken("task", ("prompt",)))),
    event("SubagentStop", takes=(*AGENT, Taken("result", ("response",))), limit_s=60.0),
    event("PreCompact", takes=(*TRIGGER, Taken("input_tokens", ("token_count",)))),
    event("PostCompact"),
    event("Stop", "block", {"block": EXIT_2}, takes=()),
    event("SessionEnd", why_not="not fired by `kimi -p`"),
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
        "ReadMediaFile": HostTool("read_file"),
        "Write": HostTool("write_file"),
        "WriteFile": HostTool("write_file"),
        "Edit": HostTool("edit_file", EDIT),
        "StrReplaceFile": HostTool("edit_file", {"old_text": "edit.old", "new_text": "edit.new"}),
        "Glob": HostTool("list_files", {"glob": "pattern"}),
        "Grep": HostTool("grep"),
        "Agent": HostTool("delegate_task", TASK),
        "Task": HostTool("delegate_task", {"agent_name": "subagent_name", "task": "prompt"}),
        "FetchURL": HostTool("web_fetch"),
        "WebSearch": HostTool("web_search"),
        "SearchWeb": HostTool("web_search"),
    },
    entry=Entry(
        "tables",
        {"user": "{config}/config.toml"},
        {"config": ("KIMI_CODE_HOME", "{home}/.kimi-code")},
        {"event": "{event}", "command": "{command}", "timeout": "{seconds}"},
    ),
    reads={"kimi": ("user",)},
    own_files=("",),
    program="kimi",
    confirms=(),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads only its user config.",
    shows_stderr=False,  # seen with 2.1.0, 2026-11: only context for a prompt has an effect
    gaps=("context after a tool", "rewritten input and output", "asking the user"),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import PROVIDER, TERMINAL, Drive

    never_asks, not_fired = "`kimi -p` never asks", "`kimi -p` does not fire it"
    usual = Drive(
        ("-p", "{prompt}"),
        {"KIMI_CODE_HOME": "{config}", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"},
        sets={"{config}/config.toml": {"default_model": PROVIDER, "telemetry": False}},
        appends={"{config}/config.toml": MODEL},
        helper="coder",
        cannot_show={
            "pre_tool allow": never_asks,
            "permission_request": never_asks,
            "notification": not_fired,
            "session_end": not_fired,
        },
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    row = 'event = "PreToolUse"\nmatcher = "Bash"\ncommand = "~/.kimi-code/scripts/guard"\n'
    path, guard = ".kimi-code/config.toml", ".kimi-code/scripts/guard"
    return guarded(path, "Bash", entry=f"[[hooks]]\n{row}", guard=guard, scope="user")
