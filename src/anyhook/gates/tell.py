"""Tell: one line for the person if guards are off, through the agent's own channel: when a session starts, else at the
first call that a guard would have been asked about. It does not change the decision."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from anyhook.engine.context import Context
from anyhook.engine.match import Catalog
from anyhook.engine.near_miss import NOT_FOUND
from anyhook.engine.settle import is_gate
from anyhook.gates.gate import OFF_STATES, GateStatus, names_of, not_holding, off_line
from anyhook.gates.off_gates import asked_about
from anyhook.gates.status import entries_off, gates
from anyhook.model.decision import Decision, Report
from anyhook.model.hook import Hook
from anyhook.model.record import Record
from anyhook.platform.places import state_dir
from anyhook.state.plans import Setup
from anyhook.state.told import ToldGates
from anyhook.tables.host_rows import CHANNELS, Host, channel_of, opening, speaks_before_calls

if TYPE_CHECKING:
    from anyhook.engine.bridge import Incoming

TERMINAL, START = "terminal ", "start "
"""The moments at which a person may not have seen what was said."""
PLACES_NOTICE = "places"
"""Stands for the notice about the entry's places, beside the ids of guards."""
POLICIES = "policies"
"""The same for the notice about policies that the last pull could not bring up to date,"""
VARIABLES_NOTICE = "variables"
"""and for the one about variables that change what guards run."""


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
    event, table = incoming.received.events[0], incoming.table
    found = _channel(incoming, decision)
    if found is None:
        return decision, None  # another event of this agent has a channel
    channel, moment = found
    session = event.data.get("session")
    memory = ToldGates(state_dir(context.setup.env), table.name, str(session)) if session else None
    known = memory.known() if memory is not None else {}
    apart = moment if moment == TERMINAL else ""
    new = _new(context, incoming, decision, known.keys(), moment)
    notices = {
        f"{apart}{PLACES_NOTICE}": incoming.notice,
        f"{apart}{VARIABLES_NOTICE}": _swayed(context, incoming),
        f"{apart}{POLICIES}": _not_current(context.routes.catalog),
    }
    said = {key: text for key, text in notices.items() if text and known.get(key) != text}
    if not (new or said):
        return decision, None
    line = " ".join([off_line(new), *said.values()]).strip()
    said |= {f"{moment}{gate.id}": gate.why for gate in new}
    return _said(decision, channel, Aside(line, said, memory))


def _new(context: Context, incoming: Incoming, decision: Decision, known: Set[str], moment: str) -> list[GateStatus]:
    """The gates that are off and that the person has not been told about."""
    off = {gate.id: gate for gate in (*_not_run(context, decision), *_off(context, incoming))}
    return [gate for gate in off.values() if known.isdisjoint((f"{moment}{gate.id}", gate.id))]


def _channel(incoming: Incoming, decision: Decision) -> tuple[str | None, str] | None:
    """Where this event can show a line to a person, and the moment that is remembered for it; None if another event of
    the agent shows it."""
    event, table, channel = incoming.received.events[0], incoming.table, None
    if decision.enforced:
        channel = next((name for name in CHANNELS if name in incoming.row.says), None)
        if channel is None and channel_of(table) in CHANNELS:
            return (None, TERMINAL) if event.name == "pre_tool" and not table.shows_stderr else None
    # What nobody may have seen when the session started is told again at the first call that matters.
    hidden = event.name == "session_start" and not (channel or table.shows_stderr)
    return channel, START if hidden else ""


def _said(decision: Decision, channel: str | None, told: Aside) -> tuple[Decision, Aside | None]:
    """The decision with the line in the agent's channel; without a channel, the line apart."""
    if channel is None:
        return decision, told
    told.was_shown()
    if channel == "message":
        return decision.replace(messages=(*decision.messages, told.line)), None
    return decision.replace(context=(*decision.context, f"Tell the user: {told.line}")), None


