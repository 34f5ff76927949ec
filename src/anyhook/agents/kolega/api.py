"""What a python hook written for Kolega Code imports and gets: `kolega_code.hooks`, supplied where that package is
absent."""

from __future__ import annotations

import sys
from enum import StrEnum
from types import ModuleType

from anyhook.agents.kolega import EVENTS
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.tables.cells import snake_case
from anyhook.tables.rows import Scene

FIELDS = ("blocked", "reason", "updated_input", "updated_output", "additional_context", "end_turn")


HookEvent = StrEnum("HookEvent", {snake_case(row.native).upper(): row.native for row in EVENTS})  # type: ignore[misc]


class HookOutcome:
    """What a callable returns."""

    def __init__(
        self,
        blocked: bool = False,
        reason: str = "",
        updated_input: dict[str, Json] | None = None,
        updated_output: Json = None,
        additional_context: str | None = None,
        end_turn: bool = False,
    ) -> None:
        self.blocked, self.reason, self.updated_input = blocked, reason, updated_input
        self.updated_output, self.additional_context, self.end_turn = updated_output, additional_context, end_turn

    @classmethod
    def deny(cls, reason: str) -> HookOutcome:
        return cls(blocked=True, reason=reason)

    @classmethod
    def empty(cls) -> HookOutcome:
        return cls()


class LifecycleEvent:
    """What a callable receives."""

    def __init__(self, name: str, payload: dict[str, Json], session_id: str, cwd: str, permission_mode: str) -> None:
        self.name = HookEvent(name)
        self.payload, self.session_id, self.cwd, self.permission_mode = payload, session_id, cwd, permission_mode


def provide() -> None:
    """Make `kolega_code.hooks` importable, unless the real one is installed."""
    if "kolega_code.hooks" in sys.modules:
        return
    try:
        __import__("kolega_code.hooks")
    except ImportError:
        hooks = ModuleType("kolega_code.hooks", "Supplied by anyhook: the names that python hooks import.")
        for name in ("HookOutcome", "LifecycleEvent", "HookEvent"):
            setattr(hooks, name, globals()[name])
        package = ModuleType("kolega_code", "Supplied by anyhook, because the package is not installed.")
        package.__path__ = []
        package.hooks = hooks  # type: ignore[attr-defined]
        sys.modules.setdefault("kolega_code", package)
        sys.modules["kolega_code.hooks"] = hooks


def event(scene: Scene, payload: dict[str, Json]) -> object:
    """The event as a callable sees it: common fields are attributes, the rest is in `payload`."""
    common = ("hook_event_name", "session_id", "cwd", "permission_mode")
    made: object = sys.modules["kolega_code.hooks"].LifecycleEvent(
        name=scene.native,
        payload={key: value for key, value in payload.items() if key not in common},
        session_id=scene.session,
        cwd=scene.project,
        permission_mode=str(payload["permission_mode"]),
    )
    return made


def answer(result: object) -> dict[str, Json] | None:
    """A callable's result as plain values; None for no opinion. As in the product, any value that Python calls true
    blocks, and any value can be a text."""
    if result is None:
        return None
    if isinstance(result, dict):
        given = dict(result)
    elif all(hasattr(result, field) for field in FIELDS):
        given = {field: getattr(result, field) for field in FIELDS if getattr(result, field) not in (None, "", False)}
    else:
        raise TypeError(f"a hook returns a HookOutcome, a dict or None, not {type(result).__name__}")
    for fields, kind in ((("blocked", "end_turn"), bool), (("reason", "additional_context"), str)):
        given.update((field, kind(given[field])) for field in fields if given.get(field) is not None)
    return {str(field): _plain(value) for field, value in given.items()}


def _plain(value: Json) -> Json:
    """A value as JSON can hold it: one that it cannot hold must not take a refusal with it."""
    try:
        lean_json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return str(value)
    return value
