"""Told: the guards that are off and that a person has been told about, by session. It is a file because every event
runs in a new process. If it is lost, a person is told twice."""

from __future__ import annotations

from anyhook.platform.store import Store


class ToldGates:
    """One session of one agent."""

    def __init__(self, state_dir: str, agent: str, session: str) -> None:
        self._store, self._key = Store(state_dir, "told"), f"{agent} {session}"

    def known(self) -> dict[str, str]:
        """Guard → the reason that was given."""
        found = self._store.read_object(self._key)
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def keep(self, said: dict[str, str]) -> None:
        self._store.change(self._key, lambda known: {**known, **said})
