"""Paths in conditions: patterns as in a .gitignore, and classes of places that no pattern can describe, such as
`@home`. A pattern is compiled once; the user's home and the project are passed in for each call."""

from __future__ import annotations

import os
from itertools import takewhile
from os.path import lexists

from anyhook.model.record import Record
from anyhook.platform.places import upward
from anyhook.rules.wildcards import SIGNS, is_plain, like, may_match, path_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    PathPattern = tuple[str, tuple[str, ...]]
    """Where it starts (`/`, `~`, `.` for the project, `@` for a class), and its parts."""

SYSTEM = (
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "srv", "sys", "usr",
    "var", "System", "Library", "Applications", "private",
)  # fmt: skip
"""Folders at the top of a disk that belong to the system."""
APPLICATIONS = (("var", "www"), ("srv",), ("opt",))
"""Folders among them in which each folder is an application: what is in it is not the system's."""
WINDOWS = ("windows", "program files", "program files (x86)", "programdata", "boot", "recovery")
"""The same on the drives of Windows."""
HARMLESS_DEVICES = (
    "null",
    "zero",
    "full",
    "random",
    "urandom",
    "tty",
    "stdin",
    "stdout",
    "stderr",
    "fd",
    "ptmx",
    "pts",
    "shm",
)
PERSONAL = (
    "Desktop", "Documents", "Downloads", "Pictures", "Music", "Videos", "Movies", "Library", "Public", ".ssh", ".gnupg",
    ".config", ".local", ".aws", ".kube", ".docker",
)  # fmt: skip
"""Personal folders, even if the project is the home folder itself."""
BUILD = (
    "node_modules", "bower_components", "dist", "build", "target", "out", "coverage", "htmlcov", "__pycache__", "venv",
    ".venv", ".tox", ".nox", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".next", ".nuxt", ".turbo",
    ".parcel-cache", ".gradle", ".terraform", ".eggs",
)  # fmt: skip
"""Folders with contents that a build creates again."""


MIN_KNOWN = 4


class Places(Record):
    """The folders of one call."""

    home: str
    project: str
    temp: tuple[str, ...] = ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders")  # noqa: S108 (their names)
    own: Callable[[], tuple[str, ...]] = tuple
    """The folders that an agent keeps for itself, as patterns. Asked only for paths outside the project,"""
    more: Callable[[], tuple[str, ...]] = tuple
    """like the folders that it works in besides."""
    is_there: Callable[[str], bool] = lexists
    """Whether there is something at a path. Asked only for paths outside the project."""
    may_hold_secret: Callable[[str], bool] = bool
    """Whether what a call reads at a path may be a secret."""


def compile_path(word: str) -> PathPattern:
    """A pattern's parts. Without a slash it matches at any depth; otherwise from the project, unless it starts
    elsewhere."""
    if word.startswith("@"):
        return "@", (word[1:],)
    if word in ("~", "/"):
        return word, ()
    start, text = ".", word
    if word.startswith("/"):
        start, text = "/", word[1:]
    elif word.startswith("~/"):
        start, text = "~", word[2:]
    elif word.startswith("./"):
        text = word[2:]
    elif "/" not in word.rstrip("/"):
        start, text = "/", f"**/{word}"
    elif word.startswith("**/"):
        start = "/"
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return start, tuple(parts)


def matches(pattern: PathPattern, path: str, places: Places, *, covers: bool, may_be: bool = True) -> bool:
    """Whether the pattern matches a path. `covers`: a folder also counts for everything in it. `may_be`: a path with
    wildcards counts if it might match."""
    start, parts = pattern
    if start == "@":
        return CLASSES[parts[0]](path, places)
    base = ("" if start == "/" else places.home if start == "~" else places.project).rstrip("/")
    if f"{path}/".startswith(f"{base}/") and path_like(parts, _parts(path[len(base) :])):
        return True
    whole = (*_parts(base), *parts)
    found = _parts(path)
    if not covers:
        return may_be and bool(found) and _begins(found[-1]) and _may_be(whole, found)
    return _covers(parts, whole, found, path, places)


