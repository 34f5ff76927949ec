"""Backtest: hooks as they are today, over events of the past. Every pair of hook and event runs once, its result is
kept, and an interrupted backtest goes on where it was. It decides nothing for anybody."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from anyhook.journal.replay import Unjudgeable, run_from
from anyhook.journal.search import search
from anyhook.journal.trial import run_batch, values_of
from anyhook.model import lean_json
from anyhook.model.call import Run
from anyhook.model.digest import hasher
from anyhook.model.event import EVENTS, Event
from anyhook.model.outcome import BLOCK
from anyhook.model.record import Record
from anyhook.steps.interpret import interpret
from anyhook.steps.judge import judge
from anyhook.steps.record import clean, run_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor, Future

    from anyhook.grammar.rows import Dialect, EventRow
    from anyhook.journal.search import Wanted
    from anyhook.journal.trial import Result, Trial
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome
    from anyhook.steps.record import Keeping

BATCH_LEAST, BATCH_MOST = 25, 2_000
"""A living interpreter has to start first, so a batch should be worth it."""
AHEAD = 3
"""How many batches wait for each worker."""
EXAMPLES = 1_000
TABLES = (
    "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, hook TEXT, warm INTEGER, run TEXT) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS by_hook ON results (hook, warm)",
)


class Subject(Record):
    """One hook that is tried."""

    hook: Hook
    dialect: Dialect
    row: EventRow
    content: str
    """Declaration and files, as one hash: whoever changes them gets new results."""
    posture: str


class Finding(Record):
    """One event of the past on which a hook has something else to say than what happened."""

    n: Json
    at: Json
    event: str
    tool: Json
    hook: str
    kind: str
    """`blocks` (it went through then), `lets go` (this hook blocked it then), `rewrites`, `fails`."""
    what: str

    def as_dict(self) -> dict[str, Json]:
        return {field: getattr(self, field) for field in self.fields}


class Tally:
    """What one hook did with all the events."""

    def __init__(self) -> None:
        self.events = self.blocks = self.rewrites = self.failures = self.asks = self.warm = 0
        self.keys: set[str] = set()
        self.cold_s: list[float] = []

    def as_dict(self) -> dict[str, Json]:
        cold = sorted(self.cold_s)
        p50, p95 = (round(cold[int((len(cold) - 1) * part)] * 1000, 3) if cold else None for part in (0.5, 0.95))
        mean = sum(cold) / len(cold) if cold else 0.0
        return {
            "events": self.events,
            "runs": len(self.keys),
            "warm": self.warm,
            "blocks": self.blocks,
            "asks": self.asks,
            "rewrites": self.rewrites,
            "failures": self.failures,
            "p50_ms": p50,
            "p95_ms": p95,
            "cost_s": round(mean * self.events, 3),
        }


class Backtest:
    """One backtest: `pairs` gives for an event the subjects that want it, and for a pair the trial."""

    def __init__(
        self,
        state_dir: str,
        wanted: Wanted,
        pairs: Callable[[Event, str], Iterator[tuple[Subject, Callable[[str], Trial]]]],
        keeping: Keeping,
    ) -> None:
        self.state_dir, self.wanted, self.pairs, self.keeping = state_dir, wanted, pairs, keeping
        self.left_out: dict[str, int] = {}
        self.cold_only: set[str] = set()
        """Hooks that went otherwise in a living interpreter than in a process of their own."""
        self._digest = hasher()
        self._results = sqlite3.connect(f"{state_dir}/backtest.sqlite", timeout=60.0, isolation_level=None)
        self._results.execute("PRAGMA synchronous = OFF")
        for statement in TABLES:
            self._results.execute(statement)

    def close(self) -> None:
        self._results.close()

    # -- running what has not run yet

    def run(self, executor: Executor, workers: int, sandbox: tuple[str, ...], tell: Callable[[int, int], None]) -> None:
        """Run every pair that has no result yet."""
        todo = self._missing()
        for again in (False, True):  # the second round is for hooks that turned out to need a process of their own
            count = len(todo)
            size = min(BATCH_MOST, max(BATCH_LEAST, -(-count // (workers * AHEAD))))
            done = 0
            for results, strange in _in_turn(executor, self._batches(todo, size), workers * AHEAD, sandbox):
                done += self._take(results, strange, todo)
                tell(done, count)
            if again or not self.cold_only:
                return
            for hook in self.cold_only:
                self._results.execute("DELETE FROM results WHERE hook = ? AND warm = 1", (hook,))
            todo = self._missing()

    def _missing(self) -> dict[str, tuple[str, Callable[[], Trial]]]:
        """Key → hook and how its trial is made, for each pair without a result."""
        found: dict[str, tuple[str, Callable[[], Trial]]] = {}
        for _, event, session in self._events():
            for subject, make in self.pairs(event, session):
                key = self._key(subject, event, session)
                known = self._results.execute("SELECT 1 FROM results WHERE key = ?", (key,)).fetchone()
                if key not in found and known is None:
                    found[key] = (subject.hook.id, lambda make=make, key=key: make(key))  # type: ignore[misc]
        return found

    def _batches(self, todo: dict[str, tuple[str, Callable[[], Trial]]], size: int) -> Iterator[list[Trial]]:
        """Trials of one hook each, made when they are about to be sent."""
        by_hook: dict[str, list[str]] = {}
        for key, (hook, _) in todo.items():
            by_hook.setdefault(hook, []).append(key)
        for hook, keys in by_hook.items():
            for start in range(0, len(keys), size):
                trials = [todo[key][1]() for key in keys[start : start + size]]
                if hook in self.cold_only:
                    trials = [trial.replace(interpreter="", task=_cold_task(trial.task)) for trial in trials]
                yield trials

    def _take(self, results: list[Result], strange: list[str], todo: dict[str, tuple[str, Callable[[], Trial]]]) -> int:
        self.cold_only.update(todo[key][0] for key in strange)
        self._results.execute("BEGIN")
        for key, values, warm in results:
            text = clean(lean_json.dumps(run_fields(Run(*values), self.keeping)), self.keeping)
            self._results.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", (key, todo[key][0], int(warm), text)
            )
        self._results.execute("COMMIT")
        return len(results)

    # -- what came of it

    def tally(self) -> tuple[dict[str, Tally], list[Finding]]:
        """Every event again, with the results: one row per hook, and what would be different."""
        tallies: dict[str, Tally] = {}
        findings: list[Finding] = []
        for record, event, session in self._events():
            for subject, _ in self.pairs(event, session):
                key = self._key(subject, event, session)
                row = self._results.execute("SELECT run, warm FROM results WHERE key = ?", (key,)).fetchone()
                if row is None:
                    continue
                try:
                    run = run_from(lean_json.loads(row[0]))
                except Unjudgeable as why:
                    self.left_out[str(why)] = self.left_out.get(str(why), 0) + 1
                    continue
                hook = subject.hook
                read = interpret(hook, subject.dialect.replies[hook.handler], event.name, run)
                outcome = judge(hook, subject.dialect, subject.row, read, subject.posture, {})
                tally = tallies.setdefault(hook.id, Tally())
                self._count(tally, key, outcome, read, None if row[1] else run.duration_s)
                found = _finding(record, event, hook.id, outcome, read)
                if found is not None and len(findings) < EXAMPLES:
                    findings.append(found)
        return tallies, findings

    @staticmethod
    def _count(tally: Tally, key: str, outcome: Outcome, read: Outcome, cold_s: float | None) -> None:
        tally.events += 1
        tally.blocks += outcome.verdict == BLOCK
        tally.asks += outcome.verdict == "ask"
        tally.rewrites += any(value is not None for value in (outcome.tool_input, outcome.tool_output, outcome.prompt))
        tally.failures += read.failure is not None
        if key not in tally.keys and cold_s is not None:
            tally.cold_s.append(cold_s)
        elif key not in tally.keys:
            tally.warm += 1
        tally.keys.add(key)

    # -- the events

    def _events(self) -> Iterator[tuple[dict[str, Json], Event, str]]:
        """The recorded events that can be fired again; the others are counted by their reason."""
        self.left_out = {}
        for found in search(self.state_dir, self.wanted):
            record = found.record
            if record is None or record.get("event") not in EVENTS:
                continue
            data = record.get("data")
            why = ""
            if "lost" in record or record.get("events") or not isinstance(data, dict):
                why = "its data was not kept"
            elif "bodies" in record:
                why = "its payloads were not kept"
            elif b" characters in all]" in found.line:
                why = "a text in it was too long to be kept whole"
            if why or not isinstance(data, dict):
                self.left_out[why] = self.left_out.get(why, 0) + 1
                continue
            yield record, Event(str(record["event"]), data, b"", bool(record.get("hosted"))), str(record.get("session"))

    def _key(self, subject: Subject, event: Event, session: str) -> str:
        """The same hook, the same event: the same key."""
        text = lean_json.dumps([subject.content, event.name, event.hosted, session, event.data])
        return self._digest(text.encode())


def _in_turn(
    executor: Executor, batches: Iterator[list[Trial]], most: int, sandbox: tuple[str, ...]
) -> Iterator[tuple[list[Result], list[str]]]:
    """The answers to the batches, with so many of them under way; whatever interrupts that calls off the rest."""
    waiting: list[Future[tuple[list[Result], list[str]]]] = []
    try:
        for batch in batches:
            waiting.append(executor.submit(run_batch, [values_of(trial) for trial in batch], sandbox))
            if len(waiting) > most:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()


def _cold_task(task: tuple[object, ...]) -> tuple[object, ...]:
    return task if task[:1] == ("callable",) else ()


def _finding(record: dict[str, Json], event: Event, hook: str, outcome: Outcome, read: Outcome) -> Finding | None:
    decision = record.get("decision")
    before = decision if isinstance(decision, dict) else {}
    blocked = before.get("verdict") == BLOCK
    kind = what = ""
    if outcome.verdict == BLOCK and not blocked:
        kind, what = "blocks", outcome.reason or ""
    elif outcome.verdict != BLOCK and blocked and before.get("hook") == hook:
        kind, what = "lets go", str(before.get("reason"))
    elif outcome.tool_input is not None and outcome.tool_input != before.get("tool_input"):
        was = before.get("tool_input") or event.data.get("input")
        kind = "rewrites"
        what = f"{lean_json.dumps(was, False)} → {lean_json.dumps(outcome.tool_input, False)}"
    elif read.failure is not None:
        kind, what = "fails", read.failure.detail
    if not kind:
        return None
    return Finding(record.get("n"), record.get("at"), event.name, event.data.get("tool"), hook, kind, what)
