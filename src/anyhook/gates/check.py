"""The check-up: reads and inspects every hook file of a project and a user, or the given files. It starts, imports and
asks nothing. Trust does not matter: an error in a file is an error before the file is approved."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from anyhook.documents.files import Files
from anyhook.documents.places import state_dir
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.model.codes import CORRECTED
from anyhook.model.hook import ARMED, Hook, Source
from anyhook.model.problem import ERROR, WARNING, Problem
from anyhook.model.record import Record
from anyhook.state.hook_types import HookTypes
from anyhook.state.plans import Setup
from anyhook.state.settings import Settings
from anyhook.tables.isolation import Isolated
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.walk.build import Loaded, build, joined, with_types, within_budget
from anyhook.walk.can_match import misspelt, not_in_its_own
from anyhook.walk.discover import discover
from anyhook.walk.inspect import duplicates, inspect, misplaced
from anyhook.walk.load import load
from anyhook.walk.packaged import approval_of
from anyhook.walk.routes import Catalog
from anyhook.walk.suspicious import suspicious
from anyhook.walk.unread import unread_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anyhook.model.json_types import Json

ANCESTORS = 6
"""How many folders above a file are tried as its project."""
LOOSE_FILES, NAMES_BELOW = 5_000, 50
"""How many names are looked at in a folder that is not a project, and in each folder below it."""
SUFFIXES = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


class UnknownFile(ValueError):  # noqa: N818 (it says what is wrong)
    """A path that is not a hook file, or whose dialect is unknown; the sentence says what it could be."""


class Findings(Record):
    """The files that were checked, and what is wrong with them."""

    files: tuple[str, ...]
    problems: tuple[Problem, ...]


def checkup(setup: Setup, paths: Sequence[str] = ()) -> Findings:
    """Check everything, or only these files and folders."""
    all_of_it = _project(setup)
    return _ordered([_one(setup, all_of_it, os.path.abspath(path)) for path in paths] if paths else [all_of_it])


def _project(setup: Setup) -> Findings:
    return within_budget(setup, lambda loaded: _look(setup, loaded, with_places=loaded.too_large is None))


def _look(setup: Setup, loaded: Loaded, with_places: bool) -> Findings:
    files, types = loaded.files, HookTypes(state_dir(setup.env))
    hooks: list[Hook] = []
    for name, layers in loaded.layers.items():
        with Isolated(files, setup.project, f"the hooks of the dialect {name} could not be checked", name):
            table = dialect(name)
            found = joined(table, layers, loaded.roots_of(name), files)
            hooks.extend(with_types(table, found, types, setup, loaded, may_start=False) if table.ask_type else found)
    hooks = Catalog(hooks, [], loaded.config, {}).with_lines().hooks
    problems: list[Problem] = []
    for hook in hooks:
        if hook.status == ARMED:
            with Isolated(files, hook.source, f"hook `{hook.name}` could not be checked", hook.dialect, hook.scope):
                problems.extend([*inspect(hook, setup), *suspicious(hook, setup), *_other_tools(hook)])
    problems.extend(duplicates(hooks))
    if setup.trust != "all":
        problems.extend(_waiting(setup))
    if setup.dialects == DIALECTS:
        with Isolated(files, setup.project, "hook files of other agents could not be looked for"):
            problems.extend(unread_files(setup))
    seen = _hook_files(loaded)
    if with_places:
        for name in loaded.layers:
            with Isolated(files, setup.project, f"misplaced files of {name} could not be looked for", name):
                problems.extend(misplaced(dialect(name), loaded.roots, seen))
    return Findings(tuple(seen), (*files.problems, *problems))


def _waiting(setup: Setup) -> Iterator[Problem]:
    """The hooks of a project that would not run under the caller's trust setting."""
    for hook in build(setup, may_start=False).with_lines().hooks:
        if not hook.trusted:
            what, fix = f"hook `{hook.name}` does not run", f"Look at it and approve it: {approval_of(hook)}"
            yield Problem("waiting-for-trust", what, hook.where(), hook.why, fix, WARNING)


