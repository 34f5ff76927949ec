"""Line parts: the needed parts of a record's line, found in its bytes, twice as fast as by parsing it. A line that we
may not have written ourselves is left to the parser."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING

from anyhook.journal.read import read_line
from anyhook.model.outcome import BLOCK
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Call = tuple[bytes, bytes, bytes, bytes, bytes]
    """From `hook` to `limit_s`, and of that `hook` alone; from `failed` to `error`, and of that up to `ending`; the
    seconds. Each is the inside of an object."""
    Parts = tuple[bytes, bytes, bytes, list[Call], bytes, bytes]
    """Time; from `host` to `event`, as the inside of an object; the tool; the calls; the decision; its hooks, as the
    inside of a list. All is JSON."""
    from collections.abc import Iterable, Iterator

    from anyhook.journal.read import JournalLine, RecordedHook, RecordedRun

    Kind = tuple[str | None, str | None, str | None, str | None, str | None, str | None, int]
    """Host, project, session, event, tool, verdict, and the marks below: what many runs of a hook have in common."""
    Run = tuple[int, str, Kind, float]
    """When, of which hook, of what kind, how many seconds."""
    Plain = tuple[list[tuple[str, list[Kind], int]], bytes, bytes, bytes, bytes]
_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXTS = rf"\[(?:{_TEXT}(?:, {_TEXT})*+)?+\]"
_MAYBE = rf"(?:null|{_TEXT})"
_NUMBER = r"[-+.\deE]++"
_CALL = (
    rf'{{(("hook": {_TEXT}), "name": {_TEXT}, "dialect": {_TEXT}, "native": {_TEXT}(?:, "handler": {_TEXT})?+'
    rf'(?:, "posture": {_TEXT})?+(?:, "model": {_TEXT})?+, "argv": {_TEXTS}, "cwd": {_TEXT}, "env": {_TEXTS}, '
    rf'"limit_s": {_NUMBER})(?:, "trace": {_TEXT})?+, (("failed": {_MAYBE}, "run": {{"ending": {_TEXT}), '
    rf'"exit_code": (?:null|-?\d++)(?:, "stdout": {_TEXT})?+(?:, "stderr": {_TEXT})?+, "error": {_MAYBE}), '
    rf'"started_ns": \d++, "duration_s": ({_NUMBER})}}}}'
)

_ONE_CALL = re.compile(_CALL.encode())

_MORE_CALLS = rf"((?:, {re.sub(r'[(](?![?])', '(?:', _CALL)})*+)"
_LINE = re.compile(
    (
        rf'{{"v": 1, "at": (\d{{1,19}}+), ("host": {_TEXT}, "project": {_TEXT}, "mode": {_TEXT}'
        rf'(?:, "parent": {_TEXT})?+, "session": {_TEXT}, "event": {_TEXT}), "data": {{(?:"tool": ({_TEXT}))?+'
        rf'(?:[^\[\n]*+\[)+?(?<=, "calls": \[)(?:{_CALL}{_MORE_CALLS})?+\], '
        r'"decision": ({"verdict": (?:[^\[\n]*+\[)+?(?<="hooks": \[)([^]\n]*+)\](?:, "unmet": \d++)?+'
        r'(?:, "problems": \[\])?+}), '
        r'"n": \d++, "hash": "\w++"}\n'
    ).encode()
)

_decoder = json.JSONDecoder()


def parts_of(line: bytes) -> Parts | None:
    """The parts of a line; None if it takes the parser to find them.

    A key in its quotes, before a colon, is a key wherever it stands: inside a text its quotes would have backslashes.
    Only the event's data, and what a decision asks for, hold keys that are not ours. So where `calls` stands once in
    the line, it is the record's own; and the hooks end where the decision ends."""
    found = _LINE.fullmatch(line)
    if found is None or line.count(b'"calls": ') != 1:
        return None
    at, about, tool, called, hook, run, ended, spent, more, decision, hooks = found.groups()
    if tool is None:
        tool = _tool_of(line, found.end(2) + len(b', "data": '), found.start(10))
        if tool is None:
            return None
    calls = [] if called is None else [(called, hook, run, ended, spent)]
    if more:
        calls += _ONE_CALL.findall(more)
    return at, about, tool, calls, decision, hooks


def _tool_of(line: bytes, start: int, end: int) -> bytes | None:
    """The tool of data that does not start with it; None if it is not a text."""
    if line.find(b'"tool": ', start, end) < 0:
        return b"null"
    try:
        data: Json
        data, _ = _decoder.raw_decode(line[start:].decode("ascii"))
    except (ValueError, RecursionError):
        return None
    tool = data.get("tool") if isinstance(data, dict) else None
    return json.dumps(tool).encode() if tool is None or isinstance(tool, str) else None


# Runs: what statistics need from every run of every hook, in columns, with a few bytes per run.


SHADOW, FAILED, TIMED_OUT, BACKGROUND, OFF = 1, 2, 4, 8, 16