def _covers(parts: tuple[str, ...], whole: tuple[str, ...], found: list[str], path: str, places: Places) -> bool:
    """Whether what a pattern matches is in this folder, or may be."""
    if parts[:1] == ("**",) and is_plain(parts[-1]) and _whole(path, places.project):
        return True  # the whole project goes, including everything with this name
    held = found
    while held and _is_everything(held[-1]):  # everything in a folder counts as the folder
        held = held[:-1]
    return (held != found and path_like(whole, held)) or _covered(whole, held) or _may_be(whole, found)


FEW = 8
"""Up to this many paths are compared one by one."""


def matching(
    patterns: tuple[PathPattern, ...], paths: list[str], places: Places, *, covers: bool, may_be: bool = True
) -> list[str]:
    """The paths that one of the patterns matches, in their order. Of many paths, most are ruled out by their name or by
    the folder that they are in, so that a thousand of them take milliseconds."""
    if len(paths) <= FEW:
        return [
            path
            for path in paths
            if any(matches(each, path, places, covers=covers, may_be=may_be) for each in patterns)
        ]
    key = (*paths,)
    many = ARRANGED.get(key)
    if many is None:
        if len(ARRANGED) >= MAX_ARRANGED:
            ARRANGED.clear()
        many = ARRANGED[key] = Many(key)
    found = _plain_matches(patterns, many, places, covers=covers)
    for path in many.others:
        if any(matches(each, path, places, covers=covers, may_be=may_be) for each in patterns):
            found.add(path)
    return [path for path in paths if path in found]


class Many:
    """Many paths; those without wildcards arranged so that the ones a pattern may match are found without asking
    each."""

    def __init__(self, given: tuple[str, ...]) -> None:
        self.paths = paths = [path for path in given if is_plain(path)]
        self.others = [path for path in given if not is_plain(path)] if len(paths) < len(given) else []
        self.ordered = sorted(paths)
        self.by_path: dict[str, list[str]] = {}
        self.by_name: dict[str, list[str]] = {}
        for path in paths:
            whole = path.rstrip("/")
            self.by_path.setdefault(whole, []).append(path)
            self.by_name.setdefault(whole.rsplit("/", 1)[-1], []).append(path)
        self.text, self.names = "\n".join(paths), "\n".join(self.by_name)
        self.above: dict[str, list[str]] = {}
        """Folder → those of the paths that are above it."""

    def wholes(self, folder: str) -> list[str]:
        """Those that hold a whole folder."""
        if folder not in self.above:
            self.above[folder] = [path for path in self.paths if _whole(path, folder)]
        return self.above[folder]

    def candidates(self, pattern: PathPattern, places: Places) -> Iterable[str]:
        """Those that a pattern may match, besides those above the project."""
        start, parts = pattern
        if start == "@":
            return self.paths
        if start == "/" and parts[:1] == ("**",):
            return self._anywhere(parts[1:])
        base = ("" if start == "/" else places.home if start == "~" else places.project).rstrip("/")
        from _bisect import bisect_left

        fixed = "/".join([base, *takewhile(is_plain, parts)])
        found: list[str] = []
        for at in range(bisect_left(self.ordered, fixed), len(self.ordered)):
            if not self.ordered[at].startswith(fixed):
                break
            found.append(self.ordered[at])
        while fixed:  # the folders above
            fixed = fixed.rpartition("/")[0]
            found += self.by_path.get(fixed, ())
        return found

    def _anywhere(self, parts: tuple[str, ...]) -> Iterable[str]:
        """The same for a pattern that matches at any depth: by the name, or by a name that every match contains."""
        if len(parts) == 1 and is_plain(parts[0]):
            return self.by_name.get(parts[0], ())
        if len(parts) == 1:
            if not may_match(parts[0], self.names):
                return ()
            return [path for name, named in self.by_name.items() if like(parts[0], name) for path in named]
        if plain := [part for part in parts if is_plain(part)]:
            needle = f"/{max(plain, key=len)}"
            return [path for path in self.paths if needle in path] if needle in self.text else ()
        return self.paths


ARRANGED: dict[tuple[str, ...], Many] = {}
"""The last paths: all rules about a call ask for the same."""
MAX_ARRANGED = 4


