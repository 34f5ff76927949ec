"""Tell: one line for the person if guards are off, through the agent's own channel: when a session starts, and again at
the first call that a guard would have been asked about. It does not change the decision."""

from __future__ import annotations

from anyhook.documents.places import state_dir
from anyhook.model.record import Record
from anyhook.state.told import ToldGates
from anyhook.tables.host_rows import CHANNELS, channel_of, opening, speaks_before_calls
from anyhook.walk.left_to_host import is_gate
from anyhook.walk.never_ran import NOT_FOUND
from anyhook.walk.off_gates import asked_about
from anyhook.walk.status import OFF_STATES, gates, is_off, not_holding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.decision import Decision
    from anyhook.state.plans import Setup
    from anyhook.tables.host_rows import Host
    from anyhook.walk.bridge import Incoming
    from anyhook.walk.context import Context
    from anyhook.walk.routes import Catalog
    from anyhook.walk.status import GateStatus

REASONS_SHOWN = 5
NAMES_LENGTH = 320
REASON_LENGTH = 200
"""The limits of one line: reasons, letters of names per reason, letters of each reason."""


class OffGuard(Record):
    """A guard that is off, as shown to a person."""

    id: str
    name: str
    why: str
    fix: str


def with_warning(context: Context, incoming: Incoming, decision: Decision) -> tuple[Decision, str]:
    """The decision with the warning added, and what goes to stderr if there is no better channel."""
    says, event, table = incoming.row.says, incoming.received.events[0], incoming.table
    channel = next((name for name in CHANNELS if name in says), None) if decision.enforced else None
    elsewhere = channel is None and decision.enforced and channel_of(table) in CHANNELS
    if elsewhere and (table.shows_stderr or event.name != "pre_tool"):
        return decision, ""  # another event of this agent has a channel
    session = str(event.data.get("session") or "")
    kept = ToldGates(state_dir(context.setup.env), table.name, session)
    known = kept.known() if session else {}
    moment = "terminal " if elsewhere else "start " if event.name == "session_start" else ""
    told_at = (moment,) if moment == "start " or speaks_before_calls(table) else (moment, "start ", "")
    off = {guard.id: guard for guard in (*_not_run(context, decision), *_off(context, incoming))}
    new = [guard for guard in off.values() if not any(f"{at}{guard.id}" in known for at in told_at)]
    if not new:
        return decision, ""
    line = sentence(new)
    if session:
        kept.keep({f"{moment}{guard.id}": guard.why for guard in new})
    if channel == "message":
        return decision.replace(messages=(*decision.messages, line)), ""
    if channel == "context":
        return decision.replace(context=(*decision.context, f"Tell the user: {line}")), ""
    return decision, line


def _off(context: Context, incoming: Incoming) -> list[OffGuard]:
    """All guards that are off, at the first event that can show them, and at every event if calls cannot; otherwise
    those that would have been asked about this call."""
    setup, catalog, table = context.setup, context.routes.catalog, incoming.table
    if incoming.received.events[0].name == opening(table) or not speaks_before_calls(table):
        return guards_off(setup, catalog, table)
    steps = [step for event in incoming.received.events for step in asked_about(context.routes, event)]
    found = [
        OffGuard(
            step.hook.id,
            step.hook.name,
            step.hook.why or is_off(step.hook, setup, catalog) or step.closed_because,
            _command(step.hook.status),
        )
        for step in steps
    ]
    return _wanted(found, catalog)


def _not_run(context: Context, decision: Decision) -> list[OffGuard]:
    """The guards that turned out to be broken when they were asked."""
    catalog = context.routes.catalog
    gates = {hook.id for hook in catalog.hooks if is_gate(hook)}
    found = [
        OffGuard(report.id, report.name, report.why or "its shell could not start a program", "anyhook log")
        for report in decision.hooks
        if report.id in gates and (report.status == "broken" or report.exit_code in NOT_FOUND)
    ]
    return _wanted(found, catalog)


def guards_off(setup: Setup, catalog: Catalog, table: Host | None = None) -> list[OffGuard]:
    """All guards that are off in a project, if its user wants to know about them."""
    off = [gate for gate in gates(setup, catalog, table) if gate.state in OFF_STATES]
    return _wanted([_guard(gate) for gate in off], catalog)


def guards_not_holding(setup: Setup, catalog: Catalog) -> list[OffGuard]:
    """The same for people who look for themselves: every guard that does not hold, unless `off` is `pass` for it."""
    config = catalog.config
    return [
        _guard(gate)
        for gate in not_holding(gates(setup, catalog))
        if gate.state not in OFF_STATES or (config.hook_off.get(gate.id) or config.off) != "pass"
    ]


def _guard(gate: GateStatus) -> OffGuard:
    named = gate.fix if gate.fix.startswith("anyhook ") else "anyhook status"
    return OffGuard(gate.id, gate.name, gate.why, _command(gate.state) if gate.state in OFF_STATES else named)


def off_line(setup: Setup, catalog: Catalog) -> str:
    """The same as one line; "" if all guards are on."""
    off = guards_off(setup, catalog)
    return sentence(off) if off else ""


def _wanted(found: list[OffGuard], catalog: Catalog) -> list[OffGuard]:
    config = catalog.config
    kept = [guard for guard in found if (config.hook_off.get(guard.id) or config.off) == "tell"]
    return list({guard.id: guard for guard in kept}.values())


def _command(state: str) -> str:
    return "anyhook trust" if state in ("waiting", "untrusted", "changed") else "anyhook status"


def sentence(guards: list[OffGuard]) -> str:
    """What a person reads: one line, with the guards grouped by reason."""
    alike: dict[str, list[str]] = {}
    for guard in guards:
        reason = " ".join(guard.why.split()).removesuffix(f"; see `{guard.fix}`")
        reason = reason if len(reason) <= REASON_LENGTH else f"{reason[: REASON_LENGTH - 1]}…"
        alike.setdefault(reason, []).append(guard.name)
    shown = [f"{_names(names)}: {reason}" for reason, names in [*alike.items()][:REASONS_SHOWN]]
    left = sum(len(names) for names in [*alike.values()][REASONS_SHOWN:])
    said = "; ".join([*shown, *([f"{left} more"] if left else [])])
    commands = ", ".join(dict.fromkeys(guard.fix for guard in guards))
    return f"anyhook: {len(guards)} guard{'' if len(guards) == 1 else 's'} OFF: {said}. Run: {commands}"


def _names(names: list[str]) -> str:
    """Names that share a reason, as many as fit. (Guards may have the same name.)"""
    shown, counted = list[str](), 0
    for name in dict.fromkeys(names):
        many = names.count(name)
        shown.append(f"{name} ({many} times)" if many > 1 else name)
        counted += many
        if sum(map(len, shown)) > NAMES_LENGTH:
            break
    left = len(names) - counted
    return ", ".join(shown) + (f" and {left} more" if left else "")
