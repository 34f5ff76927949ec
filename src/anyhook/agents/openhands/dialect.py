"""OpenHands: Claude's groups, with event names in either spelling and with or without a wrapper; a refusal is exit
status 2, or a decision at the top of the answer with any exit status."""

from __future__ import annotations

from anyhook.agents._family import HookFile, Layout, each_by_itself, family
from anyhook.agents.openhands import HOST
from anyhook.tables.cells import names_or_pattern, native_name, project, session
from anyhook.tables.hosted import event_rows
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import Field, Key, Limits, Reply, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Draft


def _null(_scene: Scene) -> Json:
    return None


def _empty(_scene: Scene) -> Json:
    return {}


def _result(scene: Scene) -> Json:
    text, error = scene.event.get("output"), scene.event.get("tool_error")
    return {"content": [{"type": "text", "text": text or error}], "is_error": bool(error)}


NULLS = tuple(Field(key, _null) for key in ("tool_name", "tool_input", "tool_response", "message"))
ROWS = event_rows(HOST, cells={"tool_response": _result}, untold=("metadata",))
EVENTS = tuple(
    row.replace(payload=(*row.payload, *(f for f in NULLS if f.key not in {field.key for field in row.payload})))
    for row in ROWS
)
NAMES = {"".join(f"_{c.lower()}" if c.isupper() else c for c in row.native).lstrip("_"): row.native for row in EVENTS}
"""The other spelling of an event."""


def _opened(document: Json) -> Json:
    """The document with its wrapper, and with event names in one spelling."""
    if not isinstance(document, dict):
        return document
    hooks = document.get("hooks", document)
    if not isinstance(hooks, dict):
        return document
    return {"hooks": {NAMES.get(name, name): groups for name, groups in hooks.items()}}


def _halted(draft: Draft, _event: str) -> Draft:
    """`continue: false` is a refusal."""
    return {**draft, "verdict": "block"} if draft.get("continue") is False else draft


def _variables(hook: Hook, folder: str, session_id: str) -> dict[str, str]:
    return {
        "OPENHANDS_EVENT_TYPE": hook.native_event,
        "OPENHANDS_PROJECT_DIR": folder,
        "OPENHANDS_SESSION_ID": session_id,
    }


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.openhands/hooks.json"), HookFile("project", "{project}/.openhands/hooks.json")),
        keys=("name", "async"),
        skipped=("prompt", "agent"),
        limits=Limits(60.0),
        opened=_opened,
        needs_type=False,
    ),
    EVENTS,
    Reply(
        read=object_or_nothing,
        exits={0: "pass", 2: "block"},
        json_reasons=("reason", "stderr"),
        speaks_anyway=True,
        keys=(
            Key(("decision",), "string", "verdict", words=(("deny", "block", ()), ("allow", "none", ()))),
            Key(("continue",), "bool", "note"),
            Key(("reason",), "string", "reason"),
            Key(("additionalContext",), "string", "context", on=("session_start", "user_prompt_submit")),
        ),
        finish=_halted,
    ),
    base=(
        Field("event_type", native_name),
        Field("session_id", session),
        Field("working_dir", project),
        Field("metadata", _empty),
    ),
    match=names_or_pattern,
    variables=_variables,
    at_once=None,
    together=False,
    identity=each_by_itself,
    differences=differences(
        "1.16.0",
        "PyPI openhands-sdk 1.58.2; run",
        "2026-11-16",
        ("OH-1", "The user's file and the project's both count; in the product, only the first that is found."),
        ("OH-2", "`prompt` and `agent` handlers are reported and not run."),
        ("OH-3", "An unknown key is reported; the product rejects the whole file."),
    ),
)
