"""Setup and Catalog: what decides which hooks there are, and the hooks. Building one from the disk is another's
work."""

from __future__ import annotations

import os
import sys

from anyhook.model.event import EVENTS
from anyhook.model.hook import DISABLED, Hook
from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.model.words import TRUST, checked
from anyhook.state.settings import Settings
from anyhook.tables.registry import DIALECTS, VARIABLES, dialect
from anyhook.tables.rows import Roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.documents.stamps import Stamp


class Setup(Record):
    """Everything that decides what a catalog holds."""

    project: str
    env: Mapping[str, str]
    dialects: tuple[str, ...] = DIALECTS
    trust: str = "ask"
    plugin_dirs: tuple[str, ...] = ()
    state_dir: str | None = None
    """Of dialects that keep their hooks in a state directory; not ours."""
    read_by_s: float | None = None
    """The moment, by the monotonic clock, after which a project is not read any further; it decides nothing else."""

    @classmethod
    def of(
        cls,
        project: str,
        env: Mapping[str, str],
        dialects: Sequence[str] = (),
        trust: str = "ask",
        plugin_dirs: Sequence[str] = (),
        state_dir: str | None = None,
    ) -> Setup:
        """The same with real paths, so that a symlinked checkout is the checkout itself."""
        unknown = [name for name in dialects if name not in DIALECTS]
        if unknown:
            raise ValueError(f"there is no dialect {unknown[0]!r}; known: {', '.join(DIALECTS)}")
        checked("trust", trust, TRUST)
        if not os.path.isdir(project):
            raise NotADirectoryError(f"the project {project!r} is no directory")
        chosen = tuple(name for name in DIALECTS if name in dialects) if dialects else DIALECTS
        folders = tuple(os.path.realpath(folder) for folder in plugin_dirs)
        return cls(os.path.realpath(project), env, chosen, trust, folders, state_dir and os.path.abspath(state_dir))

    def roots(self, plugins: Sequence[str]) -> Roots:
        seen = {name: self.env[name] for name in VARIABLES if name in self.env}
        folders = dict.fromkeys([*self.plugin_dirs, *(os.path.realpath(folder) for folder in plugins)])
        return Roots(self.project, seen, tuple(folders), self.state_dir, sys.platform)


class Catalog(Record):
    """All hooks, in the order in which they would run, and what is wrong with the rest."""

    hooks: list[Hook]
    problems: list[Problem]
    config: Settings
    stamps: dict[str, Stamp | None]
    complete: bool = True
    """False where an executable has not been asked for its event yet, or time ran out."""

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
