"""Agents that other installed packages bring: the entry-point group `anyhook.agents`, in which each line says
`name = module`.

An agent waits while this is looked up, so nothing is imported for it: the answer is kept in our state folder, and holds
as long as the folders with installed packages, and the agents' own files, look the same. Only `site-packages` folders
count. What is installed there is the user's own choice; any other folder on the path may be a cloned project.

And the parts of any agent: `DIALECT` and `HOST` are values of its module, or of the module `dialect` or `host` in its
folder; `drive` and `sample` are functions, so that nobody waits for what only checks and tests want.
"""

from __future__ import annotations

import marshal
import os
import sys
from time import time_ns

from anyhook.documents.places import stamp, state_dir, write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from anyhook.documents.places import Stamp

    Row = tuple[str, int, tuple[str, ...], str, str]
    """Name, what the agent does, the variables it reads, its module, and what is wrong with its tables."""

DECLARES, CALLS, BRIDGED = 1, 2, 4
"""It declares hooks; it calls us, by an entry that `anyhook install` writes; it calls us, by an entry of the user's."""
GROUP = b"[anyhook.agents]"
FOLDERS = ("site-packages", "dist-packages")
FORMAT = 1
SETTLED_NS = 50_000_000
"""A folder that changed so short a time ago may change again without its stamp showing it: no answer is kept then."""


def installed(env: Mapping[str, str], path: Sequence[str], known: Sequence[str]) -> tuple[Row, ...]:
    """The agents of other packages, by name; those in `known` are taken."""
    folders = [folder for folder in path if folder.startswith("/") and folder.rstrip("/").endswith(FOLDERS)]
    if not folders:
        return ()
    key = (FORMAT, sys.version_info[:2], tuple(known), tuple(folders))
    file = f"{state_dir(env)}/agents/{_checksum(':'.join(folders)):08x}"
    kept = _kept(file, key)
    if kept is not None:
        return kept
    from anyhook.tables.found_agents import found

    rows, seen = found(folders, known)
    if not any(row[4] for row in rows):  # what is broken is looked at until it is not
        _keep(file, key, rows, seen)
    return rows


def _checksum(text: str) -> int:
    """A file name per environment of Python's; two of one name cost a look at the folders, no more."""
    found = 0
    for byte in text.encode("utf-8", "surrogateescape"):
        found = (found * 131 + byte) & 0xFFFF_FFFF
    return found


def _kept(file: str, key: tuple[object, ...]) -> tuple[Row, ...] | None:
    """The kept answer, if everything it depends on still looks the same."""
    try:
        with open(file, "rb") as opened:
            state = os.fstat(opened.fileno())
            if state.st_uid != os.geteuid() or state.st_mode & 0o022:
                return None
            made, rows, stamps = marshal.loads(opened.read())  # noqa: S302 (our own file, for its owner only)
        if made != key:
            return None
        for path, seen in stamps:
            if stamp(path) != seen:
                return None
    except (OSError, ValueError, EOFError, TypeError):
        return None
    found: tuple[Row, ...] = rows
    return found


def _keep(file: str, key: tuple[object, ...], rows: tuple[Row, ...], seen: Sequence[tuple[str, Stamp | None]]) -> None:
    if time_ns() - max((max(stamped[:2]) for _, stamped in seen if stamped), default=0) < SETTLED_NS:
        return
    kept: Any = (key, rows, tuple(seen))
    try:
        write_private(file, marshal.dumps(kept))
    except OSError:
        return  # it is looked up again the next time


# -- the parts of an agent


class BadTable(ValueError):  # noqa: N818 (it says what is wrong)
    """A mistake in an agent's table. The sentence names the table and the cell."""


def part(module: str, name: str) -> Any:
    """One part of an agent; None where it has no such part. An agent's module that is not there is an error."""
    found = _value(module, name)
    if found is None and hasattr(sys.modules[module], "__path__"):
        try:
            found = _value(f"{module}.{name.lower()}", name)
        except ModuleNotFoundError as error:
            if error.name != f"{module}.{name.lower()}":
                raise
        if found is not None:
            setattr(sys.modules[module], name, found)
    return found


def _value(module: str, name: str) -> Any:
    loaded = sys.modules.get(module)
    if loaded is None or name not in loaded.__dict__:  # another thread may be in the middle of it
        __import__(module)  # importlib is a package, and its import is not free
        loaded = sys.modules[module]
    return loaded.__dict__.get(name)
