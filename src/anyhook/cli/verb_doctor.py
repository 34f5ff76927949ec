"""`anyhook doctor`: which agents there are, where our entry is, and what keeps it from working."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from time import time_ns
from types import FrameType

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.journal_input import time_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, ProjectOption, option, switch
from anyhook.cli.verbs import check_agents, verb
from anyhook.cli.view.console import BAD, GOOD, PLAIN, WARN, prefixed, wants_colour
from anyhook.cli.view.record_text import when
from anyhook.engine.catalog import build
from anyhook.engine.match import Catalog
from anyhook.gates.agents import borrowed, covered, in_own_files, seen_from, unheard, wanted
from anyhook.gates.diagnosis import ARMED, INERT, NOT_INSTALLED, REFUSING, UNKNOWN, diagnose
from anyhook.gates.gate import SAFE_STATES, GateStatus, unguarded
from anyhook.gates.status import gates
from anyhook.gates.versions import Version, version
from anyhook.install.organisation import decided
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.places import home_of, state_dir
from anyhook.replay.past import PastProof, counted, installed_since, keep, prove
from anyhook.satellites import needed, part
from anyhook.state.installs import Installs
from anyhook.state.plans import Setup
from anyhook.tables.host_rows import EFFECTS, Host
from anyhook.tables.registry import INSTALLABLE, host, past

EXAMPLE = "anyhook doctor claude"
LIMIT_S, MAX_LIMIT_S = 120.0, 3600.0
MARKS = {"INERT": "✗", "REFUSING": "✗", "UNKNOWN": "?", "NOT_INSTALLED": "-", "ARMED": "✓"}
STYLES = {"INERT": BAD, "REFUSING": BAD, "UNKNOWN": WARN, "ARMED": GOOD}
WITHOUT_US = {
    "open": "if anyhook cannot be run, it goes on unguarded",
    "refuses": "if anyhook cannot be run, it refuses every call",
    "closed": "if anyhook cannot be run, it refuses what hooks guard: its entry is closed",
    "unknown": "what it does if anyhook cannot be run is not known",
}
INDENT = " " * 4
SINCE, MAX_LISTED = "7d", 10


class DoctorOptions(JsonOptions, ProjectOption):
    live: bool = switch("--live", "Run the agents themselves, offline, and check that a refusal works.")
    past: bool = switch("--past", "Compare the agents' own transcripts with the journal: what was never asked about?")
    since: str | None = option("--since", "With --past: from this time on; default: 7d.", "TIME")
    all: bool = switch("--all", "Show the agents that are not here, and what each cannot do, too.")
    limit: str | None = option("--limit", "Time limit per agent with --live; default: 120.", "SECONDS")


@verb("doctor", DoctorOptions, EXAMPLE, [click.Argument(["agents"], nargs=-1, type=AGENT)])
def doctor(agents: tuple[str, ...], options: DoctorOptions) -> int:
    """Check your agents: which are installed, which call anyhook, and what keeps it from working.

    Changes nothing and runs none of your hooks. Without names, it checks all agents, and shows those that are here.

    With --live, it starts every agent that has our entry once, in a temporary home and project. It copies your entry
    and the settings and approvals that affect it, uses a scripted model, and turns the network off if the system
    allows it. The agent is told to run a harmless command that a hook refuses. ARMED: it called the entry and obeyed,
    and your own guards are on in this project. INERT: it did not, or one of your guards is off. UNKNOWN: the check
    could not tell, and says why. REFUSING, with and without --live: anyhook cannot be run, so the agent refuses
    everything.

    With --past, it reads the transcripts that the agents keep of your sessions, and names every tool call since our
    entry was written that the agent never asked about, and every call that ran although it was refused.

    \b
    Exit status: 0 nothing wrong, 1 an entry or a guard that cannot work (INERT, REFUSING), or with --past a call that
    was not guarded, 3 bad call.
    """
    check_agents(agents)
    project = os.path.realpath(project_of(options.project))
    names = agents or INSTALLABLE
    limit_s = _limit_s(options.limit) if options.live else None
    if options.live:
        needed("live.check")
    if options.since is not None and not options.past:
        raise BadCall("--since goes with --past.")
    since_ns = time_of("--since", options.since or SINCE) or 0
    setup = Setup.of(project, dict(os.environ))
    catalog = build(setup, may_start=False)
    found = {name: _look(host(name), setup, catalog, limit_s) for name in names}
    proofs = _proofs(found, setup, since_ns) if options.past else {}
    _print(found, proofs, options, agents)
    if options.past:
        return FINDINGS if any(not proof.is_clean for proof in proofs.values()) else DONE
    return FINDINGS if any(state.status in (INERT, REFUSING) for state in found.values()) else DONE


def _print(
    found: Mapping[str, AgentState], proofs: Mapping[str, PastProof], options: DoctorOptions, named: tuple[str, ...]
) -> None:
    if options.json:
        told = {name: {"past": _past_of(name, proofs)} if options.past else {} for name in found}
        render.json_out({name: {**state.as_dict(), **told[name]} for name, state in found.items()})
        return
    if options.past:
        for name, proof in proofs.items():
            _tell_past(host(name), proof)
        if not proofs:
            render.out("None of these agents has our entry and transcripts that anyhook can read.")
        return
    if not named:
        _tell_warm()
    _tell_agents(found, every=bool(named) or options.all, gaps=options.all)
    if not named:
        _tell_verdict(found)


def _tell_agents(found: Mapping[str, AgentState], *, every: bool, gaps: bool) -> None:
    """Those without our entry first: what comes last is what a person sees."""
    here = {name: state for name, state in found.items() if every or state.is_here}
    if others := len(found) - len(here):
        render.out(f"{others} other{'' if others == 1 else 's'} not found; `anyhook doctor --all` shows them.")
    for name in sorted(here, key=lambda name: bool(here[name].installed)):
        _tell(host(name), here[name], gaps=gaps)


def _tell_verdict(found: Mapping[str, AgentState]) -> None:
    stand: dict[str, list[str]] = {}
    for name, state in found.items():
        if state.installed:
            stand.setdefault(state.status, []).append(name)
    said = "; ".join(f"{status}: {', '.join(names)}" for status, names in stand.items())
    for line in prefixed(said or "No agent calls anyhook. Run: anyhook setup", "", "  "):
        render.out(line)


def _proofs(found: Mapping[str, AgentState], setup: Setup, since_ns: int) -> dict[str, PastProof]:
    """What the transcripts of each agent with our entry say, from when that entry was written."""
    state = state_dir(os.environ)
    known, made = Installs(state).known, dict[str, PastProof]()
    for name in found:
        reader, begun_ns = past(name), installed_since(name, known)
        if reader is not None and begun_ns is not None:
            made[name] = prove(name, reader, setup.roots(()), state, max(since_ns, begun_ns))
            keep(state, name, made[name], time_ns())
    return made


def _past_of(agent: str, proofs: Mapping[str, PastProof]) -> Json:
    """None for an agent whose transcripts anyhook cannot read."""
    return proofs.get(agent, PastProof()).as_dict() if past(agent) is not None else None


def _tell_past(table: Host, proof: PastProof) -> None:
    render.out(f"{table.title}: {counted(proof)}", _style(ARMED if proof.is_clean else INERT))
    for word, some in (("missed", proof.missed), ("disobeyed", proof.disobeyed)):
        for each in some[:MAX_LISTED]:
            record = f", record {each.record}" if each.record is not None else ""
            for line in prefixed(f"{when(each.at)} {each.tool}: {each.what}{record}", f"    {word:<10} ", " " * 15):
                render.out(line)
        if len(some) > MAX_LISTED:
            render.out(f"    and {len(some) - MAX_LISTED:,} more; --json lists them all")
    for why in proof.unread:
        render.say(f"    not read: {why}")


def _limit_s(given: str | None) -> float:
    try:
        limit_s = float(given) if given is not None else LIMIT_S
    except ValueError:
        limit_s = 0.0
    if not 0 < limit_s <= MAX_LIMIT_S:
        raise BadCall(f"--limit {given}: must be a number of seconds, at most {MAX_LIMIT_S:g}.")
    return limit_s


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


class AgentState(Record):
    """Everything known about one agent."""

    program: str | None
    version: Version
    installed: tuple[str, ...]
    status: str
    reason: str
    guards: str
    """What is wrong with the guards there, or ""."""
    without_us: str
    """What the agent does if our entry's program is gone."""
    covers: dict[str, list[str]]
    gaps: tuple[str, ...]
    never: tuple[str, ...]
    through: tuple[str, ...]
    """Our entries in other agents' files that it also runs."""
    organisation: tuple[str, ...]
    """What the agent's managed files decide."""
    mods: tuple[str, ...]
    """Code inside the agent that acts before or after our entry."""
    network: str | None = None
    """How it was driven: `off`, or why the network was on; None if it was not driven."""
    copied: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether the agent's program or our entry is there."""
        return self.program is not None or self.status != NOT_INSTALLED

    def as_dict(self) -> dict[str, Json]:
        made = super().as_dict() | self.version.as_dict() | {"found": self.program is not None}
        network, copied = made.pop("network"), made.pop("copied")
        return made | ({"live": {"network": network, "copied": copied}} if network else {})


