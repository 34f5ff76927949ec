"""Runs: what statistics need from every run of every hook, in columns, with a few bytes per run."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

from anyhook.journal.read import JournalLine, RecordedHook, RecordedRun, read_line
from anyhook.model.outcome import BLOCK
from anyhook.model.record import Record

About = tuple[str | None, str | None, str | None, str | None, str | None]
"""Host, project, session, event, tool."""
Kind = tuple[str | None, str | None, str | None, str | None, str | None, str | None, int]
"""All that, the verdict, and the marks below: what many runs of a hook have in common."""
Run = tuple[int, str, Kind, float]
"""When, of which hook, of what kind, how many seconds."""
Plain = tuple[list[tuple[str, list[Kind], int]], bytes, bytes, bytes, bytes]
SHADOW, FAILED, TIMED_OUT, BACKGROUND, OFF = 1, 2, 4, 8, 16

EACH_EVENT = ""
"""Every event counts as a run of this: of nothing. Its seconds are the number of events in the record, its mark SHADOW
says that shadow mode let something pass that would have been refused, OFF that a hook waited for approval or was turned
off."""

MAX_AT = 2**63 - 1


class HookRuns(Record):
    """The runs of one hook, in the order of their times."""

    hook: str
    kinds: list[Kind]
    at: array[int]
    kind: array[int]
    """For each run, the index of its kind."""
    spent_s: array[float]
    took_s: array[float]
    """The same by four digits, for percentiles: rounding takes longer than reading."""
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


def plain(hooks: Sequence[HookRuns]) -> Plain:
    """As plain values, to be stored or sent to another process."""
    at, kind, spent, took = array("q"), array("L"), array("d"), array("d")
    for each in hooks:
        at.extend(each.at)
        kind.extend(each.kind)
        spent.extend(each.spent_s)
        took.extend(each.took_s)
    names = [(each.hook, each.kinds, len(each.at)) for each in hooks]
    return names, at.tobytes(), kind.tobytes(), spent.tobytes(), took.tobytes()


def from_plain(stored: Plain, machine: str = "") -> Iterator[HookRuns]:
    names, *texts = stored
    at, kind, spent, took = array("q", texts[0]), array("L", texts[1]), array("d", texts[2]), array("d", texts[3])
    start = 0
    for hook, kinds, count in names:
        end = start + count
        columns = (at[start:end], kind[start:end], spent[start:end], took[start:end])
        yield HookRuns(hook, kinds, *columns, machine)
        start = end


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


def columns_of(lines: Iterable[bytes]) -> list[HookRuns]:
    """The runs in these lines, hook by hook."""
    by_hook: dict[str, list[tuple[int, int, float]]] = {}
    kinds: dict[str, dict[Kind, int]] = {}
    for line in lines:
        for at, hook, kind, spent in runs_of(read_line(line)):
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
    return made


def runs_of(line: JournalLine) -> Iterator[Run]:
    """The runs in a line; a rule that applied counts as a run that took no time."""
    at = None if line.record is None else line.record.get("at")
    if not isinstance(at, int) or not 0 <= at <= MAX_AT:
        return
    if line.background is not None:
        yield from ((at, *each) for each in _ended_later(line))
        return
    decision, about = line.decision, (line.host, line.project, line.session, line.event, line.tool)
    hooks = decision.hooks if decision is not None else ()
    yield from ((at, *each) for each in _called(line, about, hooks))
    if decision is None:
        yield at, EACH_EVENT, (*about, None, 0), float(line.events)
        return
    yield from ((at, *each) for each in _ruled(line, about, hooks, decision.verdict))
    would = decision.shadowed
    shadow = (decision.verdict == BLOCK and not decision.enforced) or (would is not None and would.verdict == BLOCK)
    marks = shadow * SHADOW | any(each.status in ("untrusted", "disabled") for each in hooks) * OFF
    yield at, EACH_EVENT, (*about, decision.verdict, marks), float(line.events)


def _ended_later(line: JournalLine) -> Iterator[tuple[str, Kind, float]]:
    """The runs of a line about background hooks."""
    for call in line.calls:
        if (run := call.run) is not None:
            marks = _marks(None, "" if run.exit_code == 0 else run.ending, run) | BACKGROUND
            yield call.hook, (None, None, None, None, None, "none", marks), run.duration_s or 0.0


def _called(line: JournalLine, about: About, hooks: Sequence[RecordedHook]) -> Iterator[tuple[str, Kind, float]]:
    """The hooks that were started."""
    verdicts, shadowed = {hook.id: hook.verdict for hook in hooks}, {hook.id for hook in hooks if hook.shadow}
    asked_again = {call.hook for call in line.calls if call.again}
    for call in line.calls:
        if (run := call.run) is not None and (hook := call.hook):
            marks = _marks(line.mode, call.cause, run) | (hook in shadowed) * SHADOW
            # One verdict of two runs is counted once, with the later of them.
            verdict = "none" if hook in asked_again and not call.again else verdicts.get(hook, "none")
            yield hook, (*about, verdict, marks), run.duration_s or 0.0


def _ruled(
    line: JournalLine, about: About, hooks: Sequence[RecordedHook], decided: str | None
) -> Iterator[tuple[str, Kind, float]]:
    """The rules that applied: hooks that ran and were not started."""
    started = {call.hook for call in line.calls}
    for each in hooks:
        if each.id and each.id not in started and each.status == "ran" and each.verdict:
            shadow = line.mode == "shadow" or each.shadow or (each.verdict == BLOCK and decided != BLOCK)
            yield each.id, (*about, each.verdict, shadow * SHADOW), 0.0


def _marks(mode: str | None, cause: str, run: RecordedRun) -> int:
    broken = bool(cause) or run.failed
    return (mode == "shadow") * SHADOW | broken * FAILED | (run.ending == "timed_out") * TIMED_OUT
