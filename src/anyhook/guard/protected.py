"""What agents must not change: our own folders, package and launcher, the files that approvals pin, every place for
hooks, and the settings that turn hooks off."""

from __future__ import annotations

import os
import sys
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from itertools import islice, pairwise

from anyhook.guard.own_programs import OURS
from anyhook.model.record import Record
from anyhook.platform.places import (
    APPROVALS_FILE,
    RealPaths,
    config_file,
    find_program,
    home_of,
    runtime_dir,
    state_dir,
)
from anyhook.programs.named import MODULE_ENDS, Installed, is_standard
from anyhook.programs.quick import IMPORTABLE
from anyhook.state.entry_places import roots_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anyhook.tables.host_rows import Host

    Identity = tuple[int, int]

SETTINGS = (".json", ".jsonc", ".toml", ".yaml", ".yml")
"""Files in which an agent keeps its settings, hooks among them."""
SHARED = ("agents", "commands", "skills", "plugins")
"""Folders with hooks in some of their files only."""
RUBY_AND_PERL = tuple(end for ends in MODULE_ENDS.values() for end in ends)
OWN_LAUNCHERS = tuple(f"/bin/{name}" for name in OURS)
MAX_LISTED = 2_000
"""How many names in one of our folders are matched against a pattern."""


class Protected(Record):
    """Everything that is protected, by kind. Paths are as written, and with links followed."""

    own: tuple[str, ...]
    """Folders in which everything is ours: state and settings,"""
    package: tuple[str, ...]
    """and our code."""
    files: tuple[str, ...]
    """Files that may not change at all: scripts of hooks, hook files, our launcher."""
    folders: tuple[str, ...]
    """Folders of hooks: every file in them is a hook."""
    settings: tuple[str, ...]
    """Files of agents in which only the settings about hooks may not change."""
    entries: frozenset[str]
    """Files with our entry; they may not be deleted either."""
    searched: tuple[str, ...]
    """Folders from which pinned Python scripts import first: a new module there may take the place of an installed one,
    or of one that is pinned."""
    partly: Mapping[str, tuple[str, ...]]
    """JSON files of which approvals pin some keys: `package.json` with the line behind `npm test`."""
    replaced: frozenset[tuple[str, str]]
    """Folders in which pinned scripts look for modules first, and the language."""
    above: str
    """The project. A folder above it counts if it is deleted, but not if something is copied into it."""

    launchers: tuple[str, ...] = ()
    """Our command, by every name that it has."""
    same: SameFiles | None = None
    known: Index | None = None

    @property
    def index(self) -> Index:
        return self.known or Index(self)

    def all(self) -> Iterator[str]:
        yield from (*self.own, *self.package, *self.files, *self.folders, *self.settings, *self.partly)

    def is_folder(self, path: str) -> bool:
        """Whether everything in it is protected."""
        return path in self.own or path in self.package or path in self.folders


