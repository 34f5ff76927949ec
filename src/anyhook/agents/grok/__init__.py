"""Grok Build, by xAI: Claude's groups in a folder of files; payloads that hold every field in two spellings. A refusal
is at the top of the answer, a rewrite nested; a stop counts only if the turn has really ended. Measured with 1.0.41."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    BLOCK,
    DENY,
    EDIT,
    EXIT_2,
    FILE,
    PROMPT,
    REASON,
    TASK,
    TRIGGER,
    context,
    grouped,
    specific,
)
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch, Sign, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "1.0.41"

CONFIG = """
[models]
default = "{model}"

[model.{model}]
model = "{model}"
base_url = "{url}/v1"
name = "{model}"
api_key = "sk-not-a-real-key"
api_backend = "chat_completions"
context_window = 200000
"""


def _output(response: Json) -> Json:
    """The text that a tool returned to the model."""
    if isinstance(response, dict):
        return next(
            (response[key] for key in ("output_for_prompt", "tool_output_for_prompt") if key in response), response
        )
    return response


def _source(said: Json) -> Json:
    return "startup" if said == "new" else said


def _is_the_end(payload: dict[str, Json]) -> bool:
    """Whether the turn has ended; a second stop, with another reason, comes when the program exits."""
    return payload.get("reason") in ("end_turn", None)


TOOL = (
    Taken("tool", ("tool_name", "toolName")),
    Taken("input", ("tool_input", "toolInput")),
    Taken("call_id", ("tool_use_id", "toolUseId")),
)
AGENT = (Taken("agent_type", ("subagentType",)), Taken("agent_name", ("subagentId",)))
LAST = (Taken("last_message", ("lastAssistantMessage",)),)
ALONE = "no canonical event"

EVENTS = (
    HostEvent("SessionStart", ("session_start",), (Taken("source", ("source",), _source),)),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), PROMPT, {"block": EXIT_2}),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": DENY,
            "input": specific("PreToolUse", updatedInput="{input}"),
            "context": context("PreToolUse"),
        },
        limit_s=600,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (
            *TOOL,
            Taken("output", ("tool_response", "toolResult"), _output),
            Taken("exit_code", ("tool_response.exit_code", "toolResult.exit_code")),
            Taken("duration_ms", ("durationMs",)),
        ),
        {"block": BLOCK, "context": context("PostToolUse")},
        limit_s=600,
    ),
    HostEvent(
        "PostToolUseFailure",
        ("post_tool_failure",),
        (*TOOL, Taken("tool_error", ("error",)), Taken("output", ("error",))),
        limit_s=600,
    ),
    HostEvent(
        "Notification",
        ("notification",),
        (Taken("message", ("message",)), Taken("notification_type", ("notificationType",))),
    ),
    HostEvent("SubagentStart", ("subagent_start",), (*AGENT, Taken("task", ("description",)))),
    HostEvent("SubagentStop", ("subagent_stop",), (*AGENT, *LAST), {"block": BLOCK}, limit_s=600),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER),
    HostEvent("PostCompact", ("post_compact",), TRIGGER),
    HostEvent("Stop", ("stop",), LAST, {"block": BLOCK}, limit_s=600, when=_is_the_end),
    HostEvent("SessionEnd", ("session_end",), REASON),
    *left_out(ALONE, "PermissionDenied", "StopFailure", "StopCancelled"),
)

HOST = Host(
    name="grok",
    title="Grok Build",
    events=EVENTS,
    base=(
        Taken("session", ("session_id", "sessionId")),
        Taken("permission_mode", ("permission_mode", "permissionMode")),
    ),
    tools={
        "run_terminal_command": HostTool("shell", labels=("description",)),
        "read_file": HostTool("read_file", {"path": "target_file"}),
        "write": HostTool("write_file", FILE),
        "search_replace": HostTool("edit_file", EDIT),
        "list_dir": HostTool("list_files"),
        "grep": HostTool("grep"),
        "spawn_subagent": HostTool("delegate_task", TASK, labels=("description",)),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/hooks/anyhook.json", "project": "{project}/.grok/hooks/anyhook.json"},
        {"config": ("GROK_HOME", "{home}/.grok")},
        grouped(),
        owned=True,
        names_tools=True,
    ),
    project=("workspaceRoot", "cwd"),
    project_variables=("GROK_WORKSPACE_ROOT",),
    reads={"grok": ("user", "project"), "claude": ("user", "project")},
    misreads=("claude",),  # its tools have other names and fields
    program="grok",
    settings=(
        "{config}/disabled-hooks",
        "{config}/managed_config.toml",
        "{config}/requirements.toml",
        "/etc/grok/managed_config.toml",
        "/etc/grok/requirements.toml",
    ),
    switches=(
        OffSwitch((), "/anyhook:"),
        OffSwitch(("allow_managed_hooks_only",)),
        OffSwitch(("allowManagedHooksOnly",)),
    ),
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="A project's hooks run once its folder is trusted (`--trust`); `grok inspect` lists them.",
    gaps=("context at the start of a session or with a prompt", "asking the user", "replaced output"),
    signs=(Sign(("hookEventName", "workspaceRoot")),),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, Drive

    usual = Drive(
        ("-p", "{prompt}", "-m", "{model}", "--disable-web-search", "--always-approve"),
        {
            "GROK_HOME": "{config}",
            "GROK_TELEMETRY_ENABLED": "false",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_FEEDBACK_ENABLED": "false",
        },
        appends={"{config}/config.toml": CONFIG},
        in_folder=lambda drive: drive.with_words("--trust"),
        helper="general-purpose",
        cannot_show={
            "post_tool_failure": "a failed command and a missing file fire PostToolUse",
            "pre_compact": "a short run compacts nothing",
            "post_compact": "a short run compacts nothing",
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--always-approve")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    tool, guard = "run_terminal_command", ".grok/hooks/scripts/guard"
    payload = {
        "hookEventName": "pre_tool_use", "sessionId": "s", "session_id": "s", "hook_event_name": "PreToolUse",
        **called(tool, description="x"),
    }  # fmt: skip
    return guarded(".grok/hooks/guard.json", tool, payload, guard=guard, stdout=decided("deny"))
