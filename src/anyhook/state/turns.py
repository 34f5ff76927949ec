"""Turns: how often each dialect has kept an agent working in its current turn. It is a file because every event runs in
a new process. If it is lost, the agent works a little longer."""

from __future__ import annotations

from anyhook.platform.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json


class Turn:
    """One session's turn."""

    def __init__(self, state_dir: str, agent: str, session: str) -> None:
        self._store, self._key = Store(state_dir, "turns"), f"{agent} {session}"

    def begin(self) -> None:
        """Start a new turn."""
        self._store.delete(self._key)

    def counts(self) -> dict[str, int]:
        """Dialect → how often its hooks have kept the agent working. A turn is over a while after its last event."""
        return _counts(self._store.read_object(self._key))

    def count(self, dialect: str) -> None:
        """Count one more time."""
        self._store.change(self._key, lambda found: {**_counts(found), dialect: _counts(found).get(dialect, 0) + 1})


def _counts(found: dict[str, Json]) -> dict[str, int]:
    return {key: value for key, value in found.items() if isinstance(value, int)}
