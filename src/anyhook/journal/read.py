"""A line of the journal, read: who fired what, which hooks were called and how they ended, what was decided. Everything
that explains, lists, counts, replays or exports records uses it.

What no line of this version has in a place counts as missing there: another version may have written the line, or
somebody else."""

from __future__ import annotations

from collections.abc import Mapping

from anyhook.journal.record import ASKED_FOR
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import ON_FAILURE, Posture, word_of

MAX_NUMBER, MAX_SECONDS = 2**62, 1e9
ABOUT_FIELDS = ("input", "prompt", "message", "source", "reason")
NOT_REACHED = ("unmatched", "disabled")


class RecordedRun(Record):
    """How a call ended."""

    raw: dict[str, Json]

    @property
    def ending(self) -> str:
        """ "" if the line does not say it."""
        return text(self.raw.get("ending")) or ""

    @property
    def exit_code(self) -> int | None:
        return code if isinstance(code := self.raw.get("exit_code"), int) else None

    @property
    def stdout(self) -> Json:
        """A text; a hash of it, or None, if payloads are not recorded."""
        return self.raw.get("stdout")

    @property
    def stderr(self) -> Json:
        return self.raw.get("stderr")

    @property
    def error(self) -> str | None:
        return text(self.raw.get("error"))

    @property
    def started_ns(self) -> int | None:
        return whole_number(self.raw.get("started_ns"))

    @property
    def duration_s(self) -> float | None:
        """None if the line does not say it."""
        spent = self.raw.get("duration_s")
        return None if spent is None else seconds(spent)

    @property
    def failed(self) -> bool:
        """Whether it did not exit by itself."""
        return self.ending not in ("exited", "")


