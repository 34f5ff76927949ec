"""Switches: hooks that the user turned off, for dialects that have no such switch. It knows only ids."""

from __future__ import annotations

import json
import os

from anyhook.documents.places import write_private
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.model.problem import Problem
from anyhook.state.locks import locked

USER = ""
"""The key of hooks that belong to no project."""


class Switches:
    """The ids that are off, by project."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/switches.json"
        self.problems: list[Problem] = []
        self._off = self._read()

    def _read(self) -> dict[str, list[str]]:
        if not os.path.lexists(self.path):
            return {}
        try:
            stored = json.loads(read_bytes(self.path))
        except (OSError, Unreadable, ValueError, RecursionError, MemoryError):
            stored = None
        if not isinstance(stored, dict):
            self.problems.append(
                Problem(
                    "switches-damaged",
                    "hooks that were turned off are on again",
                    self.path,
                    "the file that remembers them cannot be read",
                    "Remove it and turn the hooks off again with `anyhook disable`.",
                )
            )
            return {}
        return {key: [str(name) for name in ids] for key, ids in stored.items() if isinstance(ids, list)}

    def off(self, project: str) -> frozenset[str]:
        return frozenset([*self._off.get(USER, ()), *self._off.get(project, ())])

    def turn(self, owner: str, hook: str, on: bool) -> None:
        """Turn one hook on or off, in what is in the file now."""
        with locked(*os.path.split(f"{self.path}.lock")):
            self._off = self._read()
            self._turn(owner, hook, on)

    def _turn(self, owner: str, hook: str, on: bool) -> None:
        ids = [name for name in self._off.get(owner, []) if name != hook]
        self._off[owner] = ids if on else [*ids, hook]
        write_private(self.path, json.dumps({key: ids for key, ids in self._off.items() if ids}, indent=1).encode())
