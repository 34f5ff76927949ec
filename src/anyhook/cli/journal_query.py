"""A filter typed into a live view → a journal query: `tool:Bash verdict:block rm -rf`. The names are the options of
`anyhook log`; the rest is text to find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.cli import BadCall
from anyhook.cli.journal_input import RecordFilter, wanted_of

if TYPE_CHECKING:
    from anyhook.journal.read import JournalLine
    from anyhook.journal.search import Wanted

NAMED = {row.key: row for row in RecordFilter.rows if row.key != "text"}


def wanted_by(query: str) -> Wanted:
    """Raises BadCall for an invalid value."""
    values: dict[str, str | None] = {}
    words: list[str] = []
    for word in query.split():
        name, colon, value = word.partition(":")
        if not colon or name not in NAMED:
            words.append(word)
            continue
        choices = NAMED[name].choices
        if choices and value and value not in choices:
            raise BadCall(f"{name}:{value}: one of {', '.join(choices)} is needed.")
        values[name] = value or None  # a value that is still being typed
    values["text"] = " ".join(words) or None
    return wanted_of(RecordFilter.of(values))


def like(line: JournalLine) -> list[str]:
    """Filters for similar records: same session, agent, tool or deciding hook. Values with spaces are left out, because
    they cannot be typed."""
    decided = line.background or (line.decision.hook if line.decision is not None else None)
    parts = {"session": line.session, "agent": line.host, "tool": line.tool, "hook": decided}
    return [
        f"{name}:{value}"
        for name, value in parts.items()
        if value is not None and value.isprintable() and len(value.split()) == 1
    ]