EACH_EVENT = ""
"""Every event counts as a run of this: of nothing. Its seconds are the number of events in the record, its mark SHADOW
says that shadow mode let something pass that would have been refused, OFF that a hook waited for approval or was turned
off."""

MAX_AT = 2**63 - 1

MAX_REMEMBERED = 10_000

RAN = b'"status": "ran"'


class HookRuns(Record):
    """The runs of one hook, in the order of their times."""

    hook: str
    kinds: list[Kind]
    at: array[int]
    kind: array[int]
    """For each run, the index of its kind."""
    spent_s: array[float]
    took_s: array[float]
    """The same by four digits, for percentiles."""
    machine: str = ""
    """The machine that they are from, if it is one of many."""

    def part(self, low: int, high: int, chosen: list[bool]) -> HookRuns:
        """The runs between two positions whose kind is chosen."""
        at, kind, spent, took = self.at[low:high], self.kind[low:high], self.spent_s[low:high], self.took_s[low:high]
        if not all(chosen):
            right = [chosen[each] for each in kind]
            at, kind = array("q", compress(at, right)), array("L", compress(kind, right))
            spent, took = array("d", compress(spent, right)), array("d", compress(took, right))
        return HookRuns(self.hook, self.kinds, at, kind, spent, took, self.machine)


class Columns:
    """The runs of a part of the journal, hook by hook."""

    def __init__(self, hooks: list[HookRuns]) -> None:
        self.hooks = hooks

    def plain(self) -> Plain:
        """As plain values, to be stored or sent to another process."""
        at, kind, spent, took = array("q"), array("L"), array("d"), array("d")
        for each in self.hooks:
            at.extend(each.at)
            kind.extend(each.kind)
            spent.extend(each.spent_s)
            took.extend(each.took_s)
        names = [(each.hook, each.kinds, len(each.at)) for each in self.hooks]
        return names, at.tobytes(), kind.tobytes(), spent.tobytes(), took.tobytes()

    @classmethod
    def of(cls, plain: Plain, machine: str = "") -> Columns:
        names, *texts = plain
        at, kind, spent, took = array("q", texts[0]), array("L", texts[1]), array("d", texts[2]), array("d", texts[3])
        hooks: list[HookRuns] = []
        start = 0
        for hook, kinds, count in names:
            end = start + count
            columns = (at[start:end], kind[start:end], spent[start:end], took[start:end])
            hooks.append(HookRuns(hook, kinds, *columns, machine))
            start = end
        return cls(hooks)


