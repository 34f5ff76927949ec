"""Unread: hook files of agents whose dialect is not read here. It looks in the known places, and ignores files that a
dialect reads or that we wrote ourselves."""

from __future__ import annotations

import glob
import os
from itertools import islice
from typing import TYPE_CHECKING

from anyhook.agents._hook_places import HOOK_PLACES
from anyhook.documents.read import MAX_BYTES, head
from anyhook.model.problem import WARNING, Problem
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.walk.discover import discover

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anyhook.agents._hook_places import HookPlace
    from anyhook.state.plans import Setup
    from anyhook.tables.rows import Roots

MAX_FILES = 200
"""How many paths are looked at for one place."""
OURS = b"anyhook"


def unread_files(setup: Setup) -> list[Problem]:
    """One problem for each file, by agent."""
    roots = setup.roots(())
    read = tuple(_read_by_us(roots))
    found: dict[str, Problem] = {}
    for place in HOOK_PLACES:
        for path in _paths(place.paths, roots):
            if path in found or (not place.beside and _is_read(path, read)):
                continue
            text = head(path, MAX_BYTES)
            if text and place.word.encode() in text and not (OURS in text and b"bridge" in text):
                what = f"this hook file belongs to {place.title}{_reason(place)}"
                found[path] = Problem("unread-file", what, path, "", "", WARNING)
    return list(found.values())


def _reason(place: HookPlace) -> str:
    if place.idle:
        return f", {place.idle}"
    return f"; it is code, which only {place.title} can run" if place.code else "; its hooks do not run here"


def runs_no_hooks(agent: str) -> str:
    """What to do about an agent that runs no hooks; "" for other agents."""
    for place in HOOK_PLACES:
        if place.idle and place.title.lower().partition(" ")[0] == agent.lower():
            door = "`anyhook mcp -- COMMAND` puts hooks before the tools of an MCP server, in any agent."
            return f"Nothing can call anyhook in {place.title}, {place.idle}. {door}"
    return ""


def _is_read(path: str, read: Sequence[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in read)


def _read_by_us(roots: Roots) -> Iterator[str]:
    for name in DIALECTS:
        try:
            yield from (source.path for source in discover(dialect(name), roots))
        except Exception:  # noqa: BLE001, S112 (that dialect reports it itself)
            continue


def _paths(patterns: Sequence[str], roots: Roots) -> Iterator[str]:
    folders = {
        "{project}": roots.project,
        "{home}": roots.home,
        "{config}": roots.xdg("XDG_CONFIG_HOME", ".config"),
    }
    for pattern in patterns:
        base, _, rest = pattern.partition("/")
        names = glob.iglob(f"{glob.escape(folders[base])}/{rest}", include_hidden=True)
        yield from (path for path in islice(names, MAX_FILES) if os.path.isfile(path))
