"""Crush: a list for one event in its config. Exit status 2 denies, 49 also ends the turn, and a rewrite names only the
fields that change."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, family
from anyhook.agents.crush import HOST
from anyhook.tables.cells import native_name, project, session
from anyhook.tables.hosted import event_rows
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import SPECIFIC, Field, Key, Limits, Reply, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.tables.cell_names import Words
    from anyhook.tables.rows import Draft

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


def _variables(hook: Hook, folder: str, session_id: str) -> dict[str, str]:
    return {
        "CRUSH": "1", "AGENT": "crush", "AI_AGENT": "crush", "CRUSH_EVENT": hook.native_event,
        "CRUSH_SESSION_ID": session_id, "CRUSH_CWD": folder, "CRUSH_PROJECT_DIR": folder,
    }  # fmt: skip


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
    base=(Field("event", native_name), Field("session_id", session), Field("cwd", project)),
    variables=_variables,
    whole_input=lambda given, changed: {**given, **changed},
    differences=differences(
        "0.96.1",
        "charmbracelet/crush docs/hooks/README.md",
        "2026-11-16",
        ("CR-1", "`crushrc` is not read."),
        ("CR-4", "Exit status 49 denies the call; the turn goes on."),
    ),
    mcp_tools="mcp_{server}_{tool}",
)
