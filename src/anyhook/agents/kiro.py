"""Kiro, by Amazon: the editor since 1.0 and `kiro-cli --v3`. One list of hooks in each file; only exit status 2 with a
reason on stderr refuses. It cannot be run here: its table comes from its documents, and from what others measured with
1.0.165 to 1.2.37.

As a dialect: a folder of files, each with one list of hooks; exit status 2 with a reason on stderr refuses, and a
hook's output counts only before the model is called."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2, PROMPT, TOOL
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, family, misplaced
from anyhook.tables.vocabulary import *

VERSION = "1.2.37"

CONTEXT = Say(text="{context}")
FILES = "files also change in the editor, not only through the agent"
EDIT = {"old_text": "oldStr", "new_text": "newStr"}

HOST_EVENTS = (
    HostEvent("SessionStart", ("session_start",), (), {"context": CONTEXT}, fixed={"source": "startup"}),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), PROMPT, {"block": EXIT_2, "context": CONTEXT}),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent(
        "PostToolUse", ("post_tool",), (*TOOL, Taken("output", ("tool_response",))), limit_s=600,
        why_not="its output is not read, and some versions leave the input empty"
    ),
    HostEvent("Stop", ("stop",), (), limit_s=600, why_not="its documents contradict each other on a refusal"),
    HostEvent(
        "SessionEnd", ("session_end",), taken(reason="reason"), installed=False,
        why_not="the command line has it since 2.25; an editor without it may drop the file"
    ),
    *left_out(FILES, "PostFileCreate", "PostFileSave", "PostFileDelete"),
    *left_out("no canonical event", "PreTaskExec", "PostTaskExec"),
    HostEvent("Manual", installed=False, why_not="a person starts it"),
)  # fmt: skip

HOST = Host(
    name="kiro",
    title="Kiro",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
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


EVENTS = event_rows(HOST, untold=("PreToolUse.tool_use_id", "PostToolUse.tool_use_id"))
CATEGORIES = {
    "read": ("read_file", "list_files", "grep"),
    "write": ("write_file", "edit_file"),
    "shell": ("shell",),
    "web": ("web_fetch",),
}
"""Kinds of tools that a matcher may name, and our tools of each kind."""
PREFIXES = {"@mcp": "@", "@powers": "@"}
OURS = {native: tool.ours for native, tool in HOST.tools.items()}


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A kind of tools, a group of servers, or a pattern to search for in the tool's name."""
    matcher = hook.matcher
    if not isinstance(matcher, str) or matcher in MATCH_ALL or row.target != "tool":
        return None
    tool = str(event.get("tool"))
    if matcher in CATEGORIES:
        fits = (event.ours or OURS.get(tool, tool)) in CATEGORIES[matcher]
    elif matcher == "@builtin":
        fits = not tool.startswith(("@", "mcp__"))
    elif matcher in PREFIXES:
        fits = tool.startswith(("@", "mcp__"))
    else:
        fits = bool(compile_pattern(matcher).search(tool))
    return None if fits else f"matcher {matcher!r} does not match tool {tool!r}"


def _one(entry: Json) -> Json:
    """An entry with the keys of its action moved to the top."""
    action = entry.get("action") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(action, dict):
        return entry
    return {**{key: value for key, value in entry.items() if key != "action"}, **action}


def _made(hook: Hook) -> Hook:
    name = hook.spec.get("name")
    if isinstance(name, str) and name:
        hook = hook.replace(name=name)
    if hook.spec.get("enabled") is False:
        return hook.replace(status=DISABLED, why="`enabled` turns it off")
    return hook


def _in_file_order(hook: Hook) -> tuple[Json, ...]:
    return (hook.source.rpartition("/")[2],)


def _schema() -> dict[str, Json]:
    from anyhook.tables.schema import NUMBER, TEXT, table

    action = table({"type": {"enum": ["command", "agent"]}, "command": TEXT, "prompt": TEXT}, ["type"])
    keys: dict[str, Json] = {
        "name": TEXT, "trigger": {"enum": [row.native for row in HOST.events]}, "action": action, "timeout": NUMBER,
        **{key: {} for key in ("matcher", "description", "enabled", "confirm")},
    }  # fmt: skip
    rows: Json = {"type": "array", "items": table(keys, ["trigger", "action"])}
    return table({"version": TEXT, "hooks": rows}, ["hooks"])


DIALECT = family(
    HOST,
    Layout(
        (HookFile("project", "{project}/.kiro/hooks/"), HookFile("user", "{home}/.kiro/hooks/")),
        style="rows",
        event_key="trigger",
        command_key="action.command",
        keys=("name", "description", "enabled", "confirm"),
        skipped=("agent",),
        elsewhere=alone(HOST),
        spelled=_one,
        made=_made,
        top={"version": "v1"},
    ),
    EVENTS,
    Reply(
        read=lambda stdout: (
            ("text", stdout.decode("utf-8", "replace").strip()) if stdout.strip() else ("nothing", None)
        ),
        keys=(),
        exits={0: "pass", 2: "block_if_said"},
        text_on=("session_start", "user_prompt_submit"),
    ),
    base=fields(session_id=session, hook_event_name=native_name, cwd=project),
    match=match,
    **ONE_BY_ONE,
    sort=_in_file_order,
    schema=_schema,
    misplaced=misplaced(("{project}/.kiro/hooks.json", ".kiro/hooks/<name>.json")),
    differences=differences(
        "1.2.37",
        "kiro.dev/docs/hooks",
        "2026-11-16",
        ("KI-2", "`agent` actions, and `hooks` in the agents of older command lines, are not run."),
        ("KI-7", "`confirm` is not asked; the command runs."),
    ),
    mcp_tools="@{server}/{tool}",
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    guard = ".kiro/hooks/scripts/guard"
    action: dict[str, Json] = {"type": "command", "command": guard}
    row: dict[str, Json] = {"trigger": "PreToolUse", "name": "guard", "matcher": "execute_bash", "action": action}
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("execute_bash")}
    entry: Json = {"version": "v1", "hooks": [row]}
    return guarded(".kiro/hooks/guard.json", "execute_bash", payload, entry=entry, guard=guard, **BY_STATUS)
