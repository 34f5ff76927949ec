"""Backtest: try today's hooks on past events. Every pair of hook and event runs once, its result is stored, and an
interrupted backtest can continue."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from anyhook.engine.interpret import interpret
from anyhook.engine.merge import judge
from anyhook.journal.machines import NUMBER_STEP
from anyhook.journal.read import JournalLine, RecordedRun, about
from anyhook.journal.record import JournalPolicy, clean, clipped, run_fields
from anyhook.journal.runs import Durations
from anyhook.journal.search import PROOF, Wanted, newest
from anyhook.model import lean_json
from anyhook.model.call import Run
from anyhook.model.event import EVENTS, Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.lean_json import digest
from anyhook.model.outcome import ASK, BLOCK, SILENT, STOPPING, Outcome
from anyhook.model.record import Record
from anyhook.model.words import Posture
from anyhook.replay.imported import pasts, search_all
from anyhook.replay.rejudge import Unjudgeable, event_in, is_repeated, left_out, run_from
from anyhook.replay.trial import Trial, run_batch
from anyhook.tables.rows import Dialect, EventRow
from anyhook.tables.translate import REWRITES, completed, to_host, to_native

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from anyhook.replay.trial import Result

    FindingKind = Literal["blocks", "asks", "lets go", "rewrites", "fails"]

    Answered = tuple[list[Result], bool]
    Pair = tuple["Subject", Callable[[str], Trial] | Outcome]

MIN_BATCH, MAX_BATCH = 25, 5_000
"""A long-lived interpreter has to start first, so its batches should be large. The first is small and each next one
twice as large, because the total is unknown. Others stay small, because an interrupted batch is lost."""
AHEAD = 3
"""How many batches wait for each worker."""
EXAMPLES = 1_000
"""How many of the differing events are shown as JSON; the rest is counted."""
PARTS_EACH = 8
"""How many parts of many journals there are for each worker."""
COUNTED = "CREATE TEMP TABLE counted (key TEXT PRIMARY KEY) WITHOUT ROWID"
"""The runs that a tally has seen. On disk, since they may be very many."""
TABLES = (
    "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, hook TEXT, warm INTEGER, run TEXT) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS by_hook ON results (hook, warm)",
)


class WorkerLost(Exception):  # noqa: N818 (it says what happened)
    """Why a batch failed; earlier results are stored."""


class Subject(Record):
    """One hook that is tried."""

    hook: Hook
    dialect: Dialect
    row: EventRow
    content: str
    """Declaration, files and sandbox, as one hash: if they change, there are new results."""
    posture: Posture


class Finding(Record):
    """One past event that a hook would handle differently."""

    n: Json
    at: Json
    event: str
    tool: Json
    about: str
    """What the event is about, in one line."""
    hook: str
    kind: FindingKind
    """`blocks` and `asks` are about calls that passed then, `lets go` about calls that this hook blocked then."""
    what: str
    """The reason; of a rewrite, the field."""
    before: Json = None
    after: Json = None
    """Of a rewrite: the value then, and now."""


class Tally:
    """What one hook did on all events."""

    def __init__(self) -> None:
        self.events = self.runs = self.blocks = self.rewrites = self.failures = self.asks = self.warm = 0
        self.cold = Durations()

    def as_dict(self) -> dict[str, Json]:
        return {
            "events": self.events,
            "runs": self.runs,
            "warm": self.warm,
            "blocks": self.blocks,
            "asks": self.asks,
            "rewrites": self.rewrites,
            "failures": self.failures,
            "p50_ms": self.cold.percentile_ms(0.5),
            "p95_ms": self.cold.percentile_ms(0.95),
            "cost_s": round(self.cold.mean() * self.events, 3),
        }

    @property
    def speaks(self) -> bool:
        """Whether it would have done anything."""
        return bool(self.blocks or self.asks or self.rewrites or self.failures or self.runs)

    def add(self, outcome: Outcome, *, failed: bool) -> None:
        self.events += 1
        if outcome is SILENT:
            return
        self.blocks += outcome.verdict == BLOCK
        self.asks += outcome.verdict == ASK
        self.rewrites += any(getattr(outcome, rewrite) is not None for _, rewrite in REWRITES)
        self.failures += failed

    def add_run(self, duration_s: float, *, warm: bool) -> None:
        self.runs += 1
        self.warm += warm
        if not warm:
            self.cold.add(duration_s)

    def merge(self, other: Tally) -> None:
        """Add what the same rule did on other events."""
        self.events += other.events
        self.blocks += other.blocks
        self.asks += other.asks
        self.rewrites += other.rewrites
        self.failures += other.failures


class Tallied(Record):
    """The result: a tally per hook, the newest events that differ, how many do, and why events were left out."""

    tallies: dict[str, Tally]
    findings: list[Finding]
    count: int
    left_out: dict[str, int]


def put_together(parts: Iterable[Tallied], most: int) -> Tallied:
    """The result of rules on several journals, from those on each."""
    whole = Tallied({}, [], 0, {})
    for part in parts:
        for hook, tally in part.tallies.items():
            whole.tallies.setdefault(hook, Tally()).merge(tally)
        for why, left in part.left_out.items():
            whole.left_out[why] = whole.left_out.get(why, 0) + left
        newest_last = sorted((*whole.findings, *part.findings), key=_when)
        whole = whole.replace(findings=newest_last[-most:], count=whole.count + part.count)
    return whole


def _when(finding: Finding) -> tuple[int, ...]:
    return tuple(each if isinstance(each, int) else 0 for each in (finding.at, finding.n))


def as_one_of_many(finding: Finding, place: int) -> Finding:
    """With the number that its record has among those of many machines."""
    return finding.replace(n=finding.n + place * NUMBER_STEP) if isinstance(finding.n, int) else finding


class Backtest:
    """One backtest. `results` is the database with the results of programs. `replay` begins a pass over the past; for
    each event in turn, what it returns gives the matching subjects, each with its trial, or for a rule, which starts
    nothing, its outcome."""

    def __init__(
        self,
        results: str,
        past: str,
        wanted: Wanted,
        replay: Callable[[], Callable[[JournalLine, Event, str], Iterator[Pair]]],
        policy: JournalPolicy,
        *,
        starts: bool = True,
    ) -> None:
        self.past, self.wanted, self.replay, self.policy = past, wanted, replay, policy
        self.left_out: dict[str, int] = {}
        self.cold_only: set[str] = set()
        """Hooks that behaved differently in a long-lived interpreter than in a new process."""
        self.starts = starts
        """Whether any of the hooks is a program."""
        self._under_way: set[str] = set()
        """Keys of trials in progress."""
        self._env: dict[str, str] = {}
        self._tallies: dict[str, Tally] = {}
        self._results = sqlite3.connect(results, timeout=60.0, isolation_level=None)
        self._results.execute("PRAGMA synchronous = OFF")
        for statement in TABLES:
            self._results.execute(statement)

    def close(self) -> None:
        self._results.close()

    # -- running what has not run yet

    def run(self, executor: Executor, workers: int, sandbox: tuple[str, ...], tell: Callable[[int, int], None]) -> None:
        """Run every pair that has no result yet. Rules start nothing: they are judged while they are counted."""
        if not self.starts:
            return
        for again in (False, True):  # the second round is for hooks that turned out to need new processes
            last = self._last()
            tell(0, last)
            for hook, number, (results, strange) in _in_turn(executor, self._batches(), workers * AHEAD, sandbox):
                if strange:
                    self.cold_only.add(hook)
                self._take(hook, results)
                tell(min(number, last - 1), last)
            tell(last, last)
            if again or not self.cold_only:
                return

    def _batches(self) -> Iterator[tuple[int, list[Trial]]]:
        """Batches of trials of one hook each, for pairs without a result, with the number of the last record read. The
        journal is read lazily."""
        size: dict[str, int] = {}
        made: dict[str, list[Trial]] = {}
        number, pairs = 0, self.replay()
        for line, event, session in self._events():
            number = line.number
            for subject, make in pairs(line, event, session):
                if isinstance(make, Outcome):  # a rule is already evaluated
                    continue
                key, hook = self._key(subject, event, session), subject.hook.id
                if key in self._under_way or self._result(key) is not None:
                    continue
                self._under_way.add(key)
                trials = made.setdefault(hook, [])
                trials.append(self._sendable(make(key)))
                if len(trials) >= size.setdefault(hook, MIN_BATCH):
                    yield number, made.pop(hook)
                    size[hook] = min(MAX_BATCH, size[hook] * 2) if trials[-1].interpreter else MIN_BATCH
        for trials in made.values():
            yield number, trials

    def _sendable(self, trial: Trial) -> Trial:
        """Mark it as cold if needed. Equal environments are shared, so that a batch sends each only once."""
        if trial.call.env == self._env:
            trial = trial.replace(call=trial.call.replace(env=self._env))
        self._env = trial.call.env
        return trial.replace(interpreter="", task=_cold_task(trial.task)) if trial.hook in self.cold_only else trial

    def _result(self, key: str) -> tuple[str, int] | None:
        found: tuple[str, int] | None = self._results.execute(
            "SELECT run, warm FROM results WHERE key = ?", (key,)
        ).fetchone()
        return found

    def _take(self, hook: str, results: list[Result]) -> None:
        """Store results. For a hook that needs new processes, drop all results without one, also earlier ones: after an
        interruption they would count as correct."""
        self._results.execute("BEGIN")
        if hook in self.cold_only:
            self._results.execute("DELETE FROM results WHERE hook = ? AND warm = 1", (hook,))
        for key, run, warm in results:
            self._under_way.discard(key)
            if warm and hook in self.cold_only:
                continue
            text = clean(run_fields(run, self.policy), self.policy)
            self._results.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", (key, hook, int(warm), text))
        self._results.execute("COMMIT")

    # -- the result

    def tally(self, tell: Callable[[int, int], None], most: int) -> Tallied:
        """Combine all events with the results, and show this many of the events that differ."""
        tallies = self._tallies = {}
        findings: deque[Finding] = deque(maxlen=most)
        count, last, pairs = 0, self._last(), self.replay()
        self._results.execute(COUNTED)
        self._results.execute("BEGIN")
        for line, event, session in self._events():
            tell(line.number, last)
            found: list[Finding] = []
            blocks = False
            for subject, make in pairs(line, event, session):
                judged = self._judged(subject, make, event, session)
                if judged is None:
                    continue
                read, outcome = judged
                blocks = blocks or outcome.verdict == BLOCK
                self._tally(subject).add(outcome, failed=read.failure is not None)
                found += _finding(line, event, subject.hook.id, outcome, read)
            told = [each for each in found if not (blocks and each.kind == "lets go")]  # another one blocks it
            findings += told
            count += len(told)
        self._results.execute("COMMIT")
        tell(last, last)
        return Tallied(tallies, [*findings], count, self.left_out)

    def _tally(self, subject: Subject) -> Tally:
        found = self._tallies.get(subject.hook.id)
        if found is None:
            found = self._tallies[subject.hook.id] = Tally()
        return found

    def _judged(
        self, subject: Subject, make: Callable[[str], Trial] | Outcome, event: Event, session: str
    ) -> tuple[Outcome, Outcome] | None:
        """What the subject asks for, and what that counts for."""
        if make is SILENT:  # most rules about most events
            return SILENT, SILENT
        if isinstance(make, Outcome):
            return make, judge(subject.hook, subject.dialect, subject.row, make, subject.posture, {})
        return self._ran(subject, event, session)

    def _ran(self, subject: Subject, event: Event, session: str) -> tuple[Outcome, Outcome] | None:
        """What the kept run of a hook asked for, and what that counts for, or None if no run can be judged."""
        key = self._key(subject, event, session)
        result = self._result(key)
        if result is None:
            return None
        try:
            run = run_from(_kept_run(result[0]))
        except Unjudgeable as error:
            why = f"a run of {subject.hook.id}: {error}"
            self.left_out[why] = self.left_out.get(why, 0) + 1
            return None
        if self._results.execute("INSERT OR IGNORE INTO counted VALUES (?)", (key,)).rowcount:
            self._tally(subject).add_run(run.duration_s, warm=bool(result[1]))
        return _judged(subject, event, run)

    def _last(self) -> int:
        """The number of the newest record."""
        return max((found.number for folder in pasts(self.past) for found in newest(folder, Wanted(), 1)), default=0)

    # -- the events

    def _events(self) -> Iterator[tuple[JournalLine, Event, str]]:
        """The recorded events that can be fired again; the others are counted by their reason."""
        self.left_out = {}
        for line in search_all(self.past, self.wanted):
            if line.event not in EVENTS or line.host == PROOF or is_repeated(line):
                continue
            if why := left_out(line):
                self.left_out[why] = self.left_out.get(why, 0) + 1
                continue
            yield line, event_in(line), str(line.session)

    def _key(self, subject: Subject, event: Event, session: str) -> str:
        """The same hook, the same event: the same key."""
        text = lean_json.dumps([subject.content, event.name, event.hosted, session, event.data])
        return digest(text.encode())


def _in_turn(
    executor: Executor, batches: Iterator[tuple[int, list[Trial]]], max_waiting: int, sandbox: tuple[str, ...]
) -> Iterator[tuple[str, int, Answered]]:
    """Hook, number and answer of each batch, with this many in progress. An interruption cancels the rest."""
    waiting: deque[tuple[str, int, Future[Answered]]] = deque()

    def answered() -> tuple[str, int, Answered]:
        hook, number, future = waiting.popleft()
        return hook, number, _answer_of(future)

    try:
        for number, batch in batches:
            future = executor.submit(run_batch, batch, sandbox)
            waiting.append((batch[0].hook, number, future))
            while len(waiting) > max_waiting or (waiting and waiting[0][2].done()):
                yield answered()
        while waiting:
            yield answered()
    finally:
        for _, _, future in waiting:
            future.cancel()


def spread(
    executor: Executor, workers: int, journals: Sequence[str], judge: Callable[[Sequence[tuple[int, str]]], Tallied],
    tell: Callable[[int, int], None],
) -> Iterator[Tallied]:  # fmt: skip
    """The results of rules on many journals, judged by workers, which take a few at a time."""
    size = -(-len(journals) // (workers * PARTS_EACH))
    numbered = [*enumerate(journals)]
    waiting = [executor.submit(judge, numbered[start : start + size]) for start in range(0, len(numbered), size)]
    try:
        for done, future in enumerate(waiting):
            tell(done, len(waiting))
            yield _answer_of(future)
    finally:
        for future in waiting:
            future.cancel()


_Answer = TypeVar("_Answer")


def _answer_of(future: Future[_Answer]) -> _Answer:
    try:
        return future.result()
    except Exception as error:
        raise WorkerLost(f"{type(error).__name__}: {error}") from error


def _cold_task(task: tuple[object, ...]) -> tuple[object, ...]:
    return task if task[:1] == ("callable",) else ()


def _kept_run(text: str) -> RecordedRun | None:
    """A run from the stored results."""
    kept = lean_json.loads(text)
    return RecordedRun(kept) if isinstance(kept, dict) else None


def _judged(subject: Subject, event: Event, run: Run) -> tuple[Outcome, Outcome]:
    """What the run asks for, and how that counts, with the names of the event's host."""
    hook, table = subject.hook, subject.dialect
    read = interpret(hook, table.replies[hook.handler], event.name, run)
    whole = completed(read, to_native(event, table), table, hook)
    return read, to_host(judge(hook, table, subject.row, whole, subject.posture, {}), event, table)


