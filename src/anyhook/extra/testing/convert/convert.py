"""Converts hooks from one dialect to another. Each becomes a script for the new dialect that runs the old command. What
the new dialect cannot express is reported. It never overwrites anything."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from anyhook.documents.files import Files
from anyhook.engine.catalog import pinned
from anyhook.engine.routes import match
from anyhook.extra.testing.convert.proof import compare
from anyhook.extra.testing.convert.shim import shim
from anyhook.extra.testing.scaffold.plan import CannotScaffold, Order
from anyhook.extra.testing.scaffold.write import write
from anyhook.model.event import Event
from anyhook.model.hook import ARMED
from anyhook.model.record import Record
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Scene

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow

STRANGE = ("Xyzzy", "mcp__notes__remove")
"""Tools that no dialect names: a hook that matches these matches all."""


class Loss(Record):
    """Something that the new hook does not do as the old one did."""

    what: str
    why: str


class Converted(Record):
    """The result for one hook."""

    id: str
    files: tuple[str, ...] = ()
    same: int = 0
    different: int = 0
    lost: tuple[Loss, ...] = ()

    @property
    def whole(self) -> bool:
        return not self.different and not self.lost

    def as_dict(self) -> dict[str, Json]:
        lost: list[Json] = [{"what": loss.what, "why": loss.why} for loss in self.lost]
        return {
            "id": self.id, "files": [*self.files], "same": self.same, "different": self.different, "lost": lost,
        }  # fmt: skip


def convert(hook: Hook, setup: Setup, target: Dialect, out: str, taken: set[str]) -> Converted:
    """Convert one hook into a folder, and compare it with the old one. `taken` are the names used so far."""
    source = dialect(hook.dialect)
    prints = pinned(hook, source, setup.roots(()), Files())[1]
    hook = hook.replace(files=tuple(path for path in prints if not os.path.isdir(path) and "#" not in path))
    canonical = next((event for event in hook.events if target.row_for(event)), "")
    row, there = source.row(hook.native_event), target.row_for(canonical) if canonical else None
    if row is None or there is None:
        return _not_written(hook, hook.native_event or "its event", f"{target.title} has no such event")
    if hook.handler != "command":
        return _not_written(hook, f"a handler of the kind `{hook.handler}`", "only commands can be converted")
    only, lost = _tools(hook, source, row, canonical)
    roots = Setup.of(out, setup.env, (target.name,)).roots(())
    order = Order(_name(hook, taken), target, there, "project", "python", _pattern(only, source, target), roots)
    try:
        _copy_scripts(hook.files, setup.project, out)
        made, new = write(order, _script(hook, setup, (source, row, target, there), canonical, only))
    except (CannotScaffold, OSError) as error:
        return _not_written(hook, "the hook", str(error))
    lost += _lost(hook, target, lost)
    files = tuple(piece.path for piece in made.pieces)
    if hook.status != ARMED:
        lost.append(Loss("the proof", f"the old hook is {hook.status}, so neither was run. Run: anyhook trust"))
        return Converted(hook.id, files, 0, 0, tuple(lost))
    new = new.replace(status=ARMED, native_event=there.native, events=there.canonical)
    into = Setup.of(out, setup.env, (target.name,), "all")
    found = compare(canonical, (setup, hook), (into, new))
    lost += [Loss(what, why) for what, why in found.lost]
    return Converted(hook.id, files, found.same, found.different, tuple(lost))


def _script(
    hook: Hook,
    setup: Setup,
    rows: tuple[Dialect, EventRow, Dialect, EventRow],
    canonical: str,
    only: list[str] | None,
) -> str:
    scene = Scene(Event(canonical, {}), hook.native_event, setup.project, "", {}, {})
    launch = rows[0].launch(hook, scene)
    env = {name: value.replace(setup.project, "{cwd}") for name, value in launch.env.items()}
    return shim(hook, rows, canonical, launch.argv, env, only)


def _lost(hook: Hook, target: Dialect, lost: list[Loss]) -> list[Loss]:
    """What else the new declaration cannot say."""
    if hook.background:
        return [Loss("running in the background", "the new hook is waited for")]
    left = [event for event in hook.events if not target.row_for(event)] if not lost and len(hook.events) > 1 else []
    return [Loss(event, f"{target.title} has no such event") for event in left]


def _not_written(hook: Hook, what: str, why: str) -> Converted:
    return Converted(hook.id, lost=(Loss(what, why),))


def _tools(hook: Hook, source: Dialect, row: EventRow, canonical: str) -> tuple[list[str] | None, list[Loss]]:
    """The tools that a hook is for, by its dialect's names; None for all."""
    if hook.matcher in (None, "", "*"):
        return None, []
    if row.target != "tool":
        return None, [Loss(f"the matcher {hook.matcher!r}", "only matchers of tools are converted; it runs every time")]
    empty: dict[str, Json] = {"input": {}}
    if all(match(hook, source, row, Event(canonical, {"tool": name, **empty}))[0] is None for name in STRANGE):
        return None, []
    names = [tool.native for tool in source.tools.values()]
    wanted = [name for name in names if match(hook, source, row, Event(canonical, {"tool": name, **empty}))[0] is None]
    if isinstance(hook.matcher, dict) and "pattern" in hook.matcher:
        return wanted, [Loss(f"the matcher {hook.matcher!r}", "only the names of tools are converted")]
    if isinstance(hook.matcher, str) and not wanted:
        wanted = hook.matcher.split("|")  # a tool that is not in the table has the same name everywhere
    return wanted, []


def _pattern(only: list[str] | None, source: Dialect, target: Dialect) -> str:
    """The same tools by the new dialect's names."""
    ours = {row.native: name for name, row in source.tools.items()}
    found = []
    for name in only or ():
        row = target.tools.get(ours.get(name, ""))
        found.append(row.native if row is not None else ours.get(name, name))
    return "|".join(dict.fromkeys(found))


def _name(hook: Hook, taken: set[str]) -> str:
    stem = os.path.splitext(os.path.basename(hook.name))[0]
    fit = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in stem).strip("-")
    name, number = fit[:48] or "hook", 2
    while name in taken:
        name, number = f"{fit[:48] or 'hook'}-{number}", number + 1
    taken.add(name)
    return name


def _copy_scripts(scripts: Iterable[str], project: str, out: str) -> None:
    """Copy the scripts of the old hook to the same place in the new folder, if it is another one."""
    if os.path.realpath(out) == os.path.realpath(project):
        return
    for path in scripts:
        inside = os.path.relpath(path, project)
        copy = os.path.join(out, inside)
        if not inside.startswith("..") and os.path.isfile(path) and not os.path.lexists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy2(path, copy)
