"""Catalog: all hooks of a project and its user, in order. It is opened from its compiled plan if that still
holds; building one from the disk is another's work."""

from __future__ import annotations

from time import time_ns

from anyhook.model.event import EVENTS
from anyhook.model.hook import ARMED, DISABLED, Hook
from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.state.plans import CatalogPlan, Setup, keep_plan, read_plan
from anyhook.state.settings import Settings
from anyhook.tables.registry import dialect, native_names

__all__ = ["Catalog", "Setup", "from_plan", "load_catalog", "open_catalog", "to_plan"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.documents.places import Stamp


class Catalog(Record):
    """All hooks, in the order in which they would run, and what is wrong with the rest."""

    hooks: list[Hook]
    problems: list[Problem]
    config: Settings
    stamps: dict[str, Stamp | None]
    complete: bool = True
    """False where an executable has not been asked for its event yet, or time ran out."""
    gone: tuple[Hook, ...] = ()
    """Hooks that were approved and are no longer declared, as far as their approval tells what they were."""

    def for_event(self, event: str) -> list[Hook]:
        """The hooks of one event. One that has not said its event yet may be of any."""
        return [
            hook
            for hook in self.hooks
            if event in hook.events
            or (not hook.native_event and hook.status != DISABLED and dialect(hook.dialect).row_for(event))
        ]

    def where(self, hook: Hook) -> str:
        """Where a hook is declared, with its line."""
        return (hook if hook.line else self._located([hook])[0]).where()

    def with_lines(self) -> Catalog:
        """The same, every hook with the line of its declaration."""
        return self.replace(hooks=self._located(self.hooks))

    @staticmethod
    def _located(hooks: list[Hook]) -> list[Hook]:
        from anyhook.documents.files import Files

        files = Files()
        places: dict[str, list[tuple[str | int, ...]]] = {}
        for hook in hooks:
            if hook.place:
                places.setdefault(hook.source, []).append(hook.place)
        lines = {path: files.lines(path, wanted) for path, wanted in places.items()}  # it never raises
        return [hook.replace(line=lines[hook.source].get(hook.place)) if hook.place else hook for hook in hooks]

    def by_event(self) -> dict[str, list[int]]:
        """Places of the hooks of every event that has any."""
        place = {id(hook): index for index, hook in enumerate(self.hooks)}
        found = {event: [place[id(hook)] for hook in self.for_event(event)] for event in EVENTS}
        return {event: places for event, places in found.items() if places}


def open_catalog(setup: Setup) -> Catalog:
    """The catalog, from its plan where that still holds; else from the files."""
    return load_catalog(setup, read_plan(setup))


def load_catalog(setup: Setup, plan: CatalogPlan | None) -> Catalog:
    """The catalog from its plan; without a plan, from the files, and the plan is kept for the next time."""
    begun_ns = time_ns()
    if plan is not None:
        try:
            return from_plan(plan)
        except Exception:  # noqa: BLE001, S110
            pass  # a plan from another version; the files know better
    from anyhook.walk.build import build

    catalog = build(setup, may_start=True)
    if catalog.complete:
        try:
            catalog = catalog.with_lines()
            keep_plan(setup, to_plan(setup, catalog), begun_ns)
        except Exception:  # noqa: BLE001, S110 (a plan saves time and nothing else; the catalog is there)
            pass
    return catalog


def to_plan(setup: Setup, catalog: Catalog) -> CatalogPlan:
    return CatalogPlan(
        setup.key(),
        catalog.stamps,
        [_values(hook) for hook in catalog.hooks],
        [_values(problem) for problem in catalog.problems],
        _values(catalog.config),
        catalog.by_event(),
        native_names(),
        catalog.config.journal,
        catalog.config.mode,
        [_values(hook) for hook in catalog.gone],
        any(hook.status not in (ARMED, DISABLED) for hook in catalog.hooks),
    )


def from_plan(plan: CatalogPlan) -> Catalog:
    hooks = [Hook(*values) for values in plan.hooks]  # type: ignore[arg-type]
    problems = [Problem(*values) for values in plan.problems]  # type: ignore[arg-type]
    gone = tuple(Hook(*values) for values in plan.gone)  # type: ignore[arg-type]
    return Catalog(hooks, problems, Settings(*plan.config), plan.stamps, gone=gone)  # type: ignore[arg-type]


def _values(thing: Record) -> tuple[object, ...]:
    return tuple([getattr(thing, field) for field in thing.fields])
