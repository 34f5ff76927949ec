"""Statistics: what each hook did and cost in a span of time, from the columns of its runs."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from math import fsum
from typing import TYPE_CHECKING

from anyhook.journal.runs import (
    BACKGROUND,
    EACH_EVENT,
    FAILED,
    OFF,
    SHADOW,
    TIMED_OUT,
    Durations,
    HookRuns,
    Kind,
)
from anyhook.journal.search import PROOF, Wanted
from anyhook.model.outcome import BLOCK
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.journal.run_index import Runs

TREND_STEPS = 14
"""How many parts a span is divided into, for sparklines."""


class HookFigures(Record):
    """One hook."""

    hook: str
    runs: int
    blocks: int
    """Including those of shadow mode, which stopped nothing."""
    shadow_blocks: int
    failures: int
    """Including timeouts."""
    timeouts: int
    p50_ms: float
    p95_ms: float
    cost_s: float
    """How long it kept agents waiting, in all; background runs do not count."""
    over_time: tuple[int, ...]
    """Runs in each part of the span, oldest first."""


class _Hook:
    """The counters of one hook."""

    def __init__(self) -> None:
        self.runs = self.blocks = self.shadow_blocks = self.failures = self.timeouts = 0
        self.took = Durations()
        self.cost_s: list[float] = []
        self.over_time = [0] * TREND_STEPS

    def take(self, runs: HookRuns, edges: Sequence[int]) -> None:
        """`edges` are the times between the parts of the span."""
        for number, count in Counter(runs.kind).items():
            *_, verdict, marks = runs.kinds[number]
            blocked = verdict == BLOCK
            self.blocks += count * blocked
            self.shadow_blocks += count * (blocked and marks & SHADOW > 0)
            self.failures += count * (marks & FAILED > 0)
            self.timeouts += count * (marks & TIMED_OUT > 0)
        self.runs += len(runs.at)
        self.took.counts.update(runs.took_s)
        foreground = [not kind[-1] & BACKGROUND for kind in runs.kinds]
        waited = compress(runs.spent_s, map(foreground.__getitem__, runs.kind))
        self.cost_s.append(fsum(runs.spent_s if all(foreground) else waited))
        before = 0
        for part, edge in enumerate((*edges, None)):
            after = len(runs.at) if edge is None else bisect_left(runs.at, edge)
            self.over_time[part] += after - before
            before = after

    def figures(self, name: str) -> HookFigures:
        p50, p95 = (self.took.percentile_ms(part) or 0.0 for part in (0.5, 0.95))
        counts = (self.runs, self.blocks, self.shadow_blocks, self.failures, self.timeouts)
        return HookFigures(name, *counts, p50, p95, round(fsum(self.cost_s), 6), tuple(self.over_time))


def figures(known: Runs, wanted: Wanted, now_ns: int) -> list[HookFigures]:
    """Every hook that ran in the span, the most expensive first."""
    start, end = span_of(known, wanted, now_ns)
    width = max(1, -(-(end - start) // TREND_STEPS))
    edges = [start + width * part for part in range(1, TREND_STEPS)]
    found: dict[str, _Hook] = {}
    for runs in _of_hooks(known, wanted):
        hook = found.get(runs.hook)
        if hook is None:
            hook = found[runs.hook] = _Hook()
        hook.take(runs, edges)
    made = [hook.figures(name) for name, hook in found.items()]
    return sorted(made, key=lambda each: (-each.cost_s, each.hook))


class MachineFigures(Record):
    """One of many machines."""

    machine: str
    agents: tuple[str, ...]
    last_ns: int
    """When its last record was written."""
    calls: int
    """Of tools. With `hook`, the runs of the hooks of that name."""
    refused: int
    would_block: int
    off: int
    """Events at which a hook was not asked, because nobody approved it or it is turned off."""


class NoisyHook(Record):
    """A hook that refused or asked, on how many machines."""

    hook: str
    refused: int
    asked: int
    machines: int


class _Machine:
    """The counters of one machine."""

    def __init__(self) -> None:
        self.agents: set[str] = set()
        self.last_ns = self.calls = self.refused = self.would_block = self.off = 0

    def take(self, runs: HookRuns) -> None:
        self.last_ns = max(self.last_ns, runs.at[-1])
        for number, count in _counted(runs).items():
            host, *_, event, _, verdict, marks = runs.kinds[number]
            if host:
                self.agents.add(host)
            shadow = marks & SHADOW > 0
            self.calls += count * (event == "pre_tool")
            self.refused += count * (verdict == BLOCK and not shadow)
            self.would_block += count * (shadow and (verdict == BLOCK or runs.hook == EACH_EVENT))
            self.off += count * (marks & OFF > 0)

    def figures(self, name: str) -> MachineFigures:
        counts = (self.calls, self.refused, self.would_block, self.off)
        return MachineFigures(name, tuple(sorted(self.agents)), self.last_ns, *counts)


def _counted(runs: HookRuns) -> dict[int, int]:
    """Kind → how many runs; of events, how many there were, since a record may stand for several."""
    counts = Counter(runs.kind)
    if runs.hook == EACH_EVENT and max(runs.spent_s) > 1:
        for number, events in zip(runs.kind, runs.spent_s, strict=True):
            counts[number] += int(events) - 1
    return counts


def of_machines(known: Runs, wanted: Wanted) -> tuple[list[MachineFigures], list[NoisyHook]]:
    """Every machine with records in the span, those first where hooks are off or most was refused; and the hooks that
    refused or asked, the noisiest first."""
    machines: dict[str, _Machine] = {}
    noise: dict[str, tuple[Counter[str], set[str]]] = {}
    counted = EACH_EVENT if wanted.hook is None else None
    for runs in _fitting(known.between(wanted), wanted):
        if counted is None or runs.hook == counted:
            machines.setdefault(runs.machine, _Machine()).take(runs)
        if runs.hook == EACH_EVENT:
            continue
        for number, count in Counter(runs.kind).items():
            *_, verdict, marks = runs.kinds[number]
            if verdict in (BLOCK, "ask") and not marks & SHADOW:
                counts, where = noise.setdefault(runs.hook, (Counter(), set()))
                counts[verdict] += count
                where.add(runs.machine)
    rows = [each.figures(name) for name, each in machines.items()]
    rows.sort(key=lambda each: (-each.off, -each.refused, -each.would_block, each.machine))
    noisy = [NoisyHook(hook, counts[BLOCK], counts["ask"], len(where)) for hook, (counts, where) in noise.items()]
    return rows, sorted(noisy, key=lambda each: (-each.refused - each.asked, each.hook))


def span_of(known: Runs, wanted: Wanted, now_ns: int) -> tuple[int, int]:
    """From when to when; without a beginning, from the first run."""
    start = wanted.since_ns
    if start is None:
        start = min((runs.at[0] for runs in _of_hooks(known, wanted)), default=0)
    return start, now_ns if wanted.until_ns is None else wanted.until_ns


def _of_hooks(known: Runs, wanted: Wanted) -> Iterator[HookRuns]:
    return (runs for runs in _fitting(known.between(wanted), wanted) if runs.hook != EACH_EVENT)


def _fitting(all_runs: Iterable[HookRuns], wanted: Wanted) -> Iterator[HookRuns]:
    """The wanted runs of each hook that has any."""
    fits = _kind_fits(wanted)
    for runs in all_runs:
        if wanted.hook is not None and wanted.hook not in runs.hook:
            continue
        low = 0 if wanted.since_ns is None else bisect_left(runs.at, wanted.since_ns)
        high = len(runs.at) if wanted.until_ns is None else bisect_left(runs.at, wanted.until_ns)
        fitting = runs.part(low, high, [fits(kind) for kind in runs.kinds])
        if fitting.at:
            yield fitting


def _kind_fits(wanted: Wanted) -> Callable[[Kind], bool]:
    values = (wanted.agent, wanted.project, wanted.session, wanted.event, wanted.tool, wanted.verdict)
    asked = [(place, value) for place, value in enumerate(values) if value is not None]
    proofs = wanted.agent == PROOF
    return lambda kind: (proofs or kind[0] != PROOF) and all(kind[place] == value for place, value in asked)
