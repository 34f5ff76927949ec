"""Tell: one line for the person if guards are off, through the agent's own channel: when a session starts, else at the
first call that a guard would have been asked about. It does not change the decision."""

from __future__ import annotations

from anyhook.engine.near_miss import NOT_FOUND
from anyhook.engine.off_gates import asked_about
from anyhook.engine.settle import is_gate
from anyhook.gates.status import OFF_STATES, entries_off, gates, is_off, not_holding
from anyhook.model.record import Record
from anyhook.platform.places import state_dir
from anyhook.state.told import ToldGates
from anyhook.tables.host_rows import CHANNELS, channel_of, opening, speaks_before_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.engine.bridge import Incoming
    from anyhook.engine.context import Context
    from anyhook.engine.routes import Catalog
    from anyhook.gates.status import GateStatus
    from anyhook.model.decision import Decision, Report
    from anyhook.model.hook import Hook
    from anyhook.state.plans import Setup
    from anyhook.tables.host_rows import Host

REASONS_SHOWN = 5
NAMES_LENGTH = 320
REASON_LENGTH = 200
COMMANDS_SHOWN = 5
"""The limits of one line: reasons, letters of names per reason, letters of each reason, commands."""


PLACES = "places"
"""Stands for the notice about the entry's places, beside the ids of guards."""
VARIABLES = "variables"
"""The same for the notice about variables that change what guards run."""


class OffGuard(Record):
    """A guard that is off, as shown to a person."""

    id: str
    name: str
    why: str
    fix: str


class Aside(Record):
    """A line about guards that are off, and what is remembered once a person could see it."""

    line: str
    said: dict[str, str]
    memory: ToldGates | None

    def was_shown(self) -> None:
        if self.memory is not None:
            self.memory.keep(self.said)


def with_warning(context: Context, incoming: Incoming, decision: Decision) -> tuple[Decision, Aside | None]:
    """The decision with the warning added, or the line for stderr if there is no better channel."""
    says, event, table = incoming.row.says, incoming.received.events[0], incoming.table
    channel = next((name for name in CHANNELS if name in says), None) if decision.enforced else None
    elsewhere = channel is None and decision.enforced and channel_of(table) in CHANNELS
    if elsewhere and (table.shows_stderr or event.name != "pre_tool"):
        return decision, None  # another event of this agent has a channel
    session = str(event.data.get("session") or "")
    memory = ToldGates(state_dir(context.setup.env), table.name, session)
    known = memory.known() if session else {}
    # What nobody may have seen when the session started is told again at the first call that matters.
    hidden = event.name == "session_start" and channel is None and not table.shows_stderr
    moment = "terminal " if elsewhere else "start " if hidden else ""
    told_at = {moment, ""}
    off = {guard.id: guard for guard in (*_not_run(context, decision), *_off(context, incoming))}
    new = [guard for guard in off.values() if not any(f"{at}{guard.id}" in known for at in told_at)]
    place = f"{'terminal ' if elsewhere else ''}{PLACES}"
    notice = incoming.notice if known.get(place) != incoming.notice else ""
    sways = f"{'terminal ' if elsewhere else ''}{VARIABLES}"
    swayed = _swayed(context, incoming)
    swayed = swayed if known.get(sways) != swayed else ""
    line = " ".join(filter(None, [sentence(new) if new else "", notice, swayed]))
    if not line:
        return decision, None
    said = {key: text for key, text in ((place, notice), (sways, swayed)) if text}
    said |= {f"{moment}{guard.id}": guard.why for guard in new}
    told = Aside(line, said, memory if session else None)
    if channel is None:
        return decision, told
    told.was_shown()
    if channel == "message":
        return decision.replace(messages=(*decision.messages, told.line)), None
    return decision.replace(context=(*decision.context, f"Tell the user: {told.line}")), None


def _swayed(context: Context, incoming: Incoming) -> str:
    """What a person is told if variables of the agent's environment change what guards run; "" if they reach none."""
    hooks = context.routes.catalog.hooks if incoming.sways else ()
    reached = [hook.name for hook in hooks if hook.handler == "command" and hook.status == "armed" and is_gate(hook)]
    if not reached:
        return ""
    return (
        f"anyhook: variables of this agent's environment change what programs run, and with them {_names(reached)}:"
        f" {', '.join(incoming.sways)}. Unset them where they come from; if you have set them, and they do not lead"
        f" into the project, run where they are set: anyhook install {incoming.table.name}"
    )


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
    """The guards that turned out to be broken when they were asked, and those for which the agent's time was too
    short."""
    catalog = context.routes.catalog
    gates = {hook.id: hook for hook in catalog.hooks if is_gate(hook)}
    found = []
    for report in decision.hooks:
        hook = gates.get(report.id)
        if hook is not None and (why := _failed(report, hook)):
            found.append(OffGuard(report.id, report.name, why, "anyhook log"))
    return _wanted(found, catalog)


def _failed(report: Report, hook: Hook) -> str:
    """Why a guard that was asked has not judged the call; "" if it has, or if it took longer than its own limit."""
    if report.status == "broken" or report.exit_code in NOT_FOUND:
        return report.why or "its shell could not start a program"
    ran_s = (report.duration_ms or 0.0) / 1000
    if report.ending != "timed_out" or report.verdict == "block" or ran_s >= hook.limit_s * 0.9:
        return ""
    return f"it was ended after {ran_s:.1f} s, because the agent waits no longer; its own limit is {hook.limit_s:g} s"


def guards_off(setup: Setup, catalog: Catalog, table: Host | None = None) -> list[OffGuard]:
    """All guards that are off in a project, if its user wants to know about them."""
    off = [gate for gate in gates(setup, catalog, table) if gate.state in OFF_STATES]
    if table is not None:  # an agent that no longer calls us cannot say so itself
        off += entries_off(fault for fault in catalog.entries if fault.agent != table.name)
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
    commands = [*dict.fromkeys(guard.fix for guard in guards)]
    if len(commands) > COMMANDS_SHOWN:
        commands = ["anyhook status"]
    return f"anyhook: {len(guards)} guard{'' if len(guards) == 1 else 's'} OFF: {said}. Run: {', '.join(commands)}"


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