def _other_tools(hook: Hook) -> list[Problem]:
    """A matcher that names other agents' tools, or one that is probably misspelt."""
    if why := not_in_its_own(hook):
        what = f"the matcher {hook.matcher!r} matches no tool of the agent that the hook is written for"
        return [Problem("matcher-elsewhere", what, hook.where(), why, "Write that name.", WARNING)]
    if why := misspelt(hook):
        what = f"the matcher {hook.matcher!r} may be misspelt"
        return [Problem("matcher-misspelt", what, hook.where(), why, severity=WARNING)]
    return []


def _hook_files(loaded: Loaded) -> list[str]:
    """The files that declare hooks, or should, in the order in which they were read."""
    texts, found = loaded.files.texts(), list[str]()
    for layers in loaded.layers.values():
        for each in layers:
            place = each.source.path
            found.extend(path for path in texts if path == place or path.startswith(f"{place}/"))
            found.extend(hook.source for hook in each.hooks)
    return list(dict.fromkeys(found))


def _ordered(parts: Sequence[Findings]) -> Findings:
    """All findings, by file and line, each once. Values that are corrected when hooks run are errors here."""
    files = dict.fromkeys(path for part in parts for path in part.files)
    problems: dict[tuple[str, str, str], Problem] = {}
    for part in parts:
        for problem in part.problems:
            severity = ERROR if problem.code in CORRECTED else problem.severity
            problems.setdefault((problem.where, problem.code, problem.what), problem.replace(severity=severity))
    order = {path: place for place, path in enumerate(files)}

    def key(problem: Problem) -> tuple[int, str, int]:
        path, line = split_place(problem.where)
        return order.get(path, len(order)), path, line or 0

    return Findings(tuple(files), tuple(sorted(problems.values(), key=key)))


def split_place(where: str) -> tuple[str, int | None]:
    """A problem's place as file and line."""
    path, colon, number = where.rpartition(":")
    known = colon and number.isascii() and number.isdigit() and len(number) < 10
    return (path, int(number)) if known else (where, None)


# -- single files and folders


def _one(setup: Setup, all_of_it: Findings, path: str) -> Findings:
    if not os.path.lexists(path):
        raise UnknownFile(f"{path}: there is no such file or folder.")
    inside = _inside(all_of_it, path)
    if inside.files or inside.problems or _has_sources(setup, path):
        return _only(all_of_it, path)
    if os.path.isdir(path):
        return _folder(setup, path)
    return _in_its_project(setup, path) or _loose(setup, [path])


def _in_its_project(setup: Setup, path: str) -> Findings | None:
    """A file by the nearest folder above it whose hooks include it; None if no folder looks for hooks there."""
    folder, beside = path, None
    for _ in range(ANCESTORS):
        folder = os.path.dirname(folder)
        other = _elsewhere(setup, folder)
        if _has_sources(other, path):
            beside = _project(other)
            if _inside(beside, path).files or _inside(beside, path).problems:
                break  # a folder `hooks` alone may be a plugin's to one dialect and a project's to another
    return None if beside is None else _only(beside, path)


def _elsewhere(setup: Setup, folder: str) -> Setup:
    """The same for another folder, which may be a project or a plugin."""
    real = os.path.realpath(folder)
    return setup.replace(project=real, plugin_dirs=(*setup.plugin_dirs, real))


def _spellings(path: str) -> tuple[str, ...]:
    """As given and as resolved: hooks of a project are known by its real path."""
    return tuple(dict.fromkeys((path.rstrip("/") or "/", os.path.realpath(path))))


def _has_sources(setup: Setup, path: str) -> bool:
    """Whether this project's or user's hooks are looked for at the path, above it or below it."""
    for name in setup.dialects:
        for source in discover(dialect(name), setup.roots(())):
            if not os.path.lexists(source.path):
                continue
            for one in _spellings(path):
                if source.path == one or source.path.startswith(f"{one}/") or one.startswith(f"{source.path}/"):
                    return True
    return False


