"""Compiled plans: a catalog stored as plain values, valid while every file it came from is the same. It is read before
anything else is imported, so it uses built-in modules only; a plan that is missing, old or damaged is made
again."""

from __future__ import annotations

import marshal
import os
import sys

from anyhook import __version__
from anyhook.model.event import GATES
from anyhook.model.record import Record
from anyhook.platform.places import SETTLED_NS, Stamp, believed_dir, is_there, is_unchanged, make_private_dir, stamp
from anyhook.platform.store import Store, slot_of
from anyhook.tables.registry import DIALECTS, VARIABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from anyhook.model.json_types import Json
    from anyhook.model.words import Mode, Trust
    from anyhook.tables.rows import Roots

    Values = tuple[Any, ...]
    """The fields of a record, in order."""

TELLING = frozenset({"session_start", "user_prompt_submit", "post_tool", "post_tool_failure"})
"""Events at which some agents can show that a guard is off: at the start of a session and, if calls cannot show it,
with the next prompt or after the call."""
PLAN_FORMAT = 10
"""Changes when the fields of a hook, a condition, a problem or the settings do: a plan holds them by their order."""
OUR_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Two installations of one version have their own packs of rules, and so their own plans."""


class Setup(Record):
    """Everything, besides the files, that decides what a catalog contains."""

    project: str
    env: Mapping[str, str]
    dialects: tuple[str, ...] = DIALECTS
    trust: Trust = "ask"
    plugin_dirs: tuple[str, ...] = ()
    state_dir: str | None = None
    """The state directory of dialects that keep their hooks there; not ours."""
    read_by_s: float | None = None
    """The time, on the monotonic clock, after which no more of a project is read."""
    outer: str = ""
    """The last folder upwards in which a dialect's project files count: the repository's root; below the home directory
    no further than the folder under it; outside both, the project itself."""
    given: Mapping[str, str] | None = None
    """The environment that hooks get, if an agent's entry fixes other places than it names (see entry_places.py)."""

    @property
    def for_hooks(self) -> Mapping[str, str]:
        """The environment that hooks get."""
        return self.env if self.given is None else self.given

    @classmethod
    def of(
        cls,
        project: str,
        env: Mapping[str, str],
        dialects: Sequence[str] = (),
        trust: Trust = "ask",
        plugin_dirs: Sequence[str] = (),
        state_dir: str | None = None,
        read_by_s: float | None = None,
    ) -> Setup:
        """A setup with real paths, so that a symlinked checkout is the checkout itself."""
        unknown = [name for name in dialects if name not in DIALECTS]
        if unknown:
            raise ValueError(f"there is no dialect {unknown[0]!r}; known: {', '.join(DIALECTS)}")
        if not os.path.isdir(project):
            raise NotADirectoryError(f"the project {project!r} is not a directory")
        chosen = tuple([name for name in DIALECTS if name in dialects]) if dialects else DIALECTS
        folders = tuple([os.path.realpath(folder) for folder in plugin_dirs])
        state_dir = os.path.abspath(state_dir) if state_dir else None
        project = os.path.realpath(project)
        home, folder, outer = os.path.realpath(env.get("HOME") or "/"), project, project
        while folder not in (home, "/"):  # a home that is unknown, or is the root, bounds nothing
            above = os.path.dirname(folder)
            if above == home != "/" or os.path.exists(f"{folder}/.git"):
                outer = folder
                break
            folder = above
        return cls(project, env, chosen, trust, folders, state_dir, read_by_s, outer)

    def own_dir(self) -> str:
        """Our state folder, if its records can be trusted."""
        return believed_dir(self.env, self.project, self.outer)

    def key(self) -> tuple[object, ...]:
        """What identifies a plan."""
        seen = tuple([self.env.get(name) for name in VARIABLES])
        if self.given is not None:  # the programs of hooks are looked for there
            seen = (*seen, *[self.given.get(name) for name in VARIABLES])
        return (
            (__version__, PLAN_FORMAT, OUR_FOLDER),
            self.project,
            self.outer,
            self.dialects,
            self.trust,
            self.plugin_dirs,
            self.state_dir,
            seen,
        )

    def roots(self, plugins: Sequence[str]) -> Roots:
        """Where dialects look for their hooks. `plugins` are those that the settings name."""
        from anyhook.tables.rows import Roots

        seen = {name: self.env[name] for name in VARIABLES if name in self.env}
        folders = dict.fromkeys([*self.plugin_dirs, *(os.path.realpath(folder) for folder in plugins)])
        return Roots(self.project, seen, tuple(folders), self.state_dir, sys.platform, self.outer)


