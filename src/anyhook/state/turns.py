"""Turns: how often each dialect has kept an agent working in its current turn. It is a file because every event runs in
a new process. If it is lost, the agent works a little longer."""

from __future__ import annotations

import os
import time

from anyhook.documents.places import read_object, write_private
from anyhook.model import lean_json
from anyhook.model.lean_json import short_digest

FORGOTTEN_S = 900.0
"""A turn is over after this long without an event."""


class Turn:
    """One session's turn."""

    def __init__(self, state_dir: str, agent: str, session: str) -> None:
        self.path = f"{state_dir}/turns/{short_digest(f'{agent} {session}')}"

    def begin(self) -> None:
        """Start a new turn."""
        try:
            os.unlink(self.path)
        except OSError:
            pass

    def counts(self) -> dict[str, int]:
        """Dialect → how often its hooks have kept the agent working."""
        try:
            if time.time() - os.stat(self.path).st_mtime > FORGOTTEN_S:
                return {}
        except OSError:
            return {}
        found = read_object(self.path) or {}
        return {key: value for key, value in found.items() if isinstance(value, int)}

    def count(self, dialect: str) -> None:
        """Count one more time."""
        counts = self.counts()
        try:
            write_private(self.path, lean_json.dumps({**counts, dialect: counts.get(dialect, 0) + 1}).encode())
        except OSError:
            return