def _only(findings: Findings, path: str) -> Findings:
    """The findings about the path, which must belong to some hook."""
    found = _inside(findings, path)
    if not found.files and not found.problems and not os.path.isdir(path):
        advice = "Name the file that declares the hook."
        raise UnknownFile(f"{path}: this is not a hook file, although it is next to some. {advice}")
    return found


def _inside(findings: Findings, path: str) -> Findings:
    spellings = _spellings(path)

    def inside(place: str) -> bool:
        return any(place == one or place.startswith(f"{one}/") for one in spellings)

    files = tuple(each for each in findings.files if inside(each))
    return Findings(files, tuple(each for each in findings.problems if inside(split_place(each.where)[0])))


def _folder(setup: Setup, path: str) -> Findings:
    """A project, a plugin, a hook's own folder, or a folder with hook files in it."""
    other = _elsewhere(setup, path)
    if _has_sources(other, path):
        return _only(_project(other), path)
    try:
        names = _names(path, LOOSE_FILES + 1)
    except OSError as error:
        raise UnknownFile(f"{path}: this folder cannot be read ({error.strerror}).") from None
    if len(names) > LOOSE_FILES:
        raise UnknownFile(
            f"{path}: there are more than {LOOSE_FILES:,} names in this folder. Name the files to look at."
        )
    files = [f"{path}/{name}" for name in names]
    files += [f"{folder}/{name}" for folder in files if os.path.isdir(folder) for name in _some_names(folder)]
    least = 1 if len(setup.dialects) == 1 else 2
    chosen = [file for file in files if os.path.isfile(file) and max(_claims(setup, file).values(), default=0) >= least]
    if not chosen:
        raise UnknownFile(f"{path}: there are no hook files in this folder. {_places(setup)}")
    return _loose(setup, chosen)


def _names(folder: str, most: int) -> list[str]:
    """Names in a folder, sorted, up to a limit."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in islice(entries, most))


def _some_names(folder: str) -> list[str]:
    try:
        return _names(folder, NAMES_BELOW)
    except OSError:
        return []


def _loose(setup: Setup, paths: Sequence[str]) -> Findings:
    """Files outside the usual places: each is loaded as its dialect would load it in the right place."""
    found: list[Findings] = []
    for path in paths:
        name = _dialect_of(setup, path)
        table, files = dialect(name), Files()
        source = Source(name, "project", table.claim(path, _document(path))[0], setup.project)
        loaded = Loaded(setup.roots(()), Settings(), files, {name: [load(table, source, files)]}, {}, None)
        found.append(_only(_look(setup, loaded, with_places=False), path))
    problems = tuple(each for one in found for each in one.problems)
    return Findings(tuple(file for one in found for file in one.files), problems)


def _claims(setup: Setup, path: str) -> dict[str, int]:
    document = _document(path)
    claims = {name: dialect(name).claim(path, document)[1] for name in setup.dialects}
    return {name: strength for name, strength in claims.items() if strength}


def _dialect_of(setup: Setup, path: str) -> str:
    claims = _claims(setup, path)
    best = [name for name, strength in claims.items() if strength == max(claims.values())]
    if len(best) == 1 and (claims[best[0]] > 1 or len(setup.dialects) == 1):
        return best[0]
    if not best:
        raise UnknownFile(f"{path}: this is not a hook file. {_places(setup)}")
    titles = " or ".join(best)
    raise UnknownFile(f"{path}: this could be a hook file of {titles}. Say which: --dialect {best[0]}")


def _places(setup: Setup) -> str:
    places = "; ".join(f"{name}: {', '.join(place for _, place in dialect(name).files)}" for name in setup.dialects)
    return f"Hook files are — {places}."


def _document(path: str) -> Json:
    """What a file contains, to find out whose it is; None if it is not a document or does not parse."""
    syntax = SUFFIXES.get(os.path.splitext(path)[1])
    try:
        return None if syntax is None else Files().parse(path, read_bytes(path).decode("utf-8"), syntax)
    except (OSError, Unreadable, UnicodeDecodeError):
        return None
