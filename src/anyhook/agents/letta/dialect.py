"""Letta Code: Claude's groups in three settings files, limits in milliseconds; exit status 2 refuses; output can
rewrite or add, but not refuse."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, each_by_itself, family
from anyhook.agents.letta import HOST
from anyhook.tables.cells import native_name, project, session, whole_value
from anyhook.tables.hosted import event_rows
from anyhook.tables.readers import object_or_prose
from anyhook.tables.rows import SPECIFIC, Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json


def _result(scene: Scene) -> Json:
    return {"status": "success", "output": scene.event.get("output")}


def _is_new(scene: Scene) -> Json:
    return scene.event.get("source") != "resume"


def _type(_scene: Scene) -> Json:
    return "tool_error"


EVENTS = event_rows(
    HOST,
    cells={"tool_result": _result, "is_new_session": _is_new},
    extra={"PostToolUseFailure": (Field("error_type", _type),)},
)
AFTER = ("post_tool", "post_tool_failure", "session_start")


def _variables(hook: Hook, folder: str, session_id: str) -> dict[str, str]:
    return {
        "LETTA_HOOK_EVENT": hook.native_event, "LETTA_WORKING_DIR": folder, "LETTA_AGENT_ID": session_id,
        "AGENT_ID": session_id,
    }  # fmt: skip


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("project", "{project}/.letta/settings.local.json", "local"),
            HookFile("project", "{project}/.letta/settings.json"),
            HookFile("user", "{home}/.letta/settings.json"),
        ),
        skipped=("prompt",),
        limits=Limits(60.0, unit_s=0.001),
        off=(("hooks", "disabled"), True),
    ),
    EVENTS,
    Reply(
        read=object_or_prose,
        exits={0: "pass", 2: "block"},
        text_on=("session_start", "user_prompt_submit"),
        keys=(
            Key((SPECIFIC, "updatedInput"), "object", "tool_input", on=("pre_tool",)),
            Key(("updatedInput",), "object", "tool_input", on=("pre_tool",)),
            Key((SPECIFIC, "additionalContext"), "string", "context", on=AFTER),
            Key(("additionalContext",), "string", "context", on=AFTER),
        ),
    ),
    base=(Field("event_type", native_name), Field("working_directory", project), Field("agent_id", session)),
    match=whole_value,
    variables=_variables,
    at_once=None,
    together=False,
    identity=each_by_itself,
    differences=differences(
        "0.34.12",
        "PyPI letta 0.34.12; run",
        "2026-11-16",
        ("LE-2", "`prompt` handlers are reported and not run."),
        ("LE-6", "If several hooks rewrite, the last one wins; in the product, the first."),
    ),
)
