"""What a person types into a live view → what is wanted of the journal: `tool:Bash verdict:block rm -rf`. The names
are the options of `anyhook log`; the rest is a text to be found. Nothing is read here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import RecordFilter, wanted_of

if TYPE_CHECKING:
    from anyhook.journal.read import JournalLine
    from anyhook.journal.search import Wanted

NAMED = {row.key: row for row in RecordFilter.rows if row.key != "text"}


def wanted_by(query: str) -> Wanted:
    """BadCall with a sentence where a value cannot be."""
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
        values[name] = value or None  # a value that is just being typed
    values["text"] = " ".join(words) or None
    return wanted_of(RecordFilter.of(values))


def like(line: JournalLine) -> list[str]:
    """What to type for more of the same: its session, agent, tool, the hook that decided. What has spaces in it cannot
    be typed."""
    decided = line.background or (line.decision.hook if line.decision is not None else None)
    parts = {"session": line.session, "agent": line.host, "tool": line.tool, "hook": decided}
    return [
        f"{name}:{value}"
        for name, value in parts.items()
        if value is not None and value.isprintable() and len(value.split()) == 1
    ]
