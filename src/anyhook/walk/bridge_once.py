"""One event, several entries of ours: the hooks run for the first that comes, and the others give the same answer in
their own agent's words."""

from __future__ import annotations

import os

from anyhook.model.decision import Decision
from anyhook.state.decisions import RecentDecision
from anyhook.state.places import state_dir
from anyhook.state.turns import Turn
from anyhook.tables.registry import dialect
from anyhook.tables.translate import renamed, restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import EventRow
    from anyhook.walk.engine import Engine
    from anyhook.walk.receive import Received

KEEPING = ("stop", "subagent_stop")
"""Events whose block keeps the agent working."""
TEXTS = ("context", "messages", "follow_ups")
KEPT = ("verdict", "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "end_turn", "enforced", *TEXTS)


def once(agent: str, engine: Engine, received: Received, fire: Callable[[], Decision]) -> tuple[Decision, bool]:
    """The decision, and whether another entry had made it already."""
    event = received.events[0]
    inputs = event.inputs or {}
    given = event.data.get("input")
    ours = restored(given, inputs) if isinstance(given, dict) and not received.split else received.input
    key = (
        event.name,
        event.data.get("session"),
        event.ours or event.data.get("tool"),
        sorted(ours.items(), key=_first) if ours else event.data.get("prompt"),
        engine.setup.project,
        [(hook.id, hook.definition, hook.status) for hook in engine.catalog.hooks],
        sorted(engine.catalog.stamps.items(), key=_first),
        (engine.mode, engine.on_failure),
    )
    if not event.data.get("session"):
        return fire(), False  # nobody can tell one call from another
    recent = RecentDecision(state_dir(os.environ), key, agent, str(event.data.get("call_id") or ""))
    known = recent.decided(engine.answer_by_s or 0.0)
    if known is not None:
        return _remembered(event.name, known, inputs, received.split), True
    decision = fire()
    made: dict[str, Json] = {field: getattr(decision, field) for field in KEPT}
    for field in TEXTS:
        made[field] = [*getattr(decision, field)]
    if decision.tool_input is not None and not received.split:
        made["tool_input"] = restored(decision.tool_input, inputs)
    recent.keep(made)
    return decision, False


def fire_in_turn(engine: Engine, event: Event) -> Decision:
    """Fires one event. Blocks that keep the agent working are counted, and ignored once their dialect's bound is
    reached: not every agent has a bound of its own."""
    used = {hook.dialect for hook in engine.catalog.hooks}
    bounds = {name: row.bound for name in used if (row := _bounded(name, event.name)) is not None}
    if not bounds:
        return engine.fire_sync(event)
    turn = Turn(state_dir(os.environ), engine.host, str(event.data.get("session")))
    counts = turn.counts()
    spent = frozenset(name for name, bound in bounds.items() if counts.get(name, 0) >= bound)
    decision = engine.fire_sync(event, spent=spent)
    if decision.effect == "keep_working" and decision.stops:
        name = next((report.dialect for report in decision.hooks if report.id == decision.hook), "")
        turn.count(name)
    return decision


def _bounded(name: str, event: str) -> EventRow | None:
    if event not in KEEPING:
        return None
    row = dialect(name).row_for(event)
    return row if row is not None and row.bound else None


def _remembered(event: str, known: dict[str, Json], inputs: dict[str, str], split: bool) -> Decision:
    made: dict[str, object] = {field: known[field] for field in KEPT if field in known}
    for field in TEXTS:
        texts = known.get(field)
        made[field] = tuple(map(str, texts)) if isinstance(texts, list) else ()
    given = known.get("tool_input")
    if isinstance(given, dict) and not split:
        made["tool_input"] = renamed(given, inputs)
    return Decision(event).replace(**made)


def _first(pair: tuple[str, object]) -> str:
    return pair[0]