def _look(table: Host, setup: Setup, catalog: Catalog, live_limit_s: float | None) -> AgentState:
    """Look at one agent; with a time limit, also drive it."""
    seen = diagnose(table, home_of(os.environ), setup.project, os.environ)
    setup, catalog, others = seen_from(seen.fixed, setup, catalog)
    seen = diagnose(table, home_of(os.environ), setup.project, os.environ, wanted(catalog, table))
    found = covered(table, seen, catalog, gates(setup, catalog, table))
    guards = [unguarded(found) if seen.installed else ""]
    guards += [f"its entry fixes other places: {', '.join(others)}"] if others else []
    state = AgentState(
        shutil.which(table.program),
        version(table, setup.project, os.environ, may_start=True),
        seen.installed,
        seen.status,
        seen.reason,
        "; ".join(filter(None, guards)),
        "closed" if seen.closed else table.without_us,
        covers := _covers(table),
        tuple(_all_gaps(table)),
        tuple(_never(catalog, covers)),
        tuple(borrowed(table, setup)),
        tuple(decided(table)),
        tuple(_mods(table, catalog)),
    )
    if seen.status == UNKNOWN and state.version.contract == "changed" and live_limit_s is None:
        return state.replace(status=INERT, reason=state.version.why)
    if seen.status == UNKNOWN and state.program is None:
        away = f"`{table.program}` is not on the PATH"
        return state.replace(reason="; ".join(filter(None, (away, seen.waits))))
    if seen.status in (UNKNOWN, REFUSING) and live_limit_s is not None and state.program is not None:
        return _driven(table, state, found, setup.project, live_limit_s)
    return state


