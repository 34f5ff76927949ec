"""Other spellings of a protected path, found by what the file system says and not by their text: a bind mount, a hard
link, another case on a disk that does not tell cases apart."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyhook.platform.places import RealPaths

    Identity = tuple[int, int]


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