class Index:
    """Protected paths by what a path may have in common with them, for calls that name many. Made when it is asked."""

    def __init__(self, held: Protected) -> None:
        self._held = held

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset((*self._held.own, *self._held.package, *self._held.folders))

    @cached_property
    def order(self) -> dict[str, int]:
        """Every path, and its place in the list: of several, the first is named."""
        return {path: place for place, path in reversed([*enumerate(self._held.all())])}

    @cached_property
    def below(self) -> dict[str, list[str]]:
        """What is below a folder."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.order, key=self.order.__getitem__):
            place = path
            while place:
                place = place.rpartition("/")[0]
                found.setdefault(place, []).append(path)
        return found

    @cached_property
    def ends(self) -> tuple[dict[str, str], dict[str, str]]:
        """The ends of paths, of two names or more; and the last two names of each."""
        ends: dict[str, str] = {}
        last: dict[str, str] = {}
        held = self._held
        for path in (*held.own, *held.files, *held.folders, *held.settings):
            names = path.strip("/").split("/")
            for start in range(len(names) - 1):
                ends.setdefault("/".join(names[start:]), path)
            last.setdefault("/".join(names[-2:]), path)
        return ends, last

    def itself_or_above(self, path: str) -> list[str]:
        """The path, if it is protected, and protected folders above it."""
        found = [path] if path in self.order else []
        place = path
        while place := place.rpartition("/")[0]:
            if place in self.folders:
                found.append(place)
        return found

    def first(self, paths: Iterable[str]) -> str:
        return min(paths, key=self.order.__getitem__, default="")


def protected(
    env: Mapping[str, str], project: str, places: Iterable[str], entries: Iterable[str], host: Host | None = None
) -> Protected:
    """What is protected for calls that start in this project."""
    named = Named(
        (*places, *(entries := tuple(entries)), *_layers(env, project, host)),
        entries,
        _pinned(env),
        _launchers(env),
        own_folders(env),
        _package(env, project),
        project,
    )
    before = Last.answer
    if before is not None and before[0] == named and before[1].is_same():
        return before[2]
    real = RealPaths()
    held = _located(named, real)
    Last.answer = named, real, held
    return held


class Named(Record):
    """What is protected, by name."""

    places: tuple[str, ...]
    entries: tuple[str, ...]
    pinned: set[str]
    launchers: list[str]
    own: tuple[str, ...]
    package: list[str]
    project: str


class Last:
    """The last answer: a worker protects the same at every call, and where it is takes time to find out."""

    answer: tuple[Named, RealPaths, Protected] | None = None


def _located(named: Named, real: RealPaths) -> Protected:
    """Where it is. It depends only on what is named and on what `real` sees."""
    files, folders, settings = _sorted_out(named, real)
    files, settings = files | named.pinned, settings - named.pinned
    searched = {path for path in files if path.endswith("/")}  # as approvals name them
    parts = {path for path in files if "#" in path.rpartition("/")[2]}
    partly, replaced = _parts(parts, real)
    files = files - searched - parts | {*named.launchers}
    both = real.both
    held = Protected(
        both(named.own),
        both(named.package),
        both(files - {"/dev/null", "/dev/stdin"}),
        both(folders),
        both(settings),
        frozenset(both(named.entries)),
        both(path.rstrip("/") for path in searched),
        partly,
        frozenset(replaced),
        real.of(named.project),
        both(path for path in named.launchers if os.path.basename(path).startswith("anyhook")),
    )
    return held.replace(same=SameFiles(held.all(), real), known=Index(held))


def _sorted_out(named: Named, real: RealPaths) -> tuple[set[str], set[str], set[str]]:
    """The files of hooks, their folders, and the settings of agents."""
    files: set[str] = set()
    folders: set[str] = set()
    settings: set[str] = set()
    for path in named.places:
        name = path.rpartition("/")[2]
        if name.lower() in SHARED:
            continue
        if name.endswith(SETTINGS) and "hook" not in name.lower():
            settings.add(path)
        elif real.is_folder(path) or (real.look(path) is None and "." not in name):
            if _may_hold_hooks(path, named.project):
                folders.add(path)
        else:
            files.add(path)
    return files, folders, settings


def _pinned(env: Mapping[str, str]) -> set[str]:
    folder = state_dir(env)
    if not os.path.lexists(f"{folder}/{APPROVALS_FILE}"):
        return set()
    from anyhook.state.ledger import Ledger  # reads JSON, and much that this call does not need

    approvals = Ledger(folder).approvals.values()
    return {path for each in approvals for item in each.items.values() for path in item.files}


def _parts(named: Iterable[str], real: RealPaths) -> tuple[dict[str, tuple[str, ...]], set[tuple[str, str]]]:
    """Parts as approvals name them: `FILE#KEYS`, and `FOLDER/#LANGUAGE`."""
    partly: dict[str, tuple[str, ...]] = {}
    replaced: set[tuple[str, str]] = set()
    for path in named:
        file, _, rest = path.rpartition("#")
        for each in real.both([file.rstrip("/")]):
            if file.endswith("/"):
                replaced.add((each, rest))
            else:
                partly[each] = tuple(sorted({*partly.get(each, ()), *rest.split(",")}))
    return partly, replaced


def _may_hold_hooks(folder: str, project: str) -> bool:
    """Whether agents look for hooks in this folder. A hook's command may name any other, as in `ruff check src`, and
    work goes on there."""
    if f"{project}/".startswith(f"{folder}/"):
        return False
    parts = folder.removeprefix(f"{project}/").split("/")
    return parts[-1].lower() == "hooks" or any(part.startswith(".") for part in parts)


def _layers(env: Mapping[str, str], project: str, host: Host | None) -> Iterator[str]:
    """The settings of the agent that can turn its hooks off, in all layers. (Those of other agents are among the places
    for hooks, if they are read.)"""
    if host is None or host.entry is None:
        return
    roots = roots_of(host.entry, home_of(env), project, env)
    for path in host.settings:
        try:
            yield path.format(**roots)
        except (KeyError, IndexError):
            continue  # its root is known only to the agent


def _package(env: Mapping[str, str], project: str) -> list[str]:
    """Our own code, unless it is the project itself, and the packages of its interpreter: a file there may run whenever
    Python starts."""
    import anyhook

    folder = os.path.dirname(os.path.abspath(anyhook.__file__))
    own = [] if os.path.realpath(folder).startswith(os.path.realpath(project) + "/src/") else [folder]
    # On Linux by the caller's own variables: what `sysconfig` has read once, it keeps, and a process may serve many.
    base = env.get("PYTHONUSERBASE") or f"{home_of(env)}/.local"
    return [*own, *_packages(base if sys.platform == "linux" else None)]


@lru_cache(8)
def _packages(base: str | None) -> tuple[str, ...]:
    """Where this interpreter looks for packages; those of a user are below `base`."""
    import sysconfig

    found = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    users = sysconfig.get_path("purelib", f"{os.name}_user", None if base is None else {"userbase": base})
    return *sorted(found), users


def _launchers(env: Mapping[str, str]) -> list[str]:
    """Our program, and its interpreter if that is in its own environment."""
    found = [find_program(name, env.get("PATH", os.defpath)) for name in OURS]
    found += [os.path.join(sys.prefix, "bin", name) for name in OURS]
    if sys.prefix != sys.base_prefix:
        found += [os.path.join(sys.prefix, "pyvenv.cfg"), sys.executable]
    return [path for path in found if path and os.path.lexists(path)]


# -- whether a path is one of them


def hit(path: str, held: Protected, *, deletes: bool = False) -> str:
    """The protected path that a change of this one would affect, or "". A deletion also affects everything below."""
    if path.startswith("$"):
        return _ends_like(path, held)
    found = _hit(path, held, deletes)
    if not found and held.same is not None and (named := held.same.other_name(path)):
        return _hit(named, held, deletes)
    return found


def _hit(path: str, held: Protected, deletes: bool) -> str:
    if path.endswith(OWN_LAUNCHERS):
        return path  # wherever it is: `$(which …)` is not looked up
    has_signs = not set("*?[").isdisjoint(path)
    if not deletes and (beside := _imported_instead(path, held)):
        return beside
    index = held.index
    found = index.itself_or_above(path)
    meant = index.below.get(path.rstrip("/"), ()) if deletes else ()
    if has_signs:
        meant = [own for own in held.all() if own in meant or _matches_in(path, own, deletes, held.is_folder(own))]
    found += [*islice((own for own in meant if own in held.entries or os.path.lexists(own)), 1)]
    return index.first(found)


def _matches_in(pattern: str, own: str, deletes: bool, is_folder: bool) -> bool:
    return _covers(pattern, own, deletes or is_folder) or (is_folder and _covers_inside(pattern, own))


def _imported_instead(path: str, held: Protected) -> str:
    """The file itself, if a pinned script would import it in the place of another."""
    for folder, kind in held.replaced if path.endswith(RUBY_AND_PERL) else ():
        if path.startswith(f"{folder}/") and Installed(kind).has(path[len(folder) + 1 :]):
            return path
    for folder in held.searched if path.endswith(IMPORTABLE) else ():
        if path.startswith(f"{folder}/"):
            name = path[len(folder) + 1 :].partition("/")[0].partition(".")[0]
            if is_standard(name) or f"{folder}/{name}.py" in held.files:
                return path
    return ""


def _covers_inside(pattern: str, folder: str) -> bool:
    """Whether a pattern that reaches into all folders matches a file in this one."""
    base, sign, rest = pattern.partition("/**/")
    if not sign or not f"{folder}/".startswith(f"{base}/") or "/" in rest:
        return False
    names = (name for _, folders, files in os.walk(folder) for name in (*folders, *files))
    return any(
        fnmatchcase(name, rest) and name != "__pycache__" and not name.endswith(".pyc")  # they are created again
        for name in islice(names, MAX_LISTED)
    )


def _covers(pattern: str, path: str, below: bool) -> bool:
    """Whether a pattern matches the path, or with `below`, a folder above it or something inside it."""
    parts, wanted = path.split("/"), pattern.split("/")
    for place, part in enumerate(wanted):
        if part == "**":
            rest = "/".join(wanted[place + 1 :])
            if parts[:place] != wanted[:place] and not _covers(
                "/".join(wanted[:place]), "/".join(parts[:place]), False
            ):
                return False
            tail = parts[place:]
            return bool(tail) and (
                not rest or any(_covers(rest, "/".join(tail[at:]), below) for at in range(len(tail)))
            )
        if place >= len(parts):
            return below
        if not fnmatchcase(parts[place], part) or (parts[place].startswith(".") and part[:1] in ("*", "?")):
            return False
    return len(wanted) == len(parts) or below


def _ends_like(path: str, held: Protected) -> str:
    """Whether the known end of a path with an unknown start (two names or more) is that of a protected path."""
    tail = path.partition("/")[2].strip("/")
    if "/" not in tail:
        return ""
    index, names = held.index, tail.split("/")
    pairs = (f"{name}/{after}" for name, after in pairwise(names))
    ends, last = index.ends
    found = [ends.get(tail), *(last.get(pair) for pair in pairs)]
    return index.first([path for path in found if path is not None])


def own_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """Folders in which everything is ours."""
    return state_dir(env), os.path.dirname(config_file(env)), runtime_dir(env)


# One file under several names.


class SameFiles:
    """Protected paths and the folders above them, by their identity on disk."""

    def __init__(self, paths: Iterable[str], real: RealPaths) -> None:
        self._known: dict[Identity, str] = {}
        self._folded: dict[str, str] = {}
        looked_at = {"", "/"}
        for path in paths:
            self._folded.setdefault(path.casefold(), path)
            place = path
            while place not in looked_at:
                looked_at.add(place)
                seen = real.look(place)
                if seen is not None:
                    self._known.setdefault((seen.st_dev, seen.st_ino), place)
                place = place.rpartition("/")[0]

    def other_name(self, path: str) -> str:
        """The protected spelling of a path, or of the folder above it; "" if there is none that differs."""
        place, rest = path.rstrip("/"), ""
        while place not in ("", "/"):
            known = self._known.get(seen) if (seen := identity(place)) is not None else None
            if known is not None:
                named = known + rest
                if named != path:
                    return named
                # The folder is known; its disk may not tell cases apart in what comes below.
                folded = self._in_one_case(named, len(place))
                return folded if folded != named and folds_case(place) else ""
            place, _, last = place.rpartition("/")
            rest = f"/{last}{rest}"
        return ""

    def _in_one_case(self, path: str, start: int) -> str:
        """The protected spelling of a path, or of a folder above it, that differs in its cases; "" if there is none."""
        ends = [end for end in range(start + 1, len(path) + 1) if path[end : end + 1] in ("/", "")]
        for end in reversed(ends):
            if found := self._folded.get(path[:end].casefold()):
                return found + path[end:]
        return ""


def identity(path: str) -> Identity | None:
    """Device and number of what is there; None if nothing is."""
    try:
        seen = os.lstat(path)
    except (OSError, ValueError):
        return None
    return seen.st_dev, seen.st_ino


def folds_case(folder: str) -> bool:
    """Whether the disk of a folder takes two cases of a name for the same name."""
    parent, name = os.path.split(folder)
    other = name.swapcase()
    if other == name:
        return folds_case(parent) if parent not in ("", "/") else False
    found, spelled = identity(folder), identity(os.path.join(parent, other))
    # Some disks number each spelling by itself (exFAT through FUSE), but list only one.
    return found is not None and spelled is not None and (found == spelled or other not in _names(parent))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
