"""What hooks of a dialect may answer, from its rows: for the comments of a new script, and for a model that writes one
from a description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.record import Record
from anyhook.tables.describe import WORDS
from anyhook.tables.rows import BLOCKING

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow, Reply

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


class ExampleAnswer(Record):
    """One thing that a hook may print, and what it does."""

    does: str
    value: Json


def answers(dialect: Dialect, row: EventRow) -> list[ExampleAnswer]:
    """What a hook of this event may answer, besides a block and silence."""
    special = dialect.scaffold.answers if dialect.scaffold else {}
    found: list[ExampleAnswer] = []
    for key in reply_to(dialect, row).keys:
        if key.on and not set(key.on) & set(row.canonical):
            continue
        name = ".".join(key.path)
        if name in special:
            found.append(ExampleAnswer(WORDS.get(key.does, f"use `{name}`"), special[name]))
        elif key.does in SAMPLES:
            found.append(ExampleAnswer(WORDS[key.does], _nested(key.path, SAMPLES[key.does])))
        for word, verdict, events in key.words:
            granted = verdict in ("allow", "ask") and (not events or set(events) & set(row.canonical))
            if granted and row.block in ("deny_tool", "deny_permission"):
                found.append(
                    ExampleAnswer("grant it" if verdict == "allow" else "ask the user", _nested(key.path, word))
                )
    if row.silence:  # keys that every answer must have
        return [each.replace(value={**row.silence, **_object(each.value)}) for each in found]
    return found


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _nested(path: tuple[str, ...], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


def reply_to(dialect: Dialect, row: EventRow) -> Reply:
    """How an answer to this event is read."""
    reply = dialect.replies["command"]
    return reply.on_event.get(row.canonical[0], reply)


def refusal(reply: Reply, canonical: str, reason: str) -> tuple[int, Json]:
    """How a hook blocks: an exit status (then the reason goes to stderr), or 0 and the object to print."""
    for status, meaning in reply.exits.items():
        if meaning in BLOCKING:
            return status, None
    if reply.otherwise in BLOCKING:
        return next(status for status in (1, 2) if status not in reply.exits), None
    heard = [key for key in reply.keys if not key.on or canonical in key.on]
    answer: dict[str, Json] = {}
    for key in heard:
        words = [word for word, verdict, on in key.words if verdict == "block" and (not on or canonical in on)]
        if key.does == "block" or words:
            _put(answer, key.path, words[0] if words else True)
        elif key.does == "reason":
            _put(answer, key.path, reason)
    return 0, answer


def _put(answer: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    """Set the value at a path, and leave everything else."""
    *outer, last = path
    for key in outer:
        inner = answer.setdefault(key, {})
        assert isinstance(inner, dict)  # noqa: S101 (no key of an answer is a value and an object)
        answer = inner
    answer[last] = value
