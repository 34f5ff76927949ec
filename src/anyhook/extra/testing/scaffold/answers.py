"""What hooks of a dialect may answer, from its rows: for the comments of a new script, and for a model that writes one
from a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.record import Record
from anyhook.tables.describe import WORDS
from anyhook.tables.spoken import complete, put, reply_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow, Key

SAMPLES: dict[str, Json] = {
    "tool_input": {"command": "ls"},
    "tool_output": "another output",
    "prompt": "another prompt",
    "context": "A note for the model.",
    "messages": "A note for the user.",
    "follow_ups": ["Run the tests as well."],
    "end_turn_unless": False,
}
"""Example values, by the field of an Outcome."""

EFFECTS = {
    "deny_tool": "the tool is not run",
    "deny_permission": "the permission is denied",
    "abort": "it goes no further",
    "end_turn": "the turn ends",
    "keep_working": "the agent goes on working, with the reason as its next instruction",
    "skip": "it is skipped",
    "feedback": "the reason goes to the model",
}

GRANTS: dict[str, str] = {"allow": "grant it", "ask": "ask the user"}


class ExampleAnswer(Record):
    """One thing that a hook may print, and what it does."""

    does: str
    value: Json


def answers(dialect: Dialect, row: EventRow) -> list[ExampleAnswer]:
    """What a hook of this event may answer, besides a block and silence."""
    special = dialect.scaffold.answers if dialect.scaffold else {}
    found: list[ExampleAnswer] = []
    reply = reply_of(dialect, row.canonical[0])

    def said(key: Key, value: Json) -> dict[str, Json]:
        made: dict[str, Json] = {}
        put(made, key.path, value)
        complete(made, key, reply, row, dialect)
        return made

    for key in reply.keys:
        if not key.counts(*row.canonical):
            continue
        name = ".".join(key.path)
        if name in special:
            found.append(ExampleAnswer(WORDS.get(key.does, f"use `{name}`"), special[name]))
        elif key.does in SAMPLES:
            found.append(ExampleAnswer(WORDS[key.does], said(key, SAMPLES[key.does])))
        granting = key.meanings(*row.canonical) if row.block in ("deny_tool", "deny_permission") else []
        found += [ExampleAnswer(GRANTS[verdict], said(key, word)) for word, verdict in granting if verdict in GRANTS]
    if row.silence:  # keys that every answer must have
        found = [each.replace(value={**row.silence, **_object(each.value)}) for each in found]
    spoils = reply.spoils
    return [each for each in found if spoils is None or not spoils(_object(each.value), row.canonical[0])]


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
