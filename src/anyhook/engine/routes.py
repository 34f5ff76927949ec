"""Catalog: all hooks of a project and its user, in order, read from its compiled plan if that is still valid, else
built by `engine/catalog.py`. Routes: which hooks an event of one kind and target concerns, decided once and then
looked up. Neither starts anything or keeps the state of a single event."""

from __future__ import annotations

from _operator import itemgetter  # `operator` is the same in Python, but one more file to import
from time import time_ns

from anyhook.engine.match import Catalog, HookStep, Route, as_loaded, known
from anyhook.guard.guard import FIX, NAME
from anyhook.model.decision import Decision, Report, idle_report
from anyhook.model.event import EVENTS, Event
from anyhook.model.hook import ARMED, BUILTIN, CHANGED, DISABLED, UNTRUSTED, Hook
from anyhook.model.lean_json import short_digest
from anyhook.model.outcome import BLOCK, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record
from anyhook.model.words import RUN_VARIABLE
from anyhook.platform.kept_code import JUDGE, RULES, load
from anyhook.platform.places import is_unchanged
from anyhook.state.plans import CatalogPlan, Setup, keep_plan, kept, read_plan
from anyhook.state.settings import Settings
from anyhook.tables.host_rows import EntryFault
from anyhook.tables.registry import DIALECTS, dialect, native_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.engine.match import Callback
    from anyhook.engine.rules import RouteRules
    from anyhook.model.json_types import Json


def open_catalog(setup: Setup) -> Catalog:
    """The catalog: from its plan if that is still valid, else from the files."""
    return catalog_of(read_plan(setup), setup)


def catalog_of(plan: CatalogPlan | None, setup: Setup) -> Catalog:
    """The same for a caller that has looked for the plan."""
    return from_plan(plan) or made_catalog(setup)


def made_catalog(setup: Setup) -> Catalog:
    """The catalog from the files. Its plan is stored for the next time."""
    from anyhook.engine.catalog import build

    begun_ns = time_ns()

    catalog = build(setup, may_start=True)
    try:
        catalog = catalog.with_lines()
        catalog = catalog.replace(known_by=fingerprint(catalog))
        if catalog.complete:
            keep_plan(setup, to_plan(setup, catalog), begun_ns)
    except Exception:  # noqa: BLE001, S110 (lines and plans save time and nothing else; the catalog is there)
        pass
    return catalog


def to_plan(setup: Setup, catalog: Catalog) -> CatalogPlan:
    hooks, rules = catalog.hooks, dict[str, bytes]()
    if any(hook.condition is not None for hook in hooks):
        from anyhook.engine.rule_calls import packed
        from anyhook.engine.rules import only_rules

        rules = only_rules(catalog)
        hooks = [hook.replace(condition=packed(hook.condition)) if hook.condition else hook for hook in hooks]
    return CatalogPlan(
        setup.key(),
        catalog.stamps,
        catalog.contents,
        [_values(hook) for hook in hooks],
        [_values(problem) for problem in catalog.problems],
        _values(catalog.config),
        catalog.by_event(),
        native_names(setup.dialects),
        catalog.config.journal,
        catalog.config.mode,
        [_values(hook) for hook in catalog.gone],
        any(hook.status not in (ARMED, DISABLED) for hook in catalog.hooks),
        [_values(fault) for fault in catalog.entries],
        fingerprint(catalog),
        rules=rules,
    )


def from_plan(plan: CatalogPlan | None) -> Catalog | None:
    """The catalog of a plan; None without a plan, or if another version wrote it."""
    if plan is None:
        return None
    made = kept.made_from(plan)
    if made and "catalog" in made:
        known: Catalog = made["catalog"]
        return known
    try:
        hooks = [Hook(*values) for values in plan.hooks]
        problems = [Problem(*values) for values in plan.problems]
        gone = tuple(Hook(*values) for values in plan.gone)
        config = Settings(*plan.config)
        if config.hook_until:
            config = config.at(time_ns() / 1e9)
        faults = tuple(EntryFault(*values) for values in plan.entries)
        catalog = Catalog(hooks, problems, config, plan.stamps, plan.contents, gone=gone, entries=faults)
        catalog = catalog.replace(known_by=plan.fingerprint)
        if made is not None and not config.hook_until:  # else the settings depend on the time
            made["catalog"] = catalog = catalog.replace(made=made)
        return catalog
    except Exception:  # noqa: BLE001
        return None


def fingerprint(catalog: Catalog) -> str:
    """What identifies the hooks and their files."""
    if catalog.known_by:
        return catalog.known_by
    hooks = [(hook.id, hook.definition, hook.status) for hook in catalog.hooks]
    files = sorted([item for item in catalog.stamps.items() if item[1] is not None], key=itemgetter(0))
    return short_digest(repr((hooks, files)))


def _values(thing: Record) -> tuple[object, ...]:
    return tuple([getattr(thing, field) for field in thing.fields])


IN_PROCESS = ("callable", "builtin")
"""Handlers that are called directly: there is nothing to start or to wait for."""
MAX_ROUTES = 10_000
"""The cache is cleared above this many routes: a host may invent tool names."""