def _not_current(catalog: Catalog) -> str:
    """What a person is told about policies that are not up to date."""
    late = [problem for problem in catalog.problems if problem.code in ("policy-stale", "policy-broken")]
    return " ".join(f"anyhook: {problem.what} ({problem.why}). See: anyhook policy" for problem in late)


def _swayed(context: Context, incoming: Incoming) -> str:
    """What a person is told if variables of the agent's environment change what guards run; "" if they reach none."""
    hooks = context.routes.catalog.hooks if incoming.sways else ()
    reached = [hook.name for hook in hooks if hook.handler == "command" and hook.status == "armed" and is_gate(hook)]
    if not reached:
        return ""
    return (
        f"anyhook: variables of this agent's environment change what programs run, and with them {names_of(reached)}:"
        f" {', '.join(incoming.sways)}. Unset them where they come from; if you have set them, and they do not lead"
        f" into the project, run where they are set: anyhook install {incoming.table.name}"
    )


def _off(context: Context, incoming: Incoming) -> list[GateStatus]:
    """All guards that are off, at the first event that can show them, and at every event if calls cannot; otherwise
    those that would have been asked about this call."""
    setup, catalog, table = context.setup, context.routes.catalog, incoming.table
    if incoming.received.events[0].name == opening(table) or not speaks_before_calls(table):
        return guards_off(setup, catalog, table)
    found = [gate for event in incoming.received.events for gate in asked_about(context.routes, event)]
    return _wanted(found, catalog)


def _not_run(context: Context, decision: Decision) -> list[GateStatus]:
    """The guards that turned out to be broken when they were asked, and those for which the agent's time was too
    short."""
    catalog = context.routes.catalog
    gates = {hook.id: hook for hook in catalog.hooks if is_gate(hook)}
    found = []
    for report in decision.hooks:
        hook = gates.get(report.id)
        if hook is not None and (gate := _failed(report, hook)):
            found.append(gate)
    return _wanted(found, catalog)


def _failed(report: Report, hook: Hook) -> GateStatus | None:
    """A guard that was asked and has not judged the call; None if it has, or if it took longer than its own limit."""
    if report.status == "broken" or report.exit_code in NOT_FOUND:
        why = report.why or "its shell could not start a program"
        return GateStatus.of(hook, "broken", "not_judged", why=why)
    ran_s = (report.duration_ms or 0.0) / 1000
    if report.ending != "timed_out" or report.verdict == "block" or ran_s >= hook.limit_s * 0.9:
        return None
    return GateStatus.of(hook, "broken", "ended_early", ran=f"{ran_s:.1f}", limit=f"{hook.limit_s:g}")


def guards_off(setup: Setup, catalog: Catalog, table: Host | None = None) -> list[GateStatus]:
    """All guards that are off in a project, if its user wants to know about them."""
    off = [gate for gate in gates(setup, catalog, table) if gate.state in OFF_STATES]
    if table is not None:  # an agent that no longer calls us cannot say so itself
        off += entries_off(fault for fault in catalog.entries if fault.agent != table.name)
    return _wanted(off, catalog)


def guards_not_holding(setup: Setup, catalog: Catalog) -> list[GateStatus]:
    """The same for people who look for themselves: every guard that does not hold, unless `off` is `pass` for it."""
    config = catalog.config
    return [
        gate
        for gate in not_holding(gates(setup, catalog))
        if gate.state not in OFF_STATES or (config.hook_off.get(gate.id) or config.off) != "pass"
    ]


def telling(setup: Setup, catalog: Catalog) -> str:
    """The same as one line; "" if all guards are on."""
    return off_line(guards_off(setup, catalog))


def _wanted(found: list[GateStatus], catalog: Catalog) -> list[GateStatus]:
    config = catalog.config
    kept = [guard for guard in found if (config.hook_off.get(guard.id) or config.off) == "tell"]
    return list({guard.id: guard for guard in kept}.values())
