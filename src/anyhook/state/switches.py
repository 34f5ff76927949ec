"""Switches: what the user turned off, and what they turned on. Off: hooks of dialects that have no such switch, by id.
On: the packs and rules of the user's own rule files. What was turned on and is gone must not look as if it had never
been there, so only a verb forgets it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem
from anyhook.platform.locks import locked
from anyhook.platform.places import may_exist, write_private

USER = ""
"""The key of hooks that belong to no project."""
ON = "on"
"""The key of what was turned on; all others are folders."""


class Switches:
    """The ids that are off, by project; and the packs that are on, by rule file."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/switches.json"
        self._copy = f"{state_dir}/installs/turned-on.json"
        self.problems: list[Problem] = []
        self._on: dict[str, list[str]] = {}
        self._off = self._read()

    def _read(self) -> dict[str, list[str]]:
        # A file that lost what was on, or is gone, must not make guards look as if they had never been there.
        kept = _stored(self._copy)
        self._on = _lists(kept) if _is_lists(kept) else {}
        stored = _stored(self.path)
        if not isinstance(stored, dict) or not _is_lists({**stored, ON: []}) or not _is_lists(stored.get(ON, {})):
            self.problems.append(
                Problem(
                    "switches-damaged",
                    "what was turned on and off is not known any more; hooks that were turned off are on again",
                    self.path,
                    "the file that remembers it cannot be read",
                    "See with `anyhook guards` what is on. Then remove this file, and turn off again with `anyhook "
                    "disable` what should be off.",
                    scope="user",
                )
            )
            return {}
        self._on = _lists(stored.pop(ON, None)) or self._on
        return _lists(stored)

    @property
    def on(self) -> Mapping[str, list[str]]:
        """Rule file → the packs that were turned on in it; its own name stands for its own rules."""
        return self._on

    def off(self, project: str) -> frozenset[str]:
        return frozenset([*self._off.get(USER, ()), *self._off.get(project, ())])

    def turn(self, owner: str, hook: str, *, on: bool) -> None:
        """Turn one hook on or off, in what is in the file now."""
        with locked(*os.path.split(f"{self.path}.lock")):
            self._off = self._read()
            ids = [name for name in self._off.get(owner, []) if name != hook]
            self._off[owner] = ids if on else [*ids, hook]
            self._write()

    def remember(self, file: str, names: Iterable[str]) -> None:
        """Note that these packs are on in a file."""
        with locked(*os.path.split(f"{self.path}.lock")):
            self._off = self._read()
            if self.problems:
                return  # what it had is not known; only a person may start it again
            self._on[file] = sorted({*self._on.get(file, ()), *names})
            self._write()

    def forget(self, names: Iterable[str]) -> bool:
        """The user wants these packs off, in all files; whether one of them was known to be on."""
        gone = {*names}
        if gone.isdisjoint(name for some in self._on.values() for name in some):
            return False
        with locked(*os.path.split(f"{self.path}.lock")):
            self._off = self._read()
            self._on = {file: [name for name in some if name not in gone] for file, some in self._on.items()}
            self._write()
        return True

    def _write(self) -> None:
        kept: dict[str, Json] = {key: [*ids] for key, ids in self._off.items() if ids}
        on: dict[str, Json] = {file: [*names] for file, names in self._on.items() if names}
        if on:
            write_private(self._copy, json.dumps(on, indent=1).encode())
        elif may_exist(self._copy):
            os.unlink(self._copy)
        write_private(self.path, json.dumps({**kept, **({ON: on} if on else {})}, indent=1).encode())


def _stored(path: str) -> Json:
    """What a file has: nothing if there is none, None if it cannot be read."""
    if not may_exist(path):
        return {}
    try:
        found: Json = json.loads(read_bytes(path))
    except (OSError, Unreadable, ValueError, RecursionError, MemoryError):
        return None
    return found


def _is_lists(stored: Json) -> bool:
    return isinstance(stored, dict) and all(isinstance(names, list) for names in stored.values())


def _lists(stored: Json) -> dict[str, list[str]]:
    rows = stored.items() if isinstance(stored, dict) else ()
    return {key: [str(name) for name in names] for key, names in rows if isinstance(names, list)}