def refusal(event: Event) -> Outcome | None:
    """Self-protection as a hook. Its answer was found when the call was received, where the agent is known, and is part
    of the event: so an engine can serve several agents and keeps no state of any call."""
    return Outcome(verdict=BLOCK, reason=f"{event.refused} {FIX}") if event.refused else None


class Routes:
    """All routes of one engine."""

    def __init__(self, setup: Setup, catalog: Catalog, enforced: bool) -> None:
        self.setup, self.catalog, self.enforced = setup, catalog, enforced
        self._nested = RUN_VARIABLE in setup.env
        self._callbacks: dict[str, tuple[Hook, Callback]] = {}
        config, made = catalog.config, catalog.made
        is_open = config.off != "deny" and "deny" not in config.hook_off.values()  # else programs are looked for
        self._is_shared = made is not None and is_open
        key = ("routes", catalog.serves, catalog.has_model, enforced, self._nested)
        shared = made.setdefault(key, ({}, {})) if made is not None and is_open else ({}, {})
        self._found: dict[tuple[Json, ...], Route] = shared[0]
        self.rule_indexes: dict[int, RouteRules] = shared[1]
        """Which rules of a route apply to which calls, by the id of the route's steps; filled on demand."""

    def find(self, event: Event) -> Route:
        name, data = event.name, event.data
        fields = EVENTS[name]
        key = (name, data.get(fields[0])) if len(fields) == 1 else (name, *[data.get(field) for field in fields])
        if event.hosted:
            key = (*key, "hosted", data.get("invoked_by"), event.ours, event.refused != "", *event.also)
        try:
            return self._found[key]
        except KeyError:
            if len(self._found) >= MAX_ROUTES:
                self._found.clear()
            route = self._make(event)
            if not (self._is_shared and self._is_compared(route.steps)):
                self._found[key] = route
            return route
        except TypeError:  # a target that is not a plain value
            return self._make(event)

    def checked(self, event: Event, route: Route) -> Route:
        """The route, after the approved hooks that it would run were compared with what their approvals pin. For an
        engine that lives on: a catalog from a plan has just been compared."""
        pinned = [step.hook for step in route.steps if not step.why and step.hook.pins]
        changed = {hook.id for hook in pinned if not is_unchanged(hook.pins)}
        if not changed:
            return route
        from anyhook.engine.catalog import build

        now = {hook.id: hook for hook in build(self.setup, may_start=False).hooks}
        why = "changed since it was approved; see `anyhook trust`"
        hooks = list(self.catalog.hooks)
        for place, hook in enumerate(hooks):
            if hook.id in changed:
                as_is = now.get(hook.id, hook.replace(status=CHANGED, why=why))
                hooks[place] = hook.replace(status=as_is.status, why=as_is.why, pins=as_is.pins)
        self.catalog = self.catalog.replace(hooks=hooks, known_by="")
        self.forget()
        return self.find(event)

    def _make(self, event: Event) -> Route:
        route = self._reaching(event, self.steps(event))
        if self._nested or not any(hook.listens for hook in self.catalog.hooks):
            return route
        from anyhook.engine.rules import remembering

        wants = remembering(self.catalog.hooks, event.name)
        return route if wants is None else route.replace(quiet=None, in_process=False, remembers=wants)

    def _reaching(self, event: Event, steps: tuple[HookStep, ...]) -> Route:
        """The route to these hooks, whatever is remembered."""
        problems = tuple(self._from_loading(event.name, event.hosted))
        if any(step.hook.status in (UNTRUSTED, CHANGED) for step in steps):
            problems = tuple(self.problems(event.name, hosted=event.hosted))
        runs = [step for step in steps if not step.why]
        if not runs:
            return Route(steps, self._idle(event, steps), problems)
        if self._nested:
            return Route(steps, self.inside(event, steps, f"{RUN_VARIABLE} is set in the environment"), problems)
        if all(step.why == "" and step.hook.handler in IN_PROCESS for step in runs):
            return self._in_process(event, steps, runs, problems)
        if not self._is_compared(steps):
            return Route(steps, None, problems)
        from anyhook.engine.cases import declared_again

        declared = declared_again(steps, event, self.setup, self.catalog.config.dialects)
        return Route(steps, None, problems, declared_again=declared)

    def _in_process(
        self, event: Event, steps: tuple[HookStep, ...], runs: list[HookStep], problems: tuple[Problem, ...]
    ) -> Route:
        shown = tuple(step for step in steps if step.why or self.shows(step.hook))
        silent = self._told(self._idle(event, shown), shown, "ran", "")
        callbacks = tuple(self.callback(step.hook) for step in runs if step.hook.handler == "callable")
        builtins = tuple(step for step in runs if step.hook.handler == "builtin")
        return Route(steps, silent, problems, callbacks, builtins, in_process=True)

    @staticmethod
    def _is_compared(steps: tuple[HookStep, ...]) -> bool:
        """Whether several dialects declare programs, so that one may be declared twice: then they are looked for."""
        return len({step.dialect.name for step in steps if not step.why and step.hook.handler == "command"}) > 1

    def shows(self, hook: Hook) -> bool:
        """Whether a silent hook is reported. Built-in hooks of a product are not shown to people who have no hooks in
        its dialect."""
        if hook.scope != BUILTIN or len(self.setup.dialects) < len(DIALECTS):
            return True
        return any(other.dialect == hook.dialect and other.scope != BUILTIN for other in self.catalog.hooks)

    def _idle(self, event: Event, steps: tuple[HookStep, ...]) -> Decision:
        reports = tuple(idle_report(step.hook, step.why or "") for step in steps)
        problems = tuple(self.problems(event.name, hosted=event.hosted))
        return Decision(event.name, enforced=self.enforced, hooks=reports, problems=problems)

    @staticmethod
    def _told(idle: Decision, steps: tuple[HookStep, ...], status: str, why: str) -> Decision:
        """The same decision, with another status for the hooks that would run."""

        def told(step: HookStep, report: Report) -> Report:
            if step.why:
                return report
            report = report.replace(status=status, why=why)
            if status == "ran" and step.hook.handler == "builtin":
                report = report.replace(ending="exited", exit_code=0, duration_ms=0.0)
            return report

        return idle.replace(hooks=tuple(map(told, steps, idle.hooks)))

    def inside(self, event: Event, steps: tuple[HookStep, ...], why: str) -> Decision:
        """The answer to an event that a hook itself caused: nothing runs, because hooks would call hooks forever."""
        idle = self._told(self._idle(event, steps), steps, "skipped", "fired from inside a hook")
        problem = Problem(
            "nested-event",
            "no hook runs for an event that a hook itself causes",
            event.name,
            why,
            "Let hooks not call the agent or anyhook.",
            WARNING,
        )
        return idle.replace(problems=(*idle.problems, problem))

    def steps(self, event: Event) -> tuple[HookStep, ...]:
        """Every hook of the event with its tables, in the order in which they run: callables first."""
        callbacks = [hook for hook, _ in self._callbacks.values() if event.name in hook.events]
        if event.refused:
            from anyhook.engine.cases import hook_of

            callbacks.insert(0, hook_of(event.name, refusal, NAME, None))
        found: list[HookStep] = []
        hooks = (*callbacks, *self.catalog.for_event(event.name))
        if any(hook.condition is not None for hook in hooks):
            load(JUDGE)
            load(RULES)
        for hook in hooks:
            table = dialect(hook.dialect)
            row = next((row for row in table.events if row.native == hook.native_event), None)
            if row is not None or (row := table.row_for(event.name)) is not None:
                usable = as_loaded(hook, table)
                found.append(HookStep(usable, table, row, known(usable, table, row, event)))
        config = self.catalog.config
        if config.off != "deny" and "deny" not in config.hook_off.values():
            return tuple(found)
        from anyhook.gates.off_gates import with_off_gates

        return with_off_gates(tuple(found), self.setup, self.catalog, event)

    def _from_loading(self, event: str, hosted: bool) -> list[Problem]:
        """Problems from loading. A host asks all day: warnings that `check` also gives are in the record of a
        session's start, and not in every other."""
        found = self.catalog.problems
        if hosted and event != "session_start":
            return [problem for problem in found if problem.severity != WARNING]
        return found

    def problems(self, event: str, *, hosted: bool = False) -> list[Problem]:
        """Problems from loading, and which of the event's hooks wait for their user."""
        waiting = [hook for hook in self.catalog.for_event(event) if hook.status in (UNTRUSTED, CHANGED)]
        loading = self._from_loading(event, hosted)
        if not waiting or self.setup.trust == "none":
            return list(loading)
        from anyhook.engine.catalog import approval_of

        names = ", ".join(hook.id for hook in waiting[:5]) + (" …" if len(waiting) > 5 else "")
        commands = "; ".join(dict.fromkeys(map(approval_of, waiting)))
        problem = Problem(
            "waiting-for-trust",
            f"{len(waiting)} hook(s) of this project did not run",
            self.setup.project,
            f"not approved: {names}",
            f"Look at them and approve them: {commands}",
            WARNING,
        )
        return [*loading, problem]

    def add(self, event: str, callback: Callback, name: str, matcher: str | None) -> None:
        """A callable of the embedding program, as a hook in front of all others."""
        from inspect import iscoroutinefunction

        from anyhook.engine.cases import hook_of

        hook = hook_of(event, callback, name, matcher)
        if iscoroutinefunction(callback):
            raise ValueError(
                f"{hook.name} is a coroutine function; hooks of the program itself are called, not awaited"
            )
        if hook.id in self._callbacks or hook.name == NAME:
            raise ValueError(f"there is already a callable {hook.name!r} for {event}; give this one another name")
        self._callbacks[hook.id] = (hook, callback)
        self.forget()

    def forget(self) -> None:
        """Clear the cache."""
        self._found.clear()

    def adopt(self, other: Routes) -> None:
        """Share the callables of another engine, including those it adds later."""
        self._callbacks = other._callbacks

    def callback(self, hook: Hook) -> Callback:
        return self._callbacks[hook.id][1] if hook.id in self._callbacks else refusal
