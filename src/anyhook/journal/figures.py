"""Figures: what each hook did and cost in a span of time, out of the index. It reads no journal itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.record import Record

if TYPE_CHECKING:
    import sqlite3

    from anyhook.journal.search import Wanted
    from anyhook.model.json_types import Json

STEPS = 14
"""How many parts a span is cut into, to show how it went."""


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


def figures(index: sqlite3.Connection, wanted: Wanted, now_ns: int) -> list[HookFigures]:
    """Every hook that ran in the span, the most expensive first."""
    where, values = _conditions(wanted)
    start, end = wanted.since_ns or _first(index, where, values), wanted.until_ns or now_ns
    rows = index.execute(
        "SELECT hook, count(*), sum(verdict = 'block'), sum(verdict = 'block' AND shadow), "  # noqa: S608
        "sum(failed IS NOT NULL), sum(ending = 'timed_out'), "
        f"sum(duration_s * (NOT background)) AS cost FROM runs WHERE {where} GROUP BY hook ORDER BY cost DESC, hook",
        values,
    ).fetchall()
    made: list[HookFigures] = []
    for hook, runs, blocks, shadow, failures, timeouts, cost in rows:
        of_hook, named = f"{where} AND hook = ?", [*values, hook]
        p50, p95 = (_percentile(index, of_hook, named, runs, part) for part in (0.5, 0.95))
        times = _over_time(index, of_hook, named, start, end)
        made.append(HookFigures(hook, runs, blocks, shadow, failures, timeouts, p50, p95, round(cost, 6), times))
    return made


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


def _percentile(index: sqlite3.Connection, where: str, values: list[object], count: int, part: float) -> float:
    """The nearest rank: the least duration that so many of all did not exceed."""
    rank = max(0, -int(-count * part // 1) - 1)
    (found,) = index.execute(
        f"SELECT duration_s FROM runs WHERE {where} ORDER BY duration_s LIMIT 1 OFFSET ?",  # noqa: S608
        [*values, rank],
    ).fetchone()
    return round(float(found) * 1000, 3)


def _over_time(index: sqlite3.Connection, where: str, values: list[object], start: int, end: int) -> tuple[int, ...]:
    width = max(1, -(-(end - start) // STEPS))
    counts = [0] * STEPS
    for part, count in index.execute(
        f"SELECT (at - ?) / ?, count(*) FROM runs WHERE {where} GROUP BY 1",  # noqa: S608
        [start, width, *values],
    ):
        counts[min(max(part, 0), STEPS - 1)] += count
    return tuple(counts)
