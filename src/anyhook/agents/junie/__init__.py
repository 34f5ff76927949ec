"""Junie CLI, by JetBrains: Claude's payloads, from a folder that is not the project. Reports disagree about the form of
an answer, so we refuse by exit status 2 only. It is not run here; the table comes from what others found out in
September 2026."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, EXIT_2, FILE, PROMPT, REASON, SOURCE, TOOL, grouped
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Sign, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "3110"

EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, why_not="context of a hook that it waits for is dropped"),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), PROMPT, {"block": EXIT_2}),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent("PermissionRequest", ("permission_request",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent("Stop", ("stop",), (), {"block": EXIT_2}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON),
    HostEvent("StopFailure", installed=False, why_not="no canonical event"),
)

HOST = Host(
    name="junie",
    title="Junie CLI",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={
        "bash": HostTool("shell"),
        "Bash": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
    },
    entry=Entry("groups", {"user": "{home}/.junie/config.json"}, handler=grouped(), closed={"blockOnError": True}),
    project=("project_path",),
    reads={"junie": ("user",)},
    program="junie",
    confirm="nothing to confirm; it ignores hooks in a project's file.",
    confirms=(),
    gaps=("everything after a tool", "the IDE and its chat, which run no hooks", "context", "rewritten input"),
    signs=(Sign(("project_path",)),),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, grouped, guarded

    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/h/.junie", "project_path": "/p", **called("bash"),
    }  # fmt: skip
    entry = grouped("PreToolUse", "", "~/.junie/scripts/guard")
    guard = ".junie/scripts/guard"
    return guarded(".junie/config.json", "bash", payload, entry=entry, guard=guard, scope="user", **BY_STATUS)
