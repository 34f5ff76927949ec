"""Augment: Claude's groups in settings files, limits in milliseconds; exit status 2 refuses only a tool; a block after
a tool or at a stop is nested in the answer."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, each_by_itself, family, misplaced
from anyhook.agents.augment import HOST
from anyhook.tables.cells import native_name, session
from anyhook.tables.hosted import event_rows
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import SPECIFIC, Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json


def _roots(scene: Scene) -> Json:
    return [scene.project]


def _is_mcp(scene: Scene) -> Json:
    return "_" in str(scene.event.get("tool"))


EVENTS = event_rows(
    HOST,
    extra={
        "PreToolUse": (Field("is_mcp_tool", _is_mcp),),
        "PostToolUse": (Field("is_mcp_tool", _is_mcp), Field("tool_error", "tool_error", optional=True)),
    },
)
AFTER = ("post_tool", "post_tool_failure", "stop")
CONTEXT = ("session_start", "post_tool", "post_tool_failure")
REPLY = Reply(
    read=object_or_nothing,
    also=("suppressOutput", f"{SPECIFIC}.hookEventName", f"{SPECIFIC}.updatedInput", "stopReason"),
    exits={0: "pass"},
    json_reasons=("reason", "stderr"),
    keys=(
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=("pre_tool",),
            words=(("deny", "block", ()), ("allow", "none", ()), ("ask", "none", ()))),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "decision"), "string", "verdict", on=AFTER, words=(("block", "block", ()),)),
        Key((SPECIFIC, "reason"), "string", "reason", on=AFTER),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=CONTEXT),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=("pre_tool", "post_tool", "post_tool_failure")),
    ),
)  # fmt: skip


def _variables(hook: Hook, project: str, session_id: str) -> dict[str, str]:
    return {
        "AUGMENT_PROJECT_DIR": project,
        "AUGMENT_CONVERSATION_ID": session_id,
        "AUGMENT_HOOK_EVENT": hook.native_event,
    }


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{home}/.augment/settings.json"),
            HookFile("project", "{project}/.augment/settings.json"),
            HookFile("project", "{project}/.augment/settings.local.json", "local"),
        ),
        keys=("args",),
        group_keys=("metadata",),
        limits=Limits(60.0, unit_s=0.001),
    ),
    EVENTS,
    REPLY.replace(on_event={"pre_tool": REPLY.replace(exits={0: "pass", 2: "block"})}),
    base=(Field("hook_event_name", native_name), Field("conversation_id", session), Field("workspace_roots", _roots)),
    variables=_variables,
    identity=each_by_itself,
    misplaced=misplaced(("{project}/.augment/hooks.json", ".augment/settings.json")),
    differences=differences(
        "0.36",
        "docs.augmentcode.com/cli/hooks",
        "2026-11-16",
        ("AU-1", "The system's settings file is not read."),
        (
            "AU-5",
            "`updatedInput` changes nothing: its documents call it an example, and others report that it is missing.",
        ),
        ("AU-6", "Fields that `metadata` asks for are not sent."),
    ),
)
