"""How a hook answers in its dialect's format: the opposite of reading its answer. It uses only the rows, so it works
for every dialect."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.outcome import BLOCK
from anyhook.model.record import Record
from anyhook.model.words import HandlerKind, Verdict
from anyhook.tables.registry import special
from anyhook.tables.rows import BLOCKING, SPECIFIC, Dialect, EventRow, Key, Reply

EVENT_NAME = f"{SPECIFIC}.hookEventName"

REASONS = {"reason": "reason", "message": "messages"}
"""Where a reason is taken from → what a key with it does."""


class Spoken(Record):
    """What a hook prints, and its exit status."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0


CANNOT = "A hook of this event cannot refuse in its dialect."


def verdict(dialect: Dialect, row: EventRow, canonical: str, word: Verdict, reason: str) -> Spoken | None:
    """How a hook of this event blocks or asks; None if it cannot. A refusal is both an object and an exit status if the
    dialect reads both: a script that continues and ends with 0 has still refused."""
    reply = reply_of(dialect, canonical)
    status = _blocking_status(reply) if word == BLOCK else 0
    answer = _object(dialect, reply, row, canonical, word, reason)
    if not answer and not status:
        return None
    return Spoken(_text(answer), reason if word == BLOCK else "", status)


def refusal(dialect: Dialect, row: EventRow, canonical: str, reason: str) -> Spoken | None:
    """The shortest way in which a program refuses: an exit status with the reason on stderr, else an object. None if it
    cannot."""
    reply = reply_of(dialect, canonical)
    status = _blocking_status(reply)
    if status:
        return Spoken("", reason, status)
    answer = _object(dialect, reply, row, canonical, BLOCK, reason)
    return Spoken(_text(answer)) if answer else None


def advice(dialect: Dialect, row: EventRow, canonical: str, handler: HandlerKind) -> str:
    """How to refuse, in a sentence: an object if the dialect reads one, because the hook printed something."""
    reply = reply_of(dialect, canonical, handler)
    answer = _object(dialect, reply, row, canonical, BLOCK, "why")
    if answer:
        return (
            f"To refuse, print {_text(answer)} and exit with status 0."
            if handler == "command"
            else f"To refuse, answer with {_text(answer)}."
        )
    status = _blocking_status(reply) if handler == "command" else 0
    return f"To refuse, print the reason on stderr and exit with status {status}." if status else CANNOT


def _object(
    dialect: Dialect, reply: Reply, row: EventRow, canonical: str, word: Verdict, reason: str
) -> dict[str, Json]:
    """The object that expresses a verdict; {} if there is none that the dialect reads."""
    heard = _heard(reply, canonical)
    for key in sorted(heard, key=lambda each: not each.on):  # keys for this event before keys for all events
        said = _word(key, reply, canonical, word)
        if said is None:
            continue
        made: dict[str, Json] = {}
        put(made, key.path, said)
        wanted = next((REASONS[source] for source in reply.json_reasons if source in REASONS), "")
        reasons = [each.path for each in heard if each.does == wanted]
        for path in sorted(reasons, key=lambda each: each[:-1] != key.path[:-1])[:1]:
            put(made, path, reason)
        complete(made, key, reply, row, dialect)
        if reply.spoils is None or not reply.spoils(made, canonical):
            return made
    return {}


def _text(answer: dict[str, Json]) -> str:
    return lean_json.dumps(answer, ensure_ascii=False) if answer else ""


def context(dialect: Dialect, row: EventRow, canonical: str, text: str) -> Spoken | None:
    """How a hook of this event tells the model something; None if it cannot."""
    reply = reply_of(dialect, canonical)
    for key in _heard(reply, canonical):
        if key.does == "context":
            answer: dict[str, Json] = {}
            put(answer, key.path, [text] if key.kind == "strings" else text)
            complete(answer, key, reply, row, dialect)
            return Spoken(lean_json.dumps(answer, ensure_ascii=False))
    heard = reply.text_does == "context" and (not reply.text_on or canonical in reply.text_on)
    return Spoken(text) if heard and reply.read(text.encode())[0] == "text" else None


def reply_of(dialect: Dialect, canonical: str, handler: HandlerKind = "command") -> Reply:
    """How an answer to this event is read."""
    reply = dialect.replies[handler]
    return reply.on_event.get(canonical, reply)


def _heard(reply: Reply, canonical: str) -> list[Key]:
    return [key for key in reply.keys if key.counts(canonical)]


def _word(key: Key, reply: Reply, canonical: str, wanted: Verdict) -> Json:
    """The value of a key that expresses a verdict; None if it cannot."""
    if wanted == BLOCK and key.does in ("block", "block_unless"):
        return key.does == "block"
    if key.does == "note" and key.kind == "bool" and reply.finish is not None:  # other values may do so
        return True if reply.finish({key.path[-1]: True}, canonical).get("verdict") == wanted else None
    words = [word for word, means in key.meanings(canonical) if means == wanted]
    return words[0] if words and key.does == "verdict" else None


def _blocking_status(reply: Reply) -> int:
    """The exit status that refuses; 0 if there is none."""
    found = [status for status, meaning in reply.exits.items() if meaning in BLOCKING]
    if not found and reply.otherwise in BLOCKING:
        found = [status for status in (2, 1, 3) if status not in reply.exits]
    return 2 if 2 in found else next(iter(found), 0)


def complete(answer: dict[str, Json], key: Key, reply: Reply, row: EventRow, dialect: Dialect) -> None:
    """Add what a key needs: the event's name in an object of its answers, if the dialect reads it there, and what the
    dialect's example has."""
    example = (special(dialect.name, "EXAMPLE_ANSWERS") or {}).get(".".join(key.path))
    for name, value in example.items() if isinstance(example, dict) else ():
        answer.setdefault(name, value)
    inner = answer.get(SPECIFIC)
    if isinstance(inner, dict) and EVENT_NAME in {*reply.also, *(".".join(each.path) for each in reply.keys)}:
        inner.setdefault("hookEventName", row.native)


def put(made: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    """Put a value at a path, and create the objects on the way."""
    for key in path[:-1]:
        inner = made.setdefault(key, {})
        made = inner if isinstance(inner, dict) else {}
    made[path[-1]] = value
