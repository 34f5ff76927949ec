"""`anyhook stats`: what each hook did and what it cost, as a table with charts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.bar import Bar

from anyhook.cli import render
from anyhook.cli.journal_input import (
    JournalFilter,
    MachineOption,
    folder_of,
    index_of,
    look_for_cycles_seldom,
    runs_of,
    wanted_of,
)
from anyhook.cli.options import JsonOptions
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import cell, grid, measured, show
from anyhook.cli.view.record_text import span
from anyhook.cli.view.text import cut_middle, visible
from anyhook.journal.search import Wanted
from anyhook.journal.stats import HookFigures, figures

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

BAR_WIDTH = 12
HEADS = ("runs", "p50", "p95", "blocks", "failed", "timeout", "waited", "")
"""Then comes the chart of runs over time."""
DROPPED_FIRST = (7, 5, 1, 8, 4, 2, 3)
"""The columns that a narrow terminal drops, the least important first."""
PICTURES = (7, 8)
MIN_NAME = 24
"""Keep this many characters of a hook's name before showing another column."""
LEVELS = "▁▂▃▄▅▆▇█"


class StatsOptions(JsonOptions, JournalFilter, MachineOption):
    """`anyhook stats`."""


@verb("stats", StatsOptions, "anyhook stats --since 30d --project .")
def stats(options: StatsOptions) -> int:
    """Show what each hook did: runs, median and 95th percentile, blocks, failures, timeouts, and how long it kept the
    agent waiting. Covers the last seven days, unless --since says otherwise. A rule counts as run if it applied, and
    takes no time."""
    folder = folder_of(options)
    found = _figures(folder, index_of(options, folder), wanted_of(options, since="7d"))
    if options.json:
        render.json_out({"hooks": [hook.as_dict() for hook in found]}, indent=2)
    elif not found:
        narrowed = any(getattr(options, row.key) for row in JournalFilter.rows if row.key not in ("since", "until"))
        time_meant = "in this time" if options.since or options.until else "in the last seven days"
        render.say(f"No run {time_meant} is one of these." if narrowed else f"No hook ran {time_meant}.")
    else:
        show(stats_table(found, options.since or "7d", render.columns()))
        if in_shadow := _in_shadow(found):
            render.out(in_shadow)
    return 0


def _figures(folder: str, index: str, wanted: Wanted) -> list[HookFigures]:
    look_for_cycles_seldom()
    with runs_of(folder, index, wanted.since_ns) as runs:
        return figures(runs, wanted, time.time_ns())


def _in_shadow(found: list[HookFigures]) -> str:
    """A sentence about blocks that stopped nothing; "" if there are none."""
    shadow = sum(hook.shadow_blocks for hook in found)
    named = ", ".join(f"{hook.hook} {hook.shadow_blocks}" for hook in found if hook.shadow_blocks)
    stopped = f"{shadow} of the blocks stopped nothing, since they were in shadow mode: {named}"
    return stopped if shadow else ""


# The table. A narrow terminal shows only the most important columns.


def stats_table(found: list[HookFigures], since: str, room: int | None) -> Table:
    """The bar is a hook's share of the costliest one; the last column shows the runs over time."""
    most = max(hook.cost_s for hook in found)
    rows = [(hook.hook, _cells(hook, most)) for hook in found]
    rows = [("hook", [*map(cell, (*HEADS, f"since {since}"))]), *rows, ("all", _sums(found))]
    shown = list(range(len(rows[0][1])))
    longest = max(len(visible(name)) for name, _ in rows)
    if room is None:
        return _table(rows, shown, None)
    for spare in DROPPED_FIRST:
        if measured(_table(rows, shown, min(longest, MIN_NAME))) > room:
            shown.remove(spare)
    others = measured(_table(rows, shown, 1)) - 1
    return _table(rows, shown, max(1, room - others))


def _table(rows: list[tuple[str, list[RenderableType]]], shown: list[int], name_room: int | None) -> Table:
    table = grid()
    table.add_column(no_wrap=True)
    for place in shown:
        table.add_column(no_wrap=True, justify="left" if place in PICTURES else "right")
    for name, cells in rows:
        text = visible(name)
        table.add_row(cell(cut_middle(text, name_room) if name_room else text), *(cells[place] for place in shown))
    return table


def _cells(hook: HookFigures, most: float) -> list[RenderableType]:
    counts = (hook.runs, span(hook.p50_ms / 1000), span(hook.p95_ms / 1000), hook.blocks, hook.failures, hook.timeouts)
    texts = [cell(str(each)) for each in (*counts, span(hook.cost_s))]
    return [*texts, cost_bar(hook.cost_s, most), cell(sparkline(hook.over_time))]


def cost_bar(value: float, most: float, width: int = BAR_WIDTH) -> Bar:
    """A bar for the share of the maximum, in eighths of a character; any value above 0 is visible."""
    return Bar(most or 1.0, 0, max(value, most / width / 8) if value > 0 else 0, width=width)


def _sums(found: list[HookFigures]) -> list[RenderableType]:
    runs, waited = sum(hook.runs for hook in found), sum(hook.cost_s for hook in found)
    counts = (sum(each) for each in zip(*((hook.blocks, hook.failures, hook.timeouts) for hook in found), strict=True))
    return [cell(text) for text in (str(runs), "", "", *map(str, counts), span(waited), "", "")]


def sparkline(values: Sequence[int]) -> str:
    """One character per value; a space for 0."""
    most = max(values, default=0)
    return "".join(LEVELS[(len(LEVELS) - 1) * value // most] if value else " " for value in values)
