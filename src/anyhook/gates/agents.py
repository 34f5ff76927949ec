"""Agent status: whether an agent asks our hooks in a project, from its config and the state of the gates. It starts
nothing."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Literal

from anyhook.engine.catalog import build
from anyhook.engine.match import Catalog
from anyhook.engine.routes import from_plan
from anyhook.engine.settle import runs_itself
from anyhook.gates.can_match import tools_wanted
from anyhook.gates.diagnosis import INERT, NOT_INSTALLED, REFUSING, UNKNOWN, Diagnosis, diagnose, looked_at
from anyhook.gates.gate import GateStatus, guards_actions, only_own_hooks, unguarded
from anyhook.gates.status import gates
from anyhook.gates.versions import Version, version
from anyhook.install.lean import Tools, passes_over, union
from anyhook.model.hook import ARMED, Hook
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import AgentCause
from anyhook.platform.places import home_of
from anyhook.state.entry_places import env_of_entry, fixed_places
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.host_rows import Host, channel_of
from anyhook.tables.registry import HOSTS, INSTALLABLE, host, hosts

AgentState = Literal["on", "off", "unknown"]


class AgentStatus(Record):
    """One agent: whether our entry is there, and whether it guards anything."""

    installed: bool
    state: AgentState
    why: str
    cause: AgentCause
    """Decisions look at the state and the cause, and never at `why`."""
    channel: str | None
    """The channel through which it shows messages to a person."""
    dead: bool = False
    """Whether our entry is there, but the agent does not call it, or not for every gate."""
    waits: bool = False
    """Whether it does not call it until its user approves it there."""
    version: Version = Version(None, None, "unknown")
    entry: tuple[str, ...] = ()
    """The words of its entry, if that fixes other places than the environment names."""

    @property
    def sees_too_little(self) -> bool:
        """Whether it calls us, with an entry that fixes other places, and is not guarded by what counts there."""
        return bool(self.entry) and self.state == "off" and not (self.dead or self.waits)

    @property
    def changed(self) -> bool:
        """Whether this version is known not to load or obey our entry."""
        return self.installed and self.version.contract == "changed"

    def as_dict(self) -> dict[str, Json]:
        said: dict[str, Json] = {"installed": self.installed, "state": self.state, "why": self.why}
        return {**said, "channel": self.channel, **self.version.as_dict()}


def agent_status(
    table: Host, setup: Setup, catalog: Catalog, found: Sequence[GateStatus], *, may_start: bool = False
) -> tuple[AgentStatus, list[GateStatus]]:
    """The agent's status and its gates; `found` is the gates' state if the agent asks for each. With `may_start` the
    agent is asked for its version, unless that is known."""
    home = home_of(setup.env)
    seen = diagnose(table, home, setup.project, setup.env)
    own, catalog, others = seen_from(seen.fixed, setup, catalog)
    found = gates(own, catalog, table) if others else found
    events = dict.fromkeys(gate.event for gate in found if gate.state == "armed" and gate.event)
    seen = diagnose(table, home, setup.project, setup.env, events)
    found = covered(table, seen, catalog, found)
    state, cause, why = _judged(table, seen, found)
    if others:
        again = f"anyhook install {table.name}"
        told = f"its entry fixes other places than this shell ({', '.join(others)}), and those count there"
        why = "; ".join(filter(None, (why, f"{told}. To use those of this shell: {again}")))
    through = borrowed(table, setup) if seen.status == NOT_INSTALLED else ()
    if through:
        why = f"{why}; it may run {through[0]}, and then gets answers in its own format"
        state, cause = "unknown", "borrowed"
    known = version(table, setup.project, setup.env, may_start=may_start)
    changed = bool(seen.installed) and known.contract == "changed"
    if changed:
        state, cause, why = "off", "version_changed", known.why
    elif seen.installed and known.why:
        why = "; ".join(filter(None, (why, known.why)))
    dead = seen.status == INERT or changed
    words = seen.fixed if others else ()
    agent = AgentStatus(
        bool(seen.installed), state, why, cause, channel_of(table), dead, bool(seen.waits), known, words
    )
    return agent, [_unasked(gate, agent) for gate in found]


def calling_agents(setup: Setup, catalog: Catalog, *, may_start: bool = False) -> dict[str, AgentStatus]:
    """Every agent that has our entry, for its user or for this project, and every agent that is here and whose config
    cannot take it."""
    found: dict[str, AgentStatus] = {}
    for table in hosts(INSTALLABLE):
        entry = diagnose(table, home_of(setup.env), setup.project, setup.env)
        missed = any(fault.agent == table.name for fault in catalog.entries)
        if missed or entry.installed or (entry.blocked and shutil.which(table.program, path=setup.env.get("PATH"))):
            seen = gates(setup, catalog, table)
            found[table.name], _ = agent_status(table, setup, catalog, seen, may_start=may_start)
    return found


def seen_from(entry: Sequence[str], setup: Setup, catalog: Catalog) -> tuple[Setup, Catalog, list[str]]:
    """What counts in an entry with these words: its own places and their hooks; and where these places differ from
    those of the environment."""
    env, others = env_of_entry(entry, setup.env)
    if not others:
        return setup, catalog, []
    own = Setup.of(setup.project, env)
    return own, from_plan(read_plan(own)) or build(own, may_start=False).with_lines(), others


def gates_here(setup: Setup, catalog: Catalog, agents: Mapping[str, AgentStatus]) -> tuple[Catalog, list[GateStatus]]:
    """The hooks and gates of a project: as its agents see them, if the entries of all of them fix the same other
    places."""
    entries = [agent.entry for agent in agents.values() if agent.installed]
    same = {tuple(sorted(fixed_places(words).items())) for words in entries}
    own, seen, _ = seen_from(entries[0] if len(same) == 1 else (), setup, catalog)
    return seen, gates(own, seen)


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
    if gate.state != "armed" or not (agent.dead or agent.waits):
        return gate
    facts = {"why": agent.why, "agent": gate.agent or ""}
    return gate.replace(state="uncovered", cause="agent_does_not_call", facts=facts)


def _judged(table: Host, seen: Diagnosis, found: Sequence[GateStatus]) -> tuple[AgentState, AgentCause, str]:
    if table.entry is None:
        return "unknown", "no_entry_known", seen.reason
    if seen.status == NOT_INSTALLED:
        return "off", "not_installed", f"not installed: {seen.reason}"
    if seen.status in (INERT, REFUSING):
        return "off", "inert", seen.reason
    if seen.waits:
        return "off", "waits", seen.waits
    if not guards_actions(found):
        return "off", "only_own_hooks" if only_own_hooks(found) else "unguarded", unguarded(found)
    if set(seen.scopes) <= set(table.confirms) and not seen.approved:
        why = f"the entry is in place, but whether it was confirmed cannot be seen: {table.confirm}"
        return "unknown", "unconfirmed", why
    return "on", "", seen.hint


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
            return gate.replace(state="uncovered", cause="left_out", facts={"missed": missed, "agent": table.name})
    return gate


def in_own_files(table: Host, found: Sequence[GateStatus]) -> list[GateStatus]:
    """The gates without declarations that were lost in a file of another agent, which this one does not read: those
    are told, but do not change what is known about this agent."""
    elsewhere = {name for name in HOSTS if name != table.name and name not in table.reads}
    return [gate for gate in found if gate.id != gate.source or gate.dialect not in elsewhere]
