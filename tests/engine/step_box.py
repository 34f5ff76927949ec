"""Hooks as loading makes them, for table tests of single steps of the walk."""

from __future__ import annotations

from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.words import HANDLER_KINDS, word_of
from anyhook.tables.registry import dialect
from anyhook.tables.rows import EventRow


def row_of(name: str, event: str) -> EventRow:
    """A dialect's row for a canonical event."""
    row = dialect(name).row_for(event)
    assert row is not None, f"{name} has no {event}"
    return row


def hook_of(
    name: str, event: str, *, called: str = "n", handler: str = "command", spec: dict[str, Json] | None = None
) -> Hook:
    """A user's hook of this dialect for a canonical event."""
    row = row_of(name, event)
    return Hook(
        id=f"{name}:user:{row.native}:{called}", name=called, dialect=name, scope="user", source="/f", place=(),
        root="/", label="", native_event=row.native, events=row.canonical, matcher=None,
        handler=word_of(handler, HANDLER_KINDS),
        spec=spec or {}, limit_s=1.0,
    )  # fmt: skip