def _plain_matches(patterns: tuple[PathPattern, ...], many: Many, places: Places, *, covers: bool) -> set[str]:
    """The paths without wildcards that one of the patterns matches."""
    found: set[str] = set()
    above = many.wholes(places.project) if covers else ()
    for pattern in patterns:
        for path in (*many.candidates(pattern, places), *above):
            if path not in found and matches(pattern, path, places, covers=covers):
                found.add(path)
    return found


def _begins(name: str) -> bool:
    """Whether enough of a name comes before its first wildcard to tell what is meant: `id_r*`, `.env*`."""
    return not is_plain(name) and min(name.find(sign) for sign in SIGNS if sign in name) >= MIN_KNOWN


def _may_be(pattern: tuple[str, ...], path: list[str]) -> bool:
    """Whether a path with wildcards, such as `prot*`, might match the pattern. A wildcard at the start of a name, as in
    `*.json`, matches too much to count."""
    if not path or is_plain(path[-1]) or path[-1][0] in SIGNS:
        return False
    if pattern[:1] == ("**",):
        return len(pattern) == 2 and is_plain(pattern[1]) and like(path[-1], pattern[1])
    return all(map(is_plain, pattern)) and path_like(tuple(path), list(pattern))


def _covered(pattern: tuple[str, ...], path: list[str]) -> bool:
    """Whether everything that the pattern matches is in this folder."""
    size = len(path)
    return size < len(pattern) and list(pattern[:size]) == path and all(map(is_plain, pattern[: max(size, 1)]))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _whole(path: str, folder: str) -> bool:
    """Whether it is the folder itself, everything in it (`folder/*`), or a folder above it."""
    stripped = path
    while _is_everything(stripped.rsplit("/", 1)[-1]):
        stripped = stripped.rsplit("/", 1)[0] or "/"
    return f"{folder.rstrip('/')}/".startswith(f"{stripped.rstrip('/')}/")


def _is_everything(name: str) -> bool:
    """Whether a name with wildcards matches everything in a folder, or all dot files."""
    return "*" in name and not name.strip("*?.[]!^{},")