class RecordedCall(Record):
    """One hook that was started."""

    raw: dict[str, Json]
    background: str | None = None
    """The hook, of a run in the background."""

    @property
    def hook(self) -> str:
        """Its id; "" if the line has none."""
        named = self.raw.get("hook") if self.background is None else self.background
        return named if isinstance(named, str) else ""

    @property
    def name(self) -> str:
        return text(self.raw.get("name", self.hook)) or ""

    @property
    def dialect(self) -> str:
        return text(self.raw.get("dialect")) or ""

    @property
    def native(self) -> str:
        return text(self.raw.get("native")) or ""

    @property
    def handler(self) -> str:
        return text(self.raw.get("handler", "command")) or ""

    @property
    def posture(self) -> Posture:
        return word_of(self.raw.get("posture"), ON_FAILURE)

    @property
    def argv(self) -> tuple[str, ...] | None:
        return tuple(map(str, argv)) if isinstance(argv := self.raw.get("argv"), list) else None

    @property
    def cwd(self) -> str | None:
        return text(self.raw.get("cwd"))

    @property
    def limit_s(self) -> float | None:
        return limit if isinstance(limit := self.raw.get("limit_s"), (int, float)) else None

    @property
    def trace(self) -> str:
        """The trace context in the hook's environment; "" for none."""
        return text(self.raw.get("trace")) or ""

    @property
    def also(self) -> tuple[tuple[str, str], ...]:
        """Dialect and native event of other declarations that read its answer."""
        named = self.raw.get("also")
        pairs = [pair for pair in named if isinstance(pair, list)] if isinstance(named, list) else []
        return tuple((str(pair[0]), str(pair[1])) for pair in pairs)

    @property
    def again(self) -> bool:
        """Whether it was asked a second time, about the final form of the call."""
        return self.raw.get("again") is True

    @property
    def cause(self) -> str:
        """Why it failed; "" if it did not."""
        return text(self.raw.get("failed") or "") or ""

    @property
    def run(self) -> RecordedRun | None:
        """None if it runs in the background: that run has its own line."""
        run = self.raw.get("run")
        return None if run is None else RecordedRun(_object(run))

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

    @property
    def verdict(self) -> str | None:
        return text(self.raw.get("verdict"))

    @property
    def enforced(self) -> bool:
        return self.raw.get("enforced") is not False

    @property
    def effect(self) -> str | None:
        return text(self.raw.get("effect"))

    @property
    def reason(self) -> str | None:
        return text(self.raw.get("reason"))

    @property
    def hook(self) -> str | None:
        """The hook that decided."""
        return text(self.raw.get("hook"))

    @property
    def asked(self) -> dict[str, Json]:
        """What it asks for, by the field of a decision."""
        return {field: self.raw[field] for field in ASKED_FOR if field in self.raw}

    @property
    def hooks(self) -> tuple[RecordedHook, ...]:
        return tuple(map(_hook, objects(self.raw.get("hooks"))))

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
    def answered(self) -> dict[str, Json]:
        """Who answered when a hook asked, and when; {} if nobody did."""
        found = self.raw.get("answered")
        return found if isinstance(found, dict) else {}

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

    def _get(self, key: str) -> Json:
        return None if self.record is None else self.record.get(key)

    @property
    def n(self) -> int | None:
        n = whole_number(self._get("n"))
        return None if n is None else n + self.offset

    @property
    def number(self) -> int:
        """The same; 0 if it has none."""
        return self.n or 0

    @property
    def at_ns(self) -> int | None:
        """When it was written, in nanoseconds since 1970."""
        return whole_number(self._get("at"))

    @property
    def host(self) -> str | None:
        return text(self._get("host"))

    @property
    def project(self) -> str | None:
        return text(self._get("project"))

    @property
    def session(self) -> str | None:
        return text(self._get("session"))

    @property
    def mode(self) -> str | None:
        return text(self._get("mode"))

    @property
    def event(self) -> str | None:
        return text(self._get("event"))

    @property
    def data(self) -> dict[str, Json]:
        """The fields of the event."""
        return _object(self._get("data"))

    @property
    def tool(self) -> str | None:
        return text(self.data.get("tool"))

    @property
    def has_data(self) -> bool:
        """Whether the event's own data is here: not if it could not be written, nor if the line only
        counts events."""
        return isinstance(self._get("data"), dict) and "lost" not in (self.record or {}) and not self._get("events")

    @property
    def lost(self) -> str:
        """Why the event's data could not be recorded; "" if it was."""
        return text(self._get("lost")) or ""

    @property
    def has_bodies(self) -> bool:
        """Whether payloads were recorded in full."""
        return "bodies" not in (self.record or {})

    @property
    def hosted(self) -> bool:
        return bool(self._get("hosted"))

    @property
    def events(self) -> int:
        """How many events this line stands for."""
        return whole_number(self._get("events")) or 1

    @property
    def parent(self) -> str:
        """The trace context that the caller was in; "" for none."""
        return text(self._get("parent")) or ""

    @property
    def after(self) -> str | None:
        """The hash of the last line of the file before, in the first line of a file."""
        return text(self._get("after"))

    @property
    def background(self) -> str | None:
        """The hook whose run in the background this line is about; None for a line about an event."""
        return text(self.record["background"]) or "" if self.record and "background" in self.record else None

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """The hooks that were started, in order; of a background run that one."""
        if self.record is not None and (hook := self.background) is not None:
            return (RecordedCall(self.record, hook),)
        return tuple(map(RecordedCall, objects(self._get("calls"))))

    @property
    def decision(self) -> RecordedDecision | None:
        """None if the line has none, as that of a background run."""
        found = self._get("decision")
        return RecordedDecision(found) if isinstance(found, dict) else None

    @property
    def own_decision(self) -> RecordedDecision | None:
        """What the hooks of this event alone decided, if the decision is about several events of one call."""
        found = self._get("own")
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
    rows = objects(_object(record.get("decision")).get("hooks"))
    return [str(row.get("id")) for row in rows if row.get("status") not in NOT_REACHED]


def _hook(row: dict[str, Json]) -> RecordedHook:
    verdict = text(row.get("verdict"))
    return RecordedHook(
        str(row.get("id")), str(row.get("status")), text(row.get("why")) or "", verdict, text(row.get("source")) or "",
        row.get("shadow") is True, tuple(map(_earlier, objects(row.get("earlier")))),
    )  # fmt: skip


def _earlier(row: dict[str, Json]) -> RecordedEarlier:
    call, at_ns = (whole_number(row.get(name)) or 0 for name in ("call", "at"))
    return RecordedEarlier(call, at_ns, whole_number(row.get("record")))


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects in a list; other items are ignored."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def text(value: Json) -> str | None:
    """A text; anything else is converted to text."""
    return value if value is None or isinstance(value, str) else str(value)


def whole_number(value: Json) -> int | None:
    """A whole number that fits into 64 bits with room for arithmetic; None for anything else."""
    return value if type(value) is int and 0 <= value < MAX_NUMBER else None


def seconds(value: Json) -> float:
    """A duration; 0 for anything else."""
    return float(value) if isinstance(value, (int, float)) and value is not True and 0 <= value < MAX_SECONDS else 0.0


def about(data: Mapping[str, Json]) -> str:
    """What an event is about, in one line: the command, the path, the prompt. "" if nothing says it."""
    found = next((data[field] for field in ABOUT_FIELDS if field in data), None)
    if isinstance(found, dict):
        found = next((value for value in found.values() if isinstance(value, str) and value), None)
    return " ".join(str(found).split()) if found else ""