def _verdict_now(before: dict[str, Json], hook: str, outcome: Outcome) -> tuple[FindingKind, str] | None:
    """What a hook's verdict changes about a recorded decision, and the reason."""
    was = before.get("verdict")
    if outcome.verdict == BLOCK:
        return None if was == BLOCK else ("blocks", outcome.reason or "")
    if was == BLOCK:
        return ("lets go", str(before.get("reason"))) if before.get("hook") == hook else None
    return ("asks", outcome.reason or "") if outcome.verdict == ASK != was else None


def _finding(line: JournalLine, event: Event, hook: str, outcome: Outcome, read: Outcome) -> list[Finding]:
    decision = line.decision
    before: dict[str, Json] = {} if decision is None else decision.raw
    changes: list[tuple[FindingKind, str, Json, Json]] = []
    if (verdict := _verdict_now(before, hook, outcome)) is not None:
        changes.append((*verdict, None, None))
    elif outcome is SILENT:
        return []
    elif not (before.get("verdict") == BLOCK and before.get("effect") in STOPPING):  # else nothing has used a rewrite
        for field, rewrite in REWRITES:
            value, was = getattr(outcome, rewrite), before.get(rewrite)
            if value is not None and was not in (value, clipped(value)):
                changes.append(("rewrites", field, event.data.get(field) if was is None else was, value))
    if read.failure is not None:
        changes.append(("fails", read.failure.detail, None, None))
    if not changes:
        return []
    return [Finding(line.n, line.at_ns, event.name, event.data.get("tool"), about(event.data), hook, *changes[0])]
