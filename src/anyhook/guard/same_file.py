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
                folded = self._folded.get(named.casefold(), "")
                return folded if folded != named and folds_case(place) else ""
            place, _, last = place.rpartition("/")
            rest = f"/{last}{rest}"
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
    return identity(folder) is not None and identity(folder) == identity(os.path.join(parent, other))