def _inside(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _in_project(path: str, places: Places) -> bool:
    """Whether it is in the project. `/` never counts as a project."""
    return places.project not in ("", "/") and _inside(path, places.project)


def _on_drive(path: str) -> list[str]:
    """The parts below a drive of Windows, `/c` or `/mnt/c`; none if it is on none, or the drive itself."""
    parts = _parts(path)
    parts = parts[1:] if parts[:1] == ["mnt"] else parts
    return parts[1:] if parts and len(parts[0]) == 1 and parts[0].isalpha() else []


def _is_root(path: str, _places: Places) -> bool:
    parts = _parts(path.removeprefix("/mnt/"))
    return _whole(path, "/") or (len(parts[0]) == 1 and parts[0].isalpha() and all(map(_is_everything, parts[1:])))


def _is_home(path: str, places: Places) -> bool:
    """The home folder, the folders above it, everything in it, and each personal folder in it."""
    if _whole(path, places.home) or _is_anyones_home(path):
        return True
    if not _inside(path, places.home):
        return False
    below = _parts(path[len(places.home.rstrip("/")) :])
    is_whole = len(below) == 1 or (len(below) == 2 and below[1] in ("*", "**"))
    if not _in_project(path, places):
        return is_whole
    is_setting = below[0].startswith(".") and len(below) == 2
    return _inside(places.home, places.project) and below[0] in PERSONAL and (is_whole or is_setting)


def _is_anyones_home(path: str) -> bool:
    parts, drive = _parts(path), _on_drive(path)
    if parts[:1] in (["home"], ["Users"]):
        return len(parts) == 1 or _whole(path, f"/{parts[0]}/{parts[1]}")
    return drive[:1] in (["Users"], ["users"]) and all(map(_is_everything, drive[2:]))


def _is_project(path: str, places: Places) -> bool:
    return _whole(path, places.project)


def _is_system(path: str, places: Places) -> bool:
    parts = _parts(path)
    if _is_root(path, places):
        return True
    if _is_in_application(parts):
        return False
    return (
        (parts[0] in SYSTEM or " ".join(_on_drive(path)[:1]).lower() in WINDOWS)
        and not _is_temp(path, places)
        and not _in_project(path, places)
        and not _inside(path, places.home)
    )


def _is_in_application(parts: list[str]) -> bool:
    while parts and _is_everything(parts[-1]):
        parts = parts[:-1]
    sizes = [len(above) + 1 for above in APPLICATIONS if (*parts[: len(above)],) == above]
    return any(len(parts) > size and is_plain(parts[size - 1]) for size in sizes)


def _is_temp(path: str, places: Places) -> bool:
    """A temporary place. A project or a home in one does not count as temporary."""
    if "/AppData/Local/Temp/" in path:
        return True
    if any(_inside(path, own) or _whole(path, own) for own in (places.project, places.home) if own not in ("", "/")):
        return False
    if path.startswith("/dev/"):
        return not _is_device(path, places)
    return any(_inside(path, folder) and path.rstrip("/*") != folder for folder in places.temp)


def _is_outside(path: str, places: Places) -> bool:
    """Outside the project, temporary places, and where the session works besides. False for an unknown path."""
    if path[:1] != "/" or _inside(path, places.project) or _is_temp(path, places):
        return False
    return not any(_inside(path, folder) for folder in places.more())


def _is_own(path: str, places: Places) -> bool:
    """In a folder that an agent keeps for itself."""
    return any(matches(compile_path(each), path, places, covers=False, may_be=False) for each in places.own())


def _ordinary(path: str, places: Places) -> str:
    """The path, or the folder of what a pattern names; "" for what sets something: files of the system, and in the home
    folder what starts with a dot."""
    if path[:1] != "/" or _is_system(path, places):
        return ""
    while not is_plain(path):
        path = path.rpartition("/")[0]
    below = _parts(path[len(places.home.rstrip("/")) :]) if _inside(path, places.home) else ["-"]
    return "" if below[:1] in ([], ["Library"], ["AppData"]) or below[0].startswith(".") else path


def _is_new(path: str, places: Places) -> bool:
    """Where nothing is yet: what is written there replaces nothing."""
    path = _ordinary(path, places)
    return path != "" and not places.is_there(path)


def _is_checkout(path: str, places: Places) -> bool:
    """In a checkout of some repository, where git shows what was changed. One of the whole home folder does not
    count."""
    folders = upward(os.path.dirname(_ordinary(path, places)), "/")
    return any(lexists(f"{folder}/.git") for folder in folders if folder and not _inside(places.home, folder))


def _is_harmless(path: str, places: Places) -> bool:
    """A file of variables that is there, and has no secret; also all of them that a pattern names in one folder."""
    folder, _, name = path.rpartition("/")
    return ".env" in name and is_plain(folder) and not places.may_hold_secret(path)


def _is_unknown(path: str, _places: Places) -> bool:
    """A path whose start is known only at run time."""
    return path[:1] in ("$", "`")


def _is_git(path: str, _places: Places) -> bool:
    return ".git" in _parts(path)


def _is_build(path: str, places: Places) -> bool:
    return any(
        part in BUILD or part.endswith(".egg-info")
        for part in _parts(path[len(places.project) :] if _inside(path, places.project) else path)
    )


def _is_device(path: str, _places: Places) -> bool:
    return path.startswith("/dev/") and not path.startswith("/dev/tty") and path.split("/")[2] not in HARMLESS_DEVICES


def _is_secret(path: str, places: Places) -> bool:
    from anyhook.rules.secret_paths import is_secret

    return is_secret(path, places)


CLASSES: dict[str, Callable[[str, Places], bool]] = {
    "root": _is_root,
    "system": _is_system,
    "home": _is_home,
    "project": _is_project,
    "outside": _is_outside,
    "own": _is_own,
    "new": _is_new,
    "checkout": _is_checkout,
    "temp": _is_temp,
    "git": _is_git,
    "build": _is_build,
    "device": _is_device,
    "harmless": _is_harmless,
    "unknown": _is_unknown,
    "secrets": _is_secret,
}