def _covers(table: Host) -> dict[str, list[str]]:
    """The events that its entry asks about, and what a hook's answer can do at each."""
    return {
        event: [effect for effect in EFFECTS if effect in row.at(event).says]
        for row in table.events
        for event in (row.canonical if row.installed else ())
    }


def _all_gaps(table: Host) -> Iterator[str]:
    yield from table.gaps
    yield from (f"{row.native}: {row.why_not}" for row in table.events if row.why_not)
    if warning := unheard(table):
        yield warning


def _never(catalog: Catalog, covers: Mapping[str, list[str]]) -> Iterator[str]:
    """The hooks none of whose events happens there."""
    for hook in catalog.hooks:
        if hook.scope != "builtin" and hook.events and covers.keys().isdisjoint(hook.events):
            yield hook.id


def _mods(table: Host, catalog: Catalog) -> Iterator[str]:
    for problem in catalog.problems:
        if problem.code == "agent-mod" and problem.dialect == table.name:
            yield f"{problem.where}: {problem.what}; {problem.why}"


def _driven(table: Host, state: AgentState, found: list[GateStatus], project: str, limit_s: float) -> AgentState:
    """The same, after the agent itself was run."""
    signal.signal(signal.SIGTERM, _leave)  # so that the temporary folders are removed
    dead = state.reason if state.status == REFUSING else ""
    verdict = needed("live.check").check(table, state.program, project, os.environ, limit_s, dead)
    status, reason = verdict.status, verdict.reason
    if status == ARMED and (wrong := unguarded(in_own_files(table, found))):
        nothing = all(gate.state in SAFE_STATES for gate in found)
        status, reason = UNKNOWN if nothing else INERT, f"it calls the entry and obeys, but {wrong}"
    return state.replace(status=status, reason=reason, network=verdict.network or "off", copied=verdict.copied)


