"""Crush, by Charm: one event, an answer with a version, and a rewrite that is merged into the input. Its package
downloads the program, so it is not run here; the table comes from its documents and from what others measured with
0.88: unknown event names may be an error there, so no other event is hooked up.

As a dialect: a list for one event in its config. Exit status 2 denies, 49 also ends the turn, and a rewrite names
only the fields that change."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, FILE
from anyhook.agents._family import HookFile, Layout, family
from anyhook.tables.vocabulary import *

VERSION = "0.96.1"


def _say(**keys: Json) -> Say:
    return Say({"version": 1, **keys})


TOOL = taken(tool="tool_name", input="tool_input")
HOST_EVENTS = (
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
    events=HOST_EVENTS,
    base=taken(session="session_id"),
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


LATER = frozenset(
    {
        "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionResult", "SessionStart", "SessionEnd",
        "TurnStart", "TurnEnd", "StopFailure", "Interrupt", "PreCompact", "PostCompact",
    }
)  # fmt: skip
"""Events in its newest documents that no release was seen to fire."""
EVENTS = event_rows(HOST)
PERMISSIONS: Words = (("deny", "block", ()), ("allow", "allow", ()))


def _halted(draft: Draft, _event: str) -> Draft:
    """A halt ends the turn, and refuses the call."""
    return {**draft, "verdict": "block", "end_turn": True} if draft.get("halt") is True else draft


REPLY = Reply(
    read=object_or_nothing,
    also=("version", f"{SPECIFIC}.hookEventName"),
    exits={0: "pass", 2: "block", 49: "block"},
    json_reasons=("reason", "stderr"),
    keys=(
        Key(("decision",), "string", "verdict", words=PERMISSIONS),
        Key(("halt",), "bool", "note"),
        Key(("reason",), "string", "reason"),
        Key(("context",), "string", "context"),
        Key(("updated_input",), "object", "tool_input"),
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", words=PERMISSIONS),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason"),
        Key((SPECIFIC, "updatedInput"), "object", "tool_input"),
    ),
    finish=_halted,
)


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/crush.json"),
            HookFile("project", "{project}/crush.json"),
            HookFile("project", "{project}/.crush.json", "hidden"),
        ),
        style="list",
        keys=("name",),
        needs_type=False,
        limits=Limits(30.0),
        elsewhere=LATER,
    ),
    EVENTS,
    REPLY,
    base=fields(event=native_name, session_id=session, cwd=project),
    variables={
        "CRUSH": "1",
        "AGENT": "crush",
        "AI_AGENT": "crush",
        "CRUSH_EVENT": "{event}",
        "CRUSH_SESSION_ID": "{session}",
        "CRUSH_CWD": "{project}",
        "CRUSH_PROJECT_DIR": "{project}",
    },
    whole_input=merged,
    differences=differences(
        "0.96.1",
        "charmbracelet/crush docs/hooks/README.md",
        "2026-11-16",
        ("CR-1", "`crushrc` is not read."),
        ("CR-4", "Exit status 49 denies the call; the turn goes on."),
    ),
    mcp_tools="mcp_{server}_{tool}",
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, entered, guarded

    payload = {"event": "PreToolUse", "session_id": "s", "cwd": "/p", **called("bash")}
    entry = entered("PreToolUse", ".crush/guard", matcher="^bash$")
    told = {"version": 1, **decided("deny")}
    return guarded("crush.json", "bash", payload, entry=entry, guard=".crush/guard", stdout=told)
