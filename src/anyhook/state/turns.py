"""Turns: how often each dialect has kept an agent working in its current turn. It is a file because every event runs in
a new process. If it is lost, the agent works a little longer."""

from __future__ import annotations

from anyhook.platform.store import Store
from anyhook.tables.registry import dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.decision import Decision
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


def keeper(decision: Decision) -> str:
    """The dialect whose hook keeps the agent working; "" if none does."""
    return next((report.dialect for report in decision.hooks if report.id == decision.hook), "")


def exhausted(counts: Mapping[str, int], event: str) -> frozenset[str]:
    """The dialects that have kept the agent working as often as their tables allow: their blocks no longer count."""
    rows = {name: dialect(name).row_for(event) for name in counts if name}
    return frozenset(name for name, row in rows.items() if row is not None and 0 < row.bound <= counts[name])


def _counts(found: dict[str, Json]) -> dict[str, int]:
    return {key: value for key, value in found.items() if isinstance(value, int)}
