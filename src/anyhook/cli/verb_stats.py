"""`anyhook stats`: what each hook did and what it cost, as a table with charts."""

from __future__ import annotations

import time

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
from anyhook.cli.view.console import show
from anyhook.cli.view.stats_table import stats_table
from anyhook.journal.search import Wanted
from anyhook.journal.stats import HookFigures, figures


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
