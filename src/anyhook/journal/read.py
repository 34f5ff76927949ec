"""A line of the journal, read: who fired what, which hooks were called and how they ended, what was decided. Everything
that explains, lists, counts, replays or exports records uses it.

What no line of this version has in a place counts as missing there: another version may have written the line, or
somebody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from anyhook.journal.record import ASKED_FOR
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import ON_FAILURE, word_of


class _Readable(Protocol):
    def get(self, key: str, /) -> Json: ...


Read = TypeVar("Read")
MAX_NUMBER, MAX_SECONDS = 2**62, 1e9
ABOUT_FIELDS = ("input", "prompt", "message", "source", "reason")
NOT_REACHED = ("unmatched", "disabled")


class LineField(Generic[Read]):
    """A field of a line, by its key, and how its value is read."""

    def __init__(self, key: str, read: Callable[[Json], Read]) -> None:
        self._key, self._read = key, read

    def __get__(self, line: _Readable, _owner: type) -> Read:
        return self._read(line.get(self._key))


def text(value: Json) -> str | None:
    """A text; anything else is converted to text."""
    return value if value is None or isinstance(value, str) else str(value)


def word(value: Json) -> str:
    """The same; "" for nothing."""
    return "" if value is None else value if isinstance(value, str) else str(value)


def whole_number(value: Json) -> int | None:
    """A whole number that fits into 64 bits with room for arithmetic; None for anything else."""
    return value if type(value) is int and 0 <= value < MAX_NUMBER else None


def seconds(value: Json) -> float | None:
    """A duration; None if there is none, 0 for anything else."""
    if value is None:
        return None
    return float(value) if isinstance(value, (int, float)) and value is not True and 0 <= value < MAX_SECONDS else 0.0


def as_object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects in a list; other items are ignored."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def as_is(value: Json) -> Json:
    return value


class RecordedRun(Record):
    """How a call ended."""

    raw: dict[str, Json]

    def get(self, key: str) -> Json:
        return self.raw.get(key)

    ending = LineField("ending", word)
    exit_code = LineField("exit_code", lambda code: code if isinstance(code, int) else None)
    stdout = LineField("stdout", as_is)
    """A text; a hash of it, or None, if payloads are not recorded."""
    stderr = LineField("stderr", as_is)
    error = LineField("error", text)
    started_ns = LineField("started_ns", whole_number)
    duration_s = LineField("duration_s", seconds)

    @property
    def failed(self) -> bool:
        """Whether it did not exit by itself."""
        return self.ending not in ("exited", "")


class RecordedCall(Record):
    """One hook that was started."""

    raw: dict[str, Json]
    background: str | None = None
    """The hook, of a run in the background."""

    def get(self, key: str) -> Json:
        return self.raw.get(key)

    dialect = LineField("dialect", word)
    native = LineField("native", word)
    handler = LineField("handler", lambda kind: "command" if kind is None else word(kind))
    posture = LineField("posture", lambda word: word_of(word, ON_FAILURE))
    argv = LineField("argv", lambda argv: tuple(map(str, argv)) if isinstance(argv, list) else None)
    cwd = LineField("cwd", text)
    limit_s = LineField("limit_s", lambda limit: limit if isinstance(limit, (int, float)) else None)
    trace = LineField("trace", word)
    """The trace context in its environment; "" for none."""
    again = LineField("again", lambda again: again is True)
    """Whether it was asked a second time, about the final form of the call."""
    cause = LineField("failed", lambda cause: word(cause or None))
    """Why it failed; "" if it did not."""
    run = LineField("run", lambda run: None if run is None else RecordedRun(as_object(run)))
    """None if it runs in the background: that run has its own line."""

    @property
    def hook(self) -> str:
        """Its id; "" if the line has none."""
        named = self.raw.get("hook") if self.background is None else self.background
        return named if isinstance(named, str) else ""

    @property
    def name(self) -> str:
        return word(self.raw.get("name", self.hook))

    @property
    def also(self) -> tuple[tuple[str, str], ...]:
        """Dialect and native event of other declarations that read its answer."""
        named = self.raw.get("also")
        pairs = [pair for pair in named if isinstance(pair, list)] if isinstance(named, list) else []
        return tuple((str(pair[0]), str(pair[1])) for pair in pairs)

    @property
    def failed(self) -> bool:
        return bool(self.cause) or ((run := self.run) is not None and run.failed)


class RecordedEarlier(Record):
    """A call of the session that was before."""

    call: int
    """Its number in the session."""
    at_ns: int
    record: int | None
    """The number of its record in the same journal."""


class RecordedHook(Record):
    """What happened to one hook that was considered."""

    id: str
    status: str
    why: str
    verdict: str | None
    source: str
    shadow: bool = False
    """Whether the hook itself was in shadow mode."""
    earlier: tuple[RecordedEarlier, ...] = ()
    """Calls of the session without which it would not have spoken."""


class RecordedProblem(Record):
    """Something that was wrong on the way."""

    code: str | None
    where: str | None
    what: str | None
    why: str | None
    fix: str | None


class RecordedDecision(Record):
    """What was decided."""

    raw: dict[str, Json]
    """As it is in the line: without the fields that it does not ask for."""

    def get(self, key: str) -> Json:
        return self.raw.get(key)

    verdict = LineField("verdict", text)
    enforced = LineField("enforced", lambda enforced: enforced is not False)
    effect = LineField("effect", text)
    reason = LineField("reason", text)
    hook = LineField("hook", text)
    """The hook that decided."""
    hooks = LineField("hooks", lambda rows: tuple(map(_hook, objects(rows))))
    answered = LineField("answered", as_object)
    """Who answered when a hook asked, and when; {} if nobody did."""

    @property
    def asked(self) -> dict[str, Json]:
        """What it asks for, by the field of a decision."""
        return {field: self.raw[field] for field in ASKED_FOR if field in self.raw}

    @property
    def shadowed(self) -> RecordedHook | None:
        """The hook in shadow mode that would have stopped or asked, if nothing else did."""
        if not self.enforced or self.verdict in ("block", "ask"):
            return None
        wanted = [hook for word in ("block", "ask") for hook in self.hooks if hook.shadow and hook.verdict == word]
        return wanted[0] if wanted else None

    @property
    def problems(self) -> tuple[RecordedProblem, ...]:
        return tuple(
            RecordedProblem(*[text(each.get(field)) for field in RecordedProblem.fields])
            for each in objects(self.raw.get("problems"))
        )

    @property
    def lost(self) -> bool:
        """Whether it could not be written down."""
        return "lost" in self.raw

    def has_problem(self, code: str) -> bool:
        return any(problem.get("code") == code for problem in objects(self.raw.get("problems")))


class JournalLine(Record):
    """One line: its bytes, and what they say."""

    raw: bytes
    record: dict[str, Json] | None
    """The object that the line is; None for a damaged line."""
    offset: int = 0
    """What its machine's records are counted from, if it is one of many."""
    machine: str = ""
    """The machine that it is from, if it is one of many."""

    @classmethod
    def of(cls, record: dict[str, Json]) -> JournalLine:
        """A line without its bytes."""
        return cls(b"", record)

    def get(self, key: str) -> Json:
        return None if self.record is None else self.record.get(key)

    at_ns = LineField("at", whole_number)
    """When it was written, in nanoseconds since 1970."""
    host = LineField("host", text)
    project = LineField("project", text)
    session = LineField("session", text)
    mode = LineField("mode", text)
    event = LineField("event", text)
    data = LineField("data", as_object)
    """The fields of the event."""
    lost = LineField("lost", word)
    """Why the event's data could not be recorded; "" if it was."""
    has_bodies = LineField("bodies", lambda kind: kind is None)
    """Whether payloads were recorded in full."""
    hosted = LineField("hosted", bool)
    events = LineField("events", lambda count: whole_number(count) or 1)
    """How many events this line stands for."""
    parent = LineField("parent", word)
    """The trace context that the caller was in; "" for none."""
    after = LineField("after", text)
    """The hash of the last line of the file before, in the first line of a file."""
    decision = LineField("decision", lambda found: RecordedDecision(found) if isinstance(found, dict) else None)
    """None if the line has none, as that of a background run."""

    @property
    def n(self) -> int | None:
        n = whole_number(self.get("n"))
        return None if n is None else n + self.offset

    @property
    def number(self) -> int:
        """The same; 0 if it has none."""
        return self.n or 0

    @property
    def tool(self) -> str | None:
        return text(self.data.get("tool"))

    @property
    def has_data(self) -> bool:
        """Whether the event's own data is here: not if it could not be written, nor if the line only
        counts events."""
        return isinstance(self.get("data"), dict) and "lost" not in (self.record or {}) and not self.get("events")

    @property
    def background(self) -> str | None:
        """The hook whose run in the background this line is about; None for a line about an event."""
        return word(self.record["background"]) if self.record and "background" in self.record else None

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """The hooks that were started, in order; of a background run that one."""
        if self.record is not None and (hook := self.background) is not None:
            return (RecordedCall(self.record, hook),)
        return tuple(map(RecordedCall, objects(self.get("calls"))))

    @property
    def own_decision(self) -> RecordedDecision | None:
        """What the hooks of this event alone decided, if the decision is about several events of one call."""
        found = self.get("own")
        return RecordedDecision(found) if isinstance(found, dict) else self.decision

    @property
    def earlier(self) -> list[int]:
        """The records of earlier calls without which the hooks would not have spoken."""
        hooks = self.decision.hooks if self.decision is not None else ()
        found = (each.record for hook in hooks for each in hook.earlier)
        return [*dict.fromkeys(number + self.offset for number in found if number is not None)]

    @property
    def reached(self) -> list[str]:
        """The hooks that took part: started, broken, or skipped; not those that did not match."""
        return [] if self.record is None else reached(self.record)


