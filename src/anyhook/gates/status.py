"""Status: whether every gate of a project works, for the user alone or in one agent. Everything that reports protection
uses this one function. It starts nothing and asks no questions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from anyhook.engine.catalog import approval_of
from anyhook.engine.match import Catalog, as_loaded
from anyhook.engine.settle import is_gate, replaces_output, runs_it, runs_itself
from anyhook.gates.can_match import misspelt, never_matches
from anyhook.gates.gate import OFF_STATES, UNREADABLE, WITH_SECRETS, WITHOUT_SECRETS, GateStatus
from anyhook.gates.inspect import inspect, missing_program
from anyhook.gates.observed import shows_secrets
from anyhook.handlers.roles import asked
from anyhook.model.hook import ARMED, ASKING, BROKEN, Hook
from anyhook.model.outcome import STOPPING
from anyhook.model.problem import ERROR, WARNING, Problem
from anyhook.model.words import GateCause, GateState, Mode, never
from anyhook.platform.places import lies_in
from anyhook.state.plans import Setup
from anyhook.state.settings import Settings
from anyhook.tables.host_rows import EntryFault, Host
from anyhook.tables.isolation import error_line
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.registry import host as host_of

NOTHING_LOST = ("repeated-key", "ignored-value", "invalid-relaxation", "unknown-rule")
"""Errors after which every declaration still counts."""
QUICK, QUICK_S = ("rule", "builtin"), 2.0
"""Handlers that start nothing, and the time that anyhook itself may take to start on a busy machine."""


def gates(setup: Setup, catalog: Catalog, host: Host | None = None, mode: Mode | None = None) -> list[GateStatus]:
    """The state of every gate of a project, in the order of the catalog; only the gates in one agent, if it is
    given."""
    agent = host.name if host is not None else None
    faults = [fault for fault in catalog.entries if agent in (None, fault.agent)]
    found = [_of_hook(hook, setup, catalog, host, mode, faults) for hook in catalog.hooks if is_gate(hook)]
    found += [*(gate for gate, _ in lost_gates(catalog)), *entries_off(faults)]
    return [gate.replace(agent=agent) for gate in found]


def lost_gates(catalog: Catalog) -> Iterator[tuple[GateStatus, Hook | None]]:
    """The gates without a hook in the catalog: those that are no longer declared, with the hook of their approval;
    files that cannot be read, and declarations that cannot be used. A hook in such a file does not count as gone."""
    lost = list(unreadable(catalog.problems))
    blind = {gate.dialect for gate in lost if gate.scope in ("project", "")}
    for hook in catalog.gone:
        if is_gate(hook) and not blind & {hook.dialect, ""}:
            yield GateStatus.of(hook, "changed", "gone", why=hook.why), hook
    yield from ((gate, None) for gate in (*lost, *dropped(catalog)))


def off_gate(hook: Hook, setup: Setup, catalog: Catalog) -> GateStatus | None:
    """The gate that a hook is, if the setting `off` applies to it."""
    faults = [fault for fault in catalog.entries if fault.agent == catalog.serves]
    gate = _of_hook(hook, setup, catalog, None, None, faults)
    return gate if gate.state in OFF_STATES else None


def dropped(catalog: Catalog) -> list[GateStatus]:
    """The declarations that cannot be used, so that no hook exists for them. (Values that are replaced are
    warnings.)"""
    kept = {hook.where() for hook in catalog.hooks if hook.status == BROKEN}
    found: dict[str, GateStatus] = {}
    for problem in catalog.problems:
        told = problem.severity == ERROR and problem.dialect in DIALECTS and problem.scope
        if told and problem.code not in (*UNREADABLE, *NOTHING_LOST) and problem.where not in kept:
            gate = _unusable(problem)
            while gate.id in found:  # one line may have several
                gate = gate.replace(id=f"{gate.id}+")
            found[gate.id] = gate
    return [gate for gate in found.values() if gate.event is None or _can_stop(gate.dialect, gate.event)]


def _can_stop(name: str, event: str) -> bool:
    """Whether a hook of a dialect on a canonical event is a gate."""
    return any(event in row.canonical and row.block in STOPPING for row in dialect(name).events)


def _of_hook(
    hook: Hook, setup: Setup, catalog: Catalog, host: Host | None, mode: Mode | None, faults: Iterable[EntryFault]
) -> GateStatus:
    """The first state that applies. `faults` are those of the entries that count here."""
    hook = as_loaded(hook, dialect(hook.dialect))
    return (
        _not_armed(hook, setup, catalog)
        or _not_reached(hook, setup, catalog, host, faults)
        or _in_shadow(hook, catalog.config, mode)
        or GateStatus.of(hook, "armed", "", why=misspelt(hook) or also_runs(hook))
    )


def _not_armed(hook: Hook, setup: Setup, catalog: Catalog) -> GateStatus | None:
    """The gate, if its hook is turned off, waits for its user, or cannot start."""
    match hook.status:
        case "disabled":
            gate = GateStatus.of(hook, "disabled", hook.off_cause or "declared_off", why=hook.why)
            return gate.replace(excused=by_user(hook, setup))
        case "untrusted":
            return GateStatus.of(hook, "waiting", "not_approved", why=hook.why, fix=approval_of(hook))
        case "changed":
            return GateStatus.of(hook, "changed", "changed", why=hook.why, fix=approval_of(hook))
        case "broken":
            return GateStatus.of(hook, "broken", "loaded_broken", why=hook.why) if hook.why else None
        case "armed":
            why = cannot_start(hook, setup, catalog)
            return GateStatus.of(hook, "broken", "cannot_start", why=why) if why else None
        case _:
            never(hook.status)


def _not_reached(
    hook: Hook, setup: Setup, catalog: Catalog, host: Host | None, faults: Iterable[EntryFault]
) -> GateStatus | None:
    """The gate, if no call of the agent, or of any, can reach its hook through us, or an entry does not wait for it."""
    if host is not None and runs_itself(host, hook):
        return GateStatus.of(hook, "native", "host_runs_it", why=runs_it(host))
    for fault in faults:
        if 0 < fault.limit_s < needed_s(hook) and not runs_itself(host_of(fault.agent), hook):
            facts = {"agent": fault.agent, "limit": f"{fault.limit_s:g}", "needed": f"{needed_s(hook):g}"}
            return GateStatus.of(hook, "broken", "waits_too_short", why=fault.why, **facts)
    if host is not None and (gate := _uncovered(hook, host, catalog)) is not None:
        return gate
    why = never_matches(hook, setup, host)
    return GateStatus.of(hook, "unmatched", "never_matches", why=why) if why else None


def _uncovered(hook: Hook, host: Host, catalog: Catalog) -> GateStatus | None:
    """The gate, if the agent never asks its hook, or cannot do what it wants."""
    rows = [row for row in host.events if not set(row.canonical).isdisjoint(hook.events)]
    if hook.events and not any(row.installed or row.on_demand for row in rows):
        return GateStatus.of(hook, "uncovered", "never_asked", agent=host.title, event=hook.events[0])
    if replaces_output(hook) and (shows_secrets(host.name) or not any("output" in row.says for row in rows)):
        output = "what a failed call prints" if hook.events == ("post_tool_failure",) else "a tool's output"
        is_refused = any(each.group == "secrets" and each.status == ARMED for each in catalog.hooks)
        fix = WITH_SECRETS if is_refused else WITHOUT_SECRETS
        return GateStatus.of(hook, "uncovered", "cannot_replace", agent=host.title, output=output, fix=fix)
    return None


def _in_shadow(hook: Hook, config: Settings, mode: Mode | None) -> GateStatus | None:
    """The gate, if what its hook decides does not count."""
    own = config.hook_mode.get(hook.id)
    if "shadow" not in (mode, own) and (own is not None or (mode or config.mode) != "shadow"):
        return None
    return GateStatus.of(hook, "shadow", "shadow" if own else "all_shadow")


def also_runs(hook: Hook) -> str:
    """What a hook runs that no approval pins, or ""."""
    return f"it also runs {'; '.join(hook.unpinned)}: that is not pinned" if hook.unpinned else ""


def cannot_start(hook: Hook, setup: Setup, catalog: Catalog) -> str:
    """Why a hook cannot run, if that can be seen without running it."""
    try:
        why = missing_program(hook, setup)
        if why:
            return why
        for problem in inspect(hook, setup):
            if problem.severity == ERROR:
                return problem.why or problem.what
    except Exception as error:  # noqa: BLE001 (what cannot be looked at is not armed)
        return f"it could not be looked at ({error_line(error)})"
    asks = hook.handler in ASKING and not catalog.has_model
    if asks and asked(hook, dialect(hook.dialect), None, catalog.config, None)[0] is None:
        return "it asks a model, and the settings name none"
    return ""


def needed_s(hook: Hook) -> float:
    """How long an agent must be willing to wait, so that a hook can answer."""
    return QUICK_S if hook.handler in QUICK else hook.limit_s


def entries_off(faults: Iterable[EntryFault]) -> list[GateStatus]:
    """Our entries that are gone. (One that does not wait long enough is a state of the gates that it cannot hold.)"""
    return [
        GateStatus(
            fault.path, fault.agent, None, "", "user", fault.path, "broken", "entry_gone",
            {"why": fault.why, "agent": fault.agent},
        )
        for fault in faults
        if not fault.limit_s
    ]  # fmt: skip


def by_user(hook: Hook, setup: Setup) -> bool:
    """Whether the user disabled a hook, and not the project."""
    if hook.off_cause == "switched_off":
        return True
    if hook.off_cause == "all_off":
        home = setup.env.get("HOME", "")
        return not lies_in(hook.off_by, setup.project) or bool(home and lies_in(home, setup.project))
    return hook.scope != "project"


def unreadable(problems: Iterable[Problem]) -> Iterator[GateStatus]:
    """The files that cannot be read, so that it is unknown what they guard."""
    seen: set[str] = set()
    for problem in problems:
        if problem.code not in UNREADABLE or problem.severity == WARNING or not (problem.dialect or problem.scope):
            continue
        path = split_place(problem.where)[0]
        if path not in seen:
            seen.add(path)
            why = f"{problem.what} ({problem.why})" if problem.why else problem.what
            yield _lost(problem, path, None, "unreadable", "unreadable", why)


def _unusable(problem: Problem) -> GateStatus:
    row = dialect(problem.dialect).row(problem.event) if problem.event else None
    event = row.canonical[0] if row is not None and row.canonical else None
    return _lost(problem, problem.where, event, "broken", "unusable", problem.what)


def _lost(problem: Problem, place: str, event: str | None, state: GateState, cause: GateCause, why: str) -> GateStatus:
    """What a problem leaves of a declaration or of a file of them."""
    facts = {"why": why, "fix": problem.as_dict()["fix"]}
    name = os.path.basename(place)
    return GateStatus(place, name, event, problem.dialect, problem.scope, problem.where, state, cause, facts)


def split_place(where: str) -> tuple[str, int | None]:
    """A problem's place as file and line."""
    path, _, number = where.rpartition(":")
    known = path and number.isascii() and number.isdigit() and len(number) < 10 and int(number) > 0
    return (path, int(number)) if known else (where, None)


# Many gates on one line.

MIN_ALIKE = 4
"""At least this many guards of a file share a line if their state and its reason are the same; of a pack, two do.
`anyhook list` shows each."""


def grouped(found: list[GateStatus]) -> list[list[GateStatus]]:
    """The gates in order, those that share a line together."""
    alike: dict[object, list[GateStatus]] = {}
    for gate in found:
        said = (
            gate.agent,
            split_place(gate.source)[0],
            owner(gate),
            gate.state,
            gate.cause,
            *sorted(gate.facts.items()),
        )
        alike.setdefault(said if gate.pack else (*said, gate.event), []).append(gate)
    rows: list[list[GateStatus]] = []
    for some in alike.values():
        rows += [some] if len(some) >= MIN_ALIKE or some[0].pack else [[gate] for gate in some]
    return rows


def owner(gate: GateStatus) -> str:
    """The part of an id that the gates of one file share."""
    return gate.id.partition(f":{gate.event}:")[0]
