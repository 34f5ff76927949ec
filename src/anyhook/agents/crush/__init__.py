"""Crush, by Charm: one event, an answer with a version, and a rewrite that is merged into the input. Its package
downloads the program, so it is not run here; the table comes from its documents and from what others measured with
0.88: unknown event names may be an error there, so no other event is hooked up."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, FILE
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "0.96.1"


def _say(**keys: Json) -> Say:
    return Say({"version": 1, **keys})


TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))
EVENTS = (
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": _say(decision="deny", reason="{reason}"),
            "end_turn": _say(decision="deny", halt=True, reason="{reason}"),
            "allow": _say(decision="allow"),
            "input": _say(updated_input="{input}"),
            "context": _say(context="{context}"),
        },
        limit_s=600,
    ),
)

HOST = Host(
    name="crush",
    title="Crush",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={
        "bash": HostTool("shell"),
        "view": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "multiedit": HostTool("edit_file", FILE),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "ls": HostTool("list_files"),
        "grep": HostTool("grep"),
        "fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
        "agent": HostTool("delegate_task", {"task": "prompt"}),
    },
    entry=Entry(
        "list",
        {"user": "{config}/crush.json", "project": "{project}/crush.json"},
        {"xdg": ("XDG_CONFIG_HOME", "{home}/.config"), "config": ("CRUSH_GLOBAL_CONFIG", "{xdg}/crush")},
        {"name": "anyhook", "command": "{command}", "timeout": "{seconds}"},
    ),
    project_variables=("CRUSH_PROJECT_DIR",),
    reads={"crush": ("user", "project")},
    program="crush",
    marks=("CRUSH",),
    confirm="nothing to confirm: it reads its config when it starts.",
    confirms=(),
    gaps=("every event but the one before a tool", "calls of sub-agents", "asking the user"),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, entered, guarded

    payload = {"event": "PreToolUse", "session_id": "s", "cwd": "/p", **called("bash")}
    entry = entered("PreToolUse", ".crush/guard", matcher="^bash$")
    told = {"version": 1, **decided("deny")}
    return guarded("crush.json", "bash", payload, entry=entry, guard=".crush/guard", stdout=told)
