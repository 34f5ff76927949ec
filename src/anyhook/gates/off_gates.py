"""Off gates: what is refused because a gate is off and its user wants that (`off = "deny"`). It only ever refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anyhook.engine.match import Catalog, HookStep, known
from anyhook.engine.settle import is_gate
from anyhook.gates.gate import GateStatus
from anyhook.gates.status import lost_gates, off_gate
from anyhook.model.event import Event
from anyhook.model.hook import ARMED, BROKEN, DISABLED, Hook
from anyhook.model.outcome import BLOCK, STOPPING, Outcome
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect
from anyhook.tables.rows import EventRow

if TYPE_CHECKING:
    from anyhook.engine.routes import Routes

CHOSEN = ("none", "all")
"""Trust settings under which the caller decides what runs, instead of an approval."""


def asked_about(routes: Routes, event: Event) -> list[GateStatus]:
    """The gates that are off and would have been asked about an event; the user's settings do not matter."""
    config = routes.catalog.config.replace(off="deny", hook_off={})
    steps = with_off_gates(routes.steps(event), routes.setup, routes.catalog.replace(config=config), event)
    return [step.off for step in steps if step.off is not None and not step.why]


def with_off_gates(steps: tuple[HookStep, ...], setup: Setup, catalog: Catalog, event: Event) -> tuple[HookStep, ...]:
    """The steps of an event, with steps that refuse it because their gate is off."""
    return (*(_closed(step, setup, catalog, event) for step in steps), *_missing(setup, catalog, event))


def _closed(step: HookStep, setup: Setup, catalog: Catalog, event: Event) -> HookStep:
    hook = step.hook
    if hook.handler == "callable" or hook.status == DISABLED or not denies(hook.id, catalog) or not is_gate(hook):
        return step
    if step.row.block not in STOPPING or (not hook.trusted and setup.trust in CHOSEN):
        return step
    gate = off_gate(hook, setup, catalog)
    if gate is None:
        return step
    reaches = step.why if hook.trusted else known(hook.replace(status=ARMED), step.dialect, step.row, event)
    return step.replace(why=reaches, off=gate)


def _missing(setup: Setup, catalog: Catalog, event: Event) -> Iterator[HookStep]:
    """Gates without a step: hooks that are gone, and unreadable files, which may be guards for anything."""
    for gate, hook in lost_gates(catalog):
        if not denies(gate.id, catalog):
            continue
        if hook is not None:
            yield from _closing(hook, gate, event) if not hook.native_event or event.name in hook.events else ()
        elif gate.event is None or _at(gate, event):
            for name in (gate.dialect,) if gate.dialect else setup.dialects:
                yield from _closing(_stand_in(gate, name), gate, event)


def _at(gate: GateStatus, event: Event) -> bool:
    """Whether a declaration that is lost was for this event."""
    return any({gate.event, event.name} <= set(row.canonical) for row in dialect(gate.dialect).events)


def _closing(hook: Hook, gate: GateStatus, event: Event) -> Iterator[HookStep]:
    table = dialect(hook.dialect)
    own = table.row(hook.native_event)
    rows = [own] if own else [row for row in table.events if event.name in row.canonical]
    row = next((row for row in rows if row.block in STOPPING), None)
    if row is None:
        return
    try:
        reaches = known(hook.replace(status=ARMED), table, row, event)
    except Exception:  # noqa: BLE001 (it is unknown what it guarded, so everything is refused)
        reaches = ""
    yield HookStep(hook, table, row, reaches, gate)


def _stand_in(gate: GateStatus, name: str) -> Hook:
    """A hook that stands for a file; it applies to every event."""
    return Hook(gate.id, gate.name, name, gate.scope, gate.source, status=BROKEN, why=gate.why)


def closed_if_wanted(hook: Hook, row: EventRow, outcome: Outcome, catalog: Catalog) -> Outcome:
    """The same for a gate that could not be started."""
    if outcome.failure is None or outcome.verdict == BLOCK or row.block not in STOPPING or not denies(hook.id, catalog):
        return outcome
    gate = GateStatus.of(hook, "broken", "cannot_start", why=outcome.failure.detail)
    return outcome.replace(verdict=BLOCK, reason=gate.refusal)


def denies(key: str, catalog: Catalog) -> bool:
    """Whether a gate that is off refuses what it guards."""
    return (catalog.config.hook_off.get(key) or catalog.config.off) == "deny"
