"""Kiro, by Amazon: the editor since 1.0 and `kiro-cli --v3`. One list of hooks in each file; only exit status 2 with a
reason on stderr refuses. It cannot be run here: its table comes from its documents, and from what others measured with
1.0.165 to 1.2.37."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2, PROMPT, TOOL
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "1.2.37"

CONTEXT = Say(text="{context}")
FILES = "files also change in the editor, not only through the agent"
EDIT = {"old_text": "oldStr", "new_text": "newStr"}

EVENTS = (
    HostEvent("SessionStart", ("session_start",), (), {"context": CONTEXT}, fixed={"source": "startup"}),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), PROMPT, {"block": EXIT_2, "context": CONTEXT}),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent(
        "PostToolUse", ("post_tool",), (*TOOL, Taken("output", ("tool_response",))), limit_s=600,
        why_not="its output is not read, and some versions leave the input empty",
    ),
    HostEvent("Stop", ("stop",), (), limit_s=600, why_not="its documents contradict each other on a refusal"),
    HostEvent(
        "SessionEnd", ("session_end",), (Taken("reason", ("reason",)),), installed=False,
        why_not="the command line has it since 2.25; an editor without it may drop the file",
    ),
    *left_out(FILES, "PostFileCreate", "PostFileSave", "PostFileDelete"),
    *left_out("no canonical event", "PreTaskExec", "PostTaskExec"),
    HostEvent("Manual", installed=False, why_not="a person starts it"),
)  # fmt: skip

HOST = Host(
    name="kiro",
    title="Kiro",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={
        "execute_bash": HostTool("shell"),
        "execute_pwsh": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "read_files": HostTool("read_file"),
        "fs_write": HostTool("write_file", {"content": "text"}),
        "fs_append": HostTool("write_file", {"content": "text"}),
        "str_replace": HostTool("edit_file", EDIT),
        "list_directory": HostTool("list_files"),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "rows",
        {"user": "{home}/.kiro/hooks/anyhook.json", "project": "{project}/.kiro/hooks/anyhook.json"},
        handler={
            "name": "anyhook {event}",
            "trigger": "{event}",
            "action": {"type": "command", "command": "{command}"},
            "timeout": "{seconds}",
            "enabled": True,
        },
        top={"version": "v1"},
        owned=True,
    ),
    reads={"kiro": ("user", "project")},
    program="kiro-cli",
    confirm="A session uses the hooks that were there when it started.",
    confirms=(),
    gaps=("context after a tool", "rewritten input and output", "asking the user", "agents of `kiro-cli` before v3"),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    guard = ".kiro/hooks/scripts/guard"
    action: dict[str, Json] = {"type": "command", "command": guard}
    row: dict[str, Json] = {"trigger": "PreToolUse", "name": "guard", "matcher": "execute_bash", "action": action}
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("execute_bash")}
    entry: Json = {"version": "v1", "hooks": [row]}
    return guarded(".kiro/hooks/guard.json", "execute_bash", payload, entry=entry, guard=guard, **BY_STATUS)
