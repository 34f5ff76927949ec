"""Describe: a dialect's table as text, for the command and for the generated docs. The rows are the only source."""

from __future__ import annotations

from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.tables.rows import Dialect, EventRow

WORDS = {
    "tool_input": "rewrite the input",
    "tool_output": "replace the output",
    "output_text": "replace the output",
    "prompt": "rewrite the prompt",
    "context": "add context",
    "messages": "tell the user",
    "follow_ups": "add follow-up messages",
    "history": "replace the history",
    "end_turn": "end the turn",
    "end_turn_unless": "end the turn",
}


class EventDescription(Record):
    """One native event."""

    native: str
    canonical: tuple[str, ...]
    block: str | None
    matched_against: str | None
    payload: tuple[str, ...]
    powers: tuple[str, ...]


class Description(Record):
    """One dialect."""

    name: str
    title: str
    files: tuple[tuple[str, str], ...]
    handlers: tuple[str, ...]
    failure: str
    limits: dict[str, float]
    events: tuple[EventDescription, ...]

    def as_dict(self) -> dict[str, Json]:
        made = super().as_dict()
        del made["limits"]
        made["files"] = [{"scope": scope, "place": place} for scope, place in self.files]
        return {**made, "limits_ms": {kind: round(limit * 1000) for kind, limit in self.limits.items()}}


def describe(dialect: Dialect) -> Description:
    failing = dialect.failing
    blocks = [cause.replace("_", " ") for cause in (*failing.blocks, *failing.gates_only)]
    return Description(
        dialect.name,
        dialect.title,
        dialect.files,
        tuple(kind for kind in dialect.replies if kind != "builtin"),
        f"blocks ({', '.join(blocks)}); otherwise the action goes on" if blocks else "the action goes on",
        {kind: limits.default_s for kind, limits in dialect.limits.items()},
        tuple(_event(dialect, row) for row in dialect.events),
    )


def _event(dialect: Dialect, row: EventRow) -> EventDescription:
    powers, last = [f"block: {row.block}"] if row.block else [], list[str]()
    for reply in dialect.replies.values():
        for key in reply.keys:
            if key.counts(*row.canonical):
                powers += [WORDS[key.does]] if key.does in WORDS else []
                granted = [(word, said) for word, said in key.meanings(*row.canonical) if said in ("allow", "ask")]
                powers += [f"{said} ({word})" for word, said in granted]
                last = ["call a recipe"] if key.path == ("callback",) else last
    powers = [*dict.fromkeys(powers), *last]
    payload = tuple(field.key for field in (*dialect.base, *row.payload))
    return EventDescription(row.native, row.canonical, row.block, row.target, payload, tuple(powers))
