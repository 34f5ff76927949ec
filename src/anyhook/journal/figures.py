"""Figures: what each hook did and cost in a span of time, out of the index. It reads no journal itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from anyhook.journal.durations import IN_SQL, Durations
from anyhook.model.record import Record

if TYPE_CHECKING:
    import sqlite3

    from anyhook.journal.search import Wanted
    from anyhook.model.json_types import Json

STEPS = 14
"""How many parts a span is cut into, to show how it went."""
BLOCKED, IN_SHADOW, FAILED, TIMED_OUT = 1, 2, 4, 8
KINDS = (
    f"(verdict IS 'block') * ({BLOCKED} + shadow * {IN_SHADOW}) + (failed IS NOT NULL) * {FAILED}"
    f" + (ending IS 'timed_out') * {TIMED_OUT}"
)


class HookFigures(Record):
    """One hook."""

    hook: str
    runs: int
    blocks: int
    """Those of shadow mode, which stopped nothing, included."""
    shadow_blocks: int
    failures: int
    """Timeouts included."""
    timeouts: int
    p50_ms: float
    p95_ms: float
    cost_s: float
    """How long it kept an agent waiting, all runs together; background runs keep nobody waiting."""
    over_time: tuple[int, ...]
    """Runs in each part of the span, oldest first."""

    def as_dict(self) -> dict[str, Json]:
        made: dict[str, Json] = {field: getattr(self, field) for field in self.fields}
        made["over_time"] = list(self.over_time)
        return made


class _Hook:
    """What is counted of one hook while its runs are read."""

    def __init__(self) -> None:
        self.kinds: Counter[int] = Counter()
        self.parts: Counter[int] = Counter()
        self.took = Durations()
        self.cost_s = 0.0

    def figures(self, name: str) -> HookFigures:
        runs = self.kinds.total()
        blocks, shadow, failures, timeouts = (
            sum(count for kinds, count in self.kinds.items() if kinds & kind)
            for kind in (BLOCKED, IN_SHADOW, FAILED, TIMED_OUT)
        )
        over_time = [0] * STEPS
        for part, count in self.parts.items():
            over_time[min(max(part, 0), STEPS - 1)] += count
        p50, p95 = (self.took.percentile_ms(part) or 0.0 for part in (0.5, 0.95))
        counts = (runs, blocks, shadow, failures, timeouts)
        return HookFigures(name, *counts, p50, p95, round(self.cost_s, 6), tuple(over_time))


def figures(index: sqlite3.Connection, wanted: Wanted, now_ns: int) -> list[HookFigures]:
    """Every hook that ran in the span, the most expensive first."""
    where, values = _conditions(wanted)
    start, end = wanted.since_ns or _first(index, where, values), wanted.until_ns or now_ns
    width = max(1, -(-(end - start) // STEPS))
    found: dict[str, _Hook] = {}
    rows = index.execute(
        f"SELECT hook, (at - ?) / ?, {KINDS}, {IN_SQL}, duration_s * (NOT background) FROM runs WHERE {where}",  # noqa: S608
        [start, width, *values],
    )
    for name, part, kinds, took_s, cost_s in rows:
        hook = found.get(name)
        if hook is None:
            hook = found[name] = _Hook()
        hook.kinds[kinds] += 1
        hook.parts[part] += 1
        hook.took.counts[took_s] += 1
        hook.cost_s += cost_s
    made = [hook.figures(name) for name, hook in found.items()]
    return sorted(made, key=lambda each: (-each.cost_s, each.hook))


def _conditions(wanted: Wanted) -> tuple[str, list[object]]:
    rows = (
        ("at >= ?", wanted.since_ns),
        ("at < ?", wanted.until_ns),
        ("session = ?", wanted.session),
        ("project = ?", wanted.project),
        ("host = ?", wanted.agent),
        ("event = ?", wanted.event),
        ("tool = ?", wanted.tool),
        ("instr(hook, ?)", wanted.hook),
        ("verdict = ?", wanted.verdict),
    )
    chosen = [(condition, value) for condition, value in rows if value is not None]
    return " AND ".join(["hook IS NOT NULL", *(condition for condition, _ in chosen)]), [value for _, value in chosen]


def _first(index: sqlite3.Connection, where: str, values: list[object]) -> int:
    (at,) = index.execute(f"SELECT min(at) FROM runs WHERE {where}", values).fetchone()  # noqa: S608
    return int(at or 0)
