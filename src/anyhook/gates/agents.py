"""Agent status: whether an agent asks our hooks in a project, from its config and the state of the gates. It starts
nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.documents.places import home_of
from anyhook.install.diagnosis import INERT, NOT_INSTALLED, REFUSING, UNKNOWN, diagnose, looked_at
from anyhook.install.lean import passes_over, union
from anyhook.model.hook import ARMED
from anyhook.model.record import Record
from anyhook.tables.host_rows import channel_of
from anyhook.tables.registry import HOSTS, INSTALLABLE, host
from anyhook.walk.can_match import tools_wanted
from anyhook.walk.left_to_host import runs_itself
from anyhook.walk.status import gates, not_holding, protected

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from anyhook.install.diagnosis import Diagnosis
    from anyhook.install.lean import Tools
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.state.plans import Setup
    from anyhook.tables.host_rows import Host
    from anyhook.walk.routes import Catalog
    from anyhook.walk.status import GateStatus

    AgentState = Literal["on", "off", "unknown"]


class AgentStatus(Record):
    """One agent: whether our entry is there, and whether it guards anything."""

    installed: bool
    state: AgentState
    why: str
    channel: str | None
    """The channel through which it shows messages to a person."""
    dead: bool = False
    """Whether our entry is there, but the agent does not call it, or not for every gate."""

    def as_dict(self) -> dict[str, Json]:
        return {"installed": self.installed, "state": self.state, "why": self.why, "channel": self.channel}


def agent_status(
    table: Host, setup: Setup, catalog: Catalog, found: Sequence[GateStatus]
) -> tuple[AgentStatus, list[GateStatus]]:
    """The agent's status and its gates; `found` is the gates' state if the agent asks for each."""
    events = dict.fromkeys(gate.event for gate in found if gate.state == "armed" and gate.event)
    seen = diagnose(table, home_of(setup.env), setup.project, setup.env, events)
    found = covered(table, seen, catalog, found)
    state, why = _judged(table, seen, found)
    through = borrowed(table, setup) if seen.status == NOT_INSTALLED else ()
    if through:
        state, why = "unknown", f"{why}; it may run {through[0]}, and then gets answers in its own format"
    agent = AgentStatus(bool(seen.installed), state, why, channel_of(table), seen.status == INERT)
    return agent, [_unasked(gate, agent) for gate in found]


def calling_agents(setup: Setup, catalog: Catalog) -> dict[str, AgentStatus]:
    """Every agent that has our entry, for its user or for this project."""
    found: dict[str, AgentStatus] = {}
    for table in map(host, INSTALLABLE):
        if diagnose(table, home_of(setup.env), setup.project, setup.env).installed:
            found[table.name], _ = agent_status(table, setup, catalog, gates(setup, catalog, table))
    return found


def entry_files(setup: Setup) -> list[str]:
    """The files that decide which agents have our entry."""
    return [
        path
        for table in map(host, INSTALLABLE)
        if table.entry is not None
        for path in looked_at(table, table.entry, home_of(setup.env), setup.project, setup.env)
    ]


def _unasked(gate: GateStatus, agent: AgentStatus) -> GateStatus:
    """The state of a gate in an agent: one that is on is not covered if the agent's entry cannot work."""
    if gate.state != "armed" or not agent.dead:
        return gate
    return gate.replace(state="uncovered", why=agent.why, fix=f"anyhook doctor {gate.agent}")


def _judged(table: Host, seen: Diagnosis, found: Sequence[GateStatus]) -> tuple[AgentState, str]:
    if table.entry is None:
        return "unknown", seen.reason
    if seen.status == NOT_INSTALLED:
        return "off", f"not installed: {seen.reason}"
    if seen.status in (INERT, REFUSING):
        return "off", seen.reason
    if not any(gate.state == "armed" for gate in found):
        return "off", unguarded(found)
    if set(seen.scopes) <= set(table.confirms):
        return "unknown", f"the entry is in place, but whether it was confirmed cannot be seen: {table.confirm}"
    return "on", ""


def unheard(table: Host) -> str:
    """A warning about an agent that does not show what a hook says; "" for others."""
    if channel_of(table) is not None:
        return ""
    return (
        f"{table.title} does not show what a hook says. Where a guard is off, anyhook writes that to the terminal; "
        'without a terminal you are not told. To be safe there, set off = "deny" in ~/.config/anyhook/config.toml.'
    )


def borrowed(table: Host, setup: Setup) -> list[str]:
    """Our entries in other agents' files, which this agent runs as well."""
    told: list[str] = []
    for name, scopes in table.reads.items() if table.signs else ():
        lender = host(name) if name in HOSTS and name != table.name else None
        if lender is None or not lender.lent:
            continue
        seen = diagnose(lender, home_of(setup.env), setup.project, setup.env)
        if set(scopes).intersection(seen.scopes):
            told.append(f"the entry of {lender.title} ({', '.join(seen.installed)})")
    return told


def wanted(catalog: Catalog, table: Host) -> dict[str, Tools]:
    """The events of every hook that runs through us in an agent, and the tools that they want there."""
    found: dict[str, list[Tools]] = {}
    for hook in catalog.hooks:
        if hook.status == ARMED and not runs_itself(table, hook):
            for event in hook.events:
                found.setdefault(event, []).append(tools_wanted(hook, event, table))
    return {event: union(some) for event, some in found.items()}


def covered(table: Host, seen: Diagnosis, catalog: Catalog, found: Sequence[GateStatus]) -> list[GateStatus]:
    """The same gates; one that a working entry leaves out is not armed."""
    if seen.status != UNKNOWN:
        return [*found]
    hooks = {(hook.id, hook.where()): hook for hook in catalog.hooks}
    return [
        _covered(table, seen, gate, hooks[gate.id, gate.source]) if gate.state == "armed" else gate for gate in found
    ]


def _covered(table: Host, seen: Diagnosis, gate: GateStatus, hook: Hook) -> GateStatus:
    for event in hook.events:
        missed = passes_over(table, seen.asked, event, tools_wanted(hook, event, table))
        if missed:
            why = f"the entry leaves out {missed}"
            return gate.replace(state="uncovered", why=why, fix=f"anyhook install {table.name} --lean")
    return gate


def unguarded(found: Sequence[GateStatus]) -> str:
    """Why an agent that asks us is not guarded by every guard; "" if it is."""
    if protected(found):
        return ""
    off = not_holding(found)
    if not off:
        return "no guard is armed here: no hook that can refuse something runs through anyhook in this agent"
    first, armed = off[0], sum(gate.state == "armed" for gate in found)
    fix = f". {'Run: ' if first.fix.startswith('anyhook ') else ''}{first.fix}" if first.fix else ""
    more = f", and {len(off) - 1} more" if len(off) > 1 else ""
    on = f"{armed} guard{'' if armed == 1 else 's'} on; " if armed else "no guard is on; "
    return f"{on}{len(off)} OFF: {first.name} is {first.state} ({first.why}){more}{fix}"
