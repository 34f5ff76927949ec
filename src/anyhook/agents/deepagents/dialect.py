"""deepagents-code: Claude's table, but with commands only, its own file, and no rewrites."""

from __future__ import annotations

from anyhook.agents._family import BASE, MODE, HookFile, Layout, aliased, claude_reply, family
from anyhook.agents.deepagents import HOST
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook
from anyhook.tables.rows import Field, Limits, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json


def _none(_scene: Scene) -> Json:
    return []


def _response(scene: Scene) -> Json:
    return {"content": scene.event.get("output"), "status": "success"}


STOPPING = Field("stop_hook_active", not_in_a_stop_hook)
EVENTS = event_rows(
    HOST,
    cells={"tool_response": _response},
    extra={
        "Stop": (STOPPING, Field("background_tasks", _none), Field("session_crons", _none)),
        "PermissionRequest": (Field("permission_suggestions", _none),),
    },
    untold=("PermissionRequest.tool_use_id", "SubagentStart.last_assistant_message"),
    bound=8,
)
READ = claude_reply(EVENTS, speaks_anyway=False)
REPLY = READ.replace(keys=tuple(key for key in READ.keys if key.does not in ("tool_input", "tool_output")))


def _made(hook: Hook) -> Hook:
    """Hooks for a prompt have less time."""
    short = hook.native_event == "UserPromptSubmit" and "timeout" not in hook.definition
    return hook.replace(limit_s=30.0) if short else hook


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/hooks.json"), HookFile("project", "{project}/.deepagents/hooks.json")),
        skipped=("prompt", "http", "agent"),
        limits=Limits(600.0),
        made=_made,
    ),
    EVENTS,
    REPLY,
    base=(*BASE, MODE),
    match=aliased(HOST),
    dense=False,
    variables=lambda hook, project, session: {"CLAUDE_PROJECT_DIR": project},
    differences=differences(
        "0.1.88",
        "PyPI deepagents-code 0.1.88; run",
        "2026-11-16",
        ("DA-1", "Plugins are not read, and entries with `argv` instead of `command` are not run."),
        ("DA-6", "Variables with secret names are passed on; the product removes them."),
    ),
)