class CatalogPlan(Record):
    """A catalog as plain values, and what can be read from it without rebuilding it."""

    key: tuple[object, ...]
    stamps: dict[str, Stamp | None]
    """The stamp of every file that the catalog depends on."""
    contents: Mapping[str, str]
    """What those held that were read (`places.content`): declarations, settings, rules, approvals, pinned files."""
    hooks: list[Values]
    problems: list[Values]
    config: Values
    events: dict[str, list[int]]
    """Event → the positions of its hooks."""
    natives: dict[str, tuple[str, ...]]
    """Agents' own names of events, and the canonical ones."""
    journal: dict[str, Json]
    """The settings of the journal."""
    mode: Mode
    gone: list[Values]
    """Approved hooks that are no longer declared."""
    off: bool
    """Whether a hook waits for approval or is broken, so that there is something to report."""
    entries: Sequence[Values] = ()
    """What is wrong with our entries in agents."""
    fingerprint: str = ""
    """What identifies the hooks and their files."""
    checks: Mapping[str, Stamp | None] = {}
    """The stamps to check. A missing file stays missing while the first missing folder on its path does, and many paths
    share that folder."""
    rules: Mapping[str, bytes] = {}
    """Of each event that reaches nothing but rules: their marks (`engine/rule_calls.py`)."""

    def is_quiet(self, *events: str, opens: bool = False) -> bool:
        """Whether these events reach no hook, and there is nothing to report. `opens` says that the agent reports at
        this event which guards are off: then their programs have to be checked."""
        if (self.off and not TELLING.isdisjoint(events)) or (opens and not GATES.isdisjoint(self.events)):
            return False
        return not self.problems and not self.gone and self.events.keys().isdisjoint(events)

    def wants_only_rules(self, event: str) -> bool:
        """Whether an event reaches nothing but rules, and there is nothing to report."""
        return event in self.rules and not (self.off or self.problems or self.gone or self.entries)


class KeptPlans:
    """Plans that a process keeps in memory, because it answers many calls (see `extra/warm`), and what was made from
    each. They save reading and building; whether one is valid is asked at every call, as for a plan on disk."""

    def __init__(self) -> None:
        self.most = 0
        """How many; none in a process that answers one call."""
        self.news: list[Setup] = []
        """The setups of plans that were read from disk since this list was emptied."""
        self._plans: dict[tuple[object, ...], tuple[CatalogPlan, dict[object, Any]]] = {}
        """By key, the least recently used one first."""

    def find(self, key: tuple[object, ...]) -> CatalogPlan | None:
        found = self._plans.pop(key, None)
        if found is None:
            return None
        self._plans[key] = found
        return found[0]

    def add(self, setup: Setup, plan: CatalogPlan) -> None:
        if not self.most:
            return
        self._plans.pop(plan.key, None)
        while len(self._plans) >= self.most:
            del self._plans[next(iter(self._plans))]
        self._plans[plan.key] = plan, {}
        self.news.append(setup)

    def made_from(self, plan: CatalogPlan) -> dict[object, Any] | None:
        """What was made from a plan; None if the plan is not kept."""
        found = self._plans.get(plan.key)
        return found[1] if found is not None and found[0] is plan else None


kept = KeptPlans()


def read_plan(setup: Setup) -> CatalogPlan | None:
    """The plan, if every file still is as it was when the plan was made."""
    try:
        own_dir, key = believed_dir(setup.env, setup.project, setup.outer), setup.key()
        if os.stat(own_dir).st_mode & 0o022:
            return None
        plan = kept.find(key)
        if plan is not None and _is_current(plan):
            return plan
        data = Store(own_dir, "plans").read(plan_name(key))
        if data is None:
            return None
        plan = CatalogPlan(*marshal.loads(data))  # noqa: S302 (our own file, for its owner only)
        if plan.key != key or not plan.checks or not _is_current(plan):
            return None
        kept.add(setup, plan)
    except Exception:  # noqa: BLE001 (whatever is wrong with it, the files know better)
        return None
    return plan


def _is_current(plan: CatalogPlan) -> bool:
    """Whether every file that a plan was made from is as it was. Stamps are checked first, because they tell most
    changes without reading; contents decide."""
    for path, seen in plan.checks.items():
        if is_there(path) if seen is None else stamp(path) != seen:
            return False
    return is_unchanged(plan.contents)


def keep_plan(setup: Setup, plan: CatalogPlan, begun_ns: int) -> None:
    """Store a plan, unless one of its files had just changed when the reading began."""
    youngest = max((max(seen[0], seen[1]) for seen in plan.stamps.values() if seen), default=0)
    if begun_ns - youngest < SETTLED_NS:
        return
    store = Store(setup.own_dir(), "plans")
    try:
        make_private_dir(store.folder)  # first: a folder that is missing now and made here would end the plan
        checks = {place if seen else first_missing(place): seen for place, seen in plan.stamps.items()}
        plan = plan.replace(checks=checks)
        store.write(plan_name(plan.key), marshal.dumps(tuple([getattr(plan, field) for field in plan.fields])))
    except (OSError, ValueError):
        return  # the next one is made from the files again


def plan_name(key: tuple[object, ...]) -> str:
    """The key of a plan's file: the last part of a plan's key are variables, and one of them is `PATH`, which is
    different in every virtual environment."""
    seen = key[-1]
    assert isinstance(seen, tuple)  # noqa: S101 (Setup.key)
    names = VARIABLES * (len(seen) // len(VARIABLES))  # with the agent's own environment, twice
    others = [value for name, value in zip(names, seen, strict=True) if name != "PATH"]
    return repr((key[:-1], others, slot_of(seen)))


def first_missing(path: str) -> str:
    """The first missing folder on the way to a path; the path itself if none is missing."""
    while (above := os.path.dirname(path)) != path and stamp(above) is None:
        path = above
    return path
