"""Told: the guards that are off and that a person has been told about, by session. It is a file because every event
runs in a new process. If it is lost, a person is told twice."""

from __future__ import annotations

from anyhook.documents.places import read_object, write_private
from anyhook.model import lean_json
from anyhook.model.lean_json import short_digest


class ToldGates:
    """One session of one agent."""

    def __init__(self, state_dir: str, agent: str, session: str) -> None:
        self.path = f"{state_dir}/told/{short_digest(f'{agent} {session}')}"

    def known(self) -> dict[str, str]:
        """Guard → the reason that was given."""
        found = read_object(self.path) or {}
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def keep(self, said: dict[str, str]) -> None:
        try:
            write_private(self.path, lean_json.dumps({**self.known(), **said}).encode())
        except OSError:
            return