def _tell(table: Host, state: AgentState, *, gaps: bool) -> None:
    there = (state.version.said or "version unknown") if state.program is not None else "not found"
    render.out(f"{MARKS[state.status]} {table.title}: {state.status} ({there})", _style(state.status))
    lines = prefixed(state.reason, INDENT, INDENT)
    for entry in state.through:
        lines += _row("note", f"it may also run {entry}, and then gets answers in its own format")
    if state.installed:
        if state.version.contract == "newer":
            lines += _row("note", state.version.why)
        if state.network not in (None, "off"):
            lines += _row("note", f"it was driven with the network on: {state.network}")
        lines += [f"{INDENT}entry  {render.short_path(path)}" for path in state.installed]
        if state.guards and state.guards not in state.reason:
            lines += _row("guards", state.guards)
        lines += _row("note", WITHOUT_US[state.without_us])
        lines += _gaps(table, state, every=gaps)
        for hook in state.never:
            lines += _row("never", f"{hook}: none of its events happens here")
    for said in state.organisation:
        lines += _row("policy", said)
    for mod in state.mods:
        lines += _row("mod", mod)
    for line in lines:
        render.out(line)


def _gaps(table: Host, state: AgentState, *, every: bool) -> list[str]:
    """What the agent cannot do; without `every`, only what its user has to know, and how many others there are."""
    gaps, warning = _joined(state.gaps), unheard(table)
    if every:
        return [line for gap in gaps for line in _row("gap", gap)]
    lines = _row("note", warning) if warning else []
    if count := len(gaps) - bool(warning):
        lines += _row("gaps", f"{count}; `anyhook doctor {table.name} --all` lists what it cannot do")
    return lines


def _joined(gaps: Sequence[str]) -> list[str]:
    """Gaps as `EVENT: reason`, with all events of one reason in one."""
    events: dict[str, list[str]] = {}
    for gap in gaps:
        event, colon, reason = gap.partition(": ")
        events.setdefault(reason if colon else gap, []).extend([event] if colon else [])
    return [f"{', '.join(names)}: {reason}" if names else reason for reason, names in events.items()]


def _tell_warm() -> None:
    warm = part("warm.client")
    if warm is None:
        return
    found = [state for path in warm.servers(os.environ) if (state := warm.ask(path)) is not None]
    for state in found:
        render.out(f"The warm server runs (process {state.pid}); `anyhook warm --stop` ends it.")
    if not found and not needed("warm.place").is_wanted(os.environ):
        render.out("The warm server is turned off: every call of an agent starts Python.")


def _row(word: str, text: str) -> list[str]:
    return prefixed(text, f"{INDENT}{word:<7}", f"{INDENT}{'':<7}")


def _style(status: str) -> str:
    return STYLES.get(status, PLAIN) if wants_colour(os.environ) else PLAIN