def read_line(line: bytes) -> JournalLine:
    return JournalLine(line, parsed(line))


def parsed(line: bytes) -> dict[str, Json] | None:
    """The object in a line; None if it is not one."""
    try:
        record = lean_json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def reached(record: dict[str, Json]) -> list[str]:
    """As `JournalLine.reached`, for searches through very many lines."""
    if "background" in record:
        return [str(record["background"])]
    rows = objects(as_object(record.get("decision")).get("hooks"))
    return [str(row.get("id")) for row in rows if row.get("status") not in NOT_REACHED]


def _hook(row: dict[str, Json]) -> RecordedHook:
    verdict = text(row.get("verdict"))
    return RecordedHook(
        str(row.get("id")), str(row.get("status")), word(row.get("why")), verdict, word(row.get("source")),
        row.get("shadow") is True, tuple(map(_earlier, objects(row.get("earlier")))),
    )  # fmt: skip


def _earlier(row: dict[str, Json]) -> RecordedEarlier:
    call, at_ns = (whole_number(row.get(name)) or 0 for name in ("call", "at"))
    return RecordedEarlier(call, at_ns, whole_number(row.get("record")))


def about(data: Mapping[str, Json]) -> str:
    """What an event is about, in one line: the command, the path, the prompt. "" if nothing says it."""
    found = next((data[field] for field in ABOUT_FIELDS if field in data), None)
    if isinstance(found, dict):
        found = next((value for value in found.values() if isinstance(value, str) and value), None)
    return " ".join(str(found).split()) if found else ""