class Durations:
    """In seconds. Callers that have rounded already may add to `counts` directly."""

    def __init__(self) -> None:
        self.counts: Counter[float] = Counter()

    def add(self, seconds: float) -> None:
        self.counts[rounded(seconds)] += 1

    def mean(self) -> float:
        total = sum(seconds * count for seconds, count in self.counts.items())
        return total / self.counts.total() if self.counts else 0.0

    def percentile_ms(self, part: float) -> float | None:
        """The nearest rank: the smallest duration that this share of all durations did not exceed, or None."""
        rank = max(1, -int(-self.counts.total() * part // 1))
        for seconds in sorted(self.counts):
            rank -= self.counts[seconds]
            if rank <= 0:
                return round(seconds * 1000, 3)
        return None


def rounded(seconds: float) -> float:
    """By four digits."""
    return round(seconds, 2 + (seconds < 0.01) + (seconds < 0.1) + (seconds < 1) + (seconds < 10))


def columns_of(lines: Iterable[bytes]) -> Columns:
    """The runs in these lines."""
    reading = _RunReader()
    by_hook: dict[str, list[tuple[int, int, float]]] = {}
    kinds: dict[str, dict[Kind, int]] = {}
    for line in lines:
        for at, hook, kind, spent in reading.runs(line):
            known = kinds.get(hook)
            if known is None:
                known, by_hook[hook] = kinds.setdefault(hook, {}), []
            by_hook[hook].append((at, known.setdefault(kind, len(known)), spent))
    made: list[HookRuns] = []
    for hook, runs in by_hook.items():
        runs.sort()
        times, places, spent_s = zip(*runs, strict=True)
        took_s = array("d", map(rounded, spent_s))
        columns = (array("q", times), array("L", places), array("d", spent_s), took_s)
        made.append(HookRuns(hook, [*kinds[hook]], *columns))
    return Columns(made)


class _RunReader:
    """Remembers what bytes that occur in many lines mean."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[bytes, ...], tuple[str, Kind]] = {}
        self._rules: dict[tuple[bytes, ...], bool] = {}
        self._events: dict[tuple[bytes, ...], Kind] = {}

    def runs(self, line: bytes) -> Iterable[Run]:
        parts = parts_of(line)
        if parts is None or b', "events": ' in line:
            return runs_of(read_line(line))
        at, about, tool, calls, decision, hooks = parts
        if RAN in hooks and self._unstarted((hooks, *[call[1] for call in calls])):
            return runs_of(read_line(line))
        made: list[Run] = []
        for _, hook, _, ended, spent in calls:
            key = about, tool, hook, ended, hooks
            known = self._kinds.get(key) or self._kind(key)
            made.append((int(at), *known, float(spent)))
        made.append(
            (int(at), EACH_EVENT, self._events.get((about, tool, decision)) or self._event(about, tool, decision), 1.0)
        )
        return made

    def _event(self, about: bytes, tool: bytes, decision: bytes) -> Kind:
        """The kind of event."""
        kind = _event_kind(read_line(b'{%b, "data": {"tool": %b}, "decision": %b}' % (about, tool, decision)))
        if len(self._events) >= MAX_REMEMBERED:
            self._events.clear()
        self._events[about, tool, decision] = kind
        return kind

    def _unstarted(self, key: tuple[bytes, ...]) -> bool:
        """Whether one of these hooks ran without being started, as rules do."""
        known = self._rules.get(key)
        if known is None:
            hooks, *started = key
            ran = {each.id for each in _decided(hooks) if each.status == "ran" and each.verdict}
            known = bool(ran - {read_line(b'{"calls": [{%b}]}' % hook).calls[0].hook for hook in started})
            if len(self._rules) >= MAX_REMEMBERED:
                self._rules.clear()
            self._rules[key] = known
        return known

    def _kind(self, key: tuple[bytes, ...]) -> tuple[str, Kind]:
        """The hook and the kind of run, by all parts of a line that decide them."""
        about, tool, hook, ended, hooks = key
        text = b'{%b, "at": 0, "data": {"tool": %b}, "calls": [{%b, %b}}], "decision": {"hooks": [%b]}}'
        _, name, kind, _ = next(runs_of(read_line(text % (about, tool, hook, ended, hooks))))  # the call's own is first
        if len(self._kinds) >= MAX_REMEMBERED:
            self._kinds.clear()
        self._kinds[key] = name, kind
        return name, kind


def _decided(hooks: bytes) -> tuple[RecordedHook, ...]:
    decision = read_line(b'{"decision": {"hooks": [%b]}}' % hooks).decision
    return decision.hooks if decision is not None else ()


def runs_of(line: JournalLine) -> Iterator[Run]:
    """The runs in a line, however it was written; a rule that applied counts as a run that took no time."""
    at = None if line.record is None else line.record.get("at")
    if not isinstance(at, int) or not 0 <= at <= MAX_AT:
        return
    if line.background is not None:
        yield from ((at, *each) for each in _ended_later(line))
        return
    yield from ((at, *each) for each in (*_called(line), *_ruled(line)))
    yield at, EACH_EVENT, _event_kind(line), float(line.events)


def _event_kind(line: JournalLine) -> Kind:
    decision, marks = line.decision, 0
    if decision is not None:
        would = decision.shadowed
        shadow = (decision.verdict == BLOCK and not decision.enforced) or (would is not None and would.verdict == BLOCK)
        marks = shadow * SHADOW | any(each.status in ("untrusted", "disabled") for each in decision.hooks) * OFF
    verdict = decision.verdict if decision is not None else None
    return line.host, line.project, line.session, line.event, line.tool, verdict, marks


def _ended_later(line: JournalLine) -> Iterator[tuple[str, Kind, float]]:
    """The runs of a line about background hooks."""
    for call in line.calls:
        if (run := call.run) is not None:
            marks = _marks(None, "" if run.exit_code == 0 else run.ending, run) | BACKGROUND
            yield call.hook, (None, None, None, None, None, "none", marks), run.duration_s or 0.0


def _called(line: JournalLine) -> Iterator[tuple[str, Kind, float]]:
    """The hooks that were started."""
    hooks = line.decision.hooks if line.decision is not None else ()
    verdicts, shadowed = {hook.id: hook.verdict for hook in hooks}, {hook.id for hook in hooks if hook.shadow}
    asked_again = {call.hook for call in line.calls if call.again}
    about = line.host, line.project, line.session, line.event, line.tool
    for call in line.calls:
        if (run := call.run) is not None and (hook := call.hook):
            marks = _marks(line.mode, call.cause, run) | (hook in shadowed) * SHADOW
            # One verdict of two runs is counted once, with the later of them.
            verdict = "none" if hook in asked_again and not call.again else verdicts.get(hook, "none")
            yield hook, (*about, verdict, marks), run.duration_s or 0.0


def _ruled(line: JournalLine) -> Iterator[tuple[str, Kind, float]]:
    """The rules that applied: hooks that ran and were not started."""
    decision, started = line.decision, {call.hook for call in line.calls}
    if decision is None:
        return
    about = line.host, line.project, line.session, line.event, line.tool
    for each in decision.hooks:
        if each.id and each.id not in started and each.status == "ran" and each.verdict:
            shadow = line.mode == "shadow" or each.shadow or (each.verdict == BLOCK and decision.verdict != BLOCK)
            yield each.id, (*about, each.verdict, shadow * SHADOW), 0.0


def _marks(mode: str | None, cause: str, run: RecordedRun) -> int:
    broken = bool(cause) or run.failed
    return (mode == "shadow") * SHADOW | broken * FAILED | (run.ending == "timed_out") * TIMED_OUT
