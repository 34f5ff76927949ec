"""Opening a catalog by way of its compiled plan: plain values in, the same catalog out. Nothing here decides
anything."""

from __future__ import annotations

from time import time_ns

from anyhook import __version__
from anyhook.model.hook import Hook
from anyhook.model.problem import Problem
from anyhook.state.places import believed_dir
from anyhook.state.plans import keep_plan, plan_key, read_plan
from anyhook.state.settings import Settings
from anyhook.tables.registry import VARIABLES, native_names
from anyhook.walk.catalog import Catalog, Setup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.record import Record


def key_of(setup: Setup) -> tuple[object, ...]:
    return plan_key(
        __version__,
        setup.env,
        VARIABLES,
        setup.project,
        setup.dialects,
        setup.trust,
        setup.plugin_dirs,
        setup.state_dir,
    )


def open_catalog(setup: Setup) -> Catalog:
    """The catalog, from its plan where that still holds; else from the files, and the plan is kept for the next
    time."""
    own_dir, key, begun_ns = believed_dir(setup.env, setup.project), key_of(setup), time_ns()
    plan = read_plan(own_dir, key)
    if plan is not None:
        try:
            return from_plan(plan)
        except Exception:  # noqa: BLE001, S110
            pass  # a plan of another make; the files know better
    from anyhook.walk.build import build

    catalog = build(setup, may_start=True)
    if catalog.complete:
        try:
            catalog = catalog.with_lines()
            keep_plan(own_dir, key, to_plan(catalog), begun_ns)
        except Exception:  # noqa: BLE001, S110 (a plan saves time and nothing else; the catalog is there)
            pass
    return catalog


def to_plan(catalog: Catalog) -> dict[str, object]:
    return {
        "stamps": catalog.stamps,
        "hooks": [_values(hook) for hook in catalog.hooks],
        "problems": [_values(problem) for problem in catalog.problems],
        "config": _values(catalog.config),
        "events": catalog.by_event(),
        "natives": native_names(),
        "journal": catalog.config.journal,
        "mode": catalog.config.mode,
    }


def from_plan(plan: dict[str, object]) -> Catalog:
    hooks: list[Hook] = [Hook(*values) for values in plan["hooks"]]  # type: ignore[attr-defined]
    problems: list[Problem] = [Problem(*values) for values in plan["problems"]]  # type: ignore[attr-defined]
    return Catalog(hooks, problems, Settings(*plan["config"]), plan["stamps"])  # type: ignore[misc, arg-type]


def _values(thing: Record) -> tuple[object, ...]:
    return tuple(getattr(thing, field) for field in thing.fields)
