"""`anyhook stats`: what each hook did and what it cost, as a table with pictures."""

from __future__ import annotations

import os
import time

from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import JournalFilter, look_for_cycles_seldom, wanted_of
from anyhook.cli.options import JsonOptions
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.cli.view.bars import bar, sparkline
from anyhook.cli.view.progress import progress
from anyhook.cli.view.record_text import span
from anyhook.cli.view.visible import visible
from anyhook.cli.view.width import cut_middle, padded, width
from anyhook.state.places import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.journal.figures import HookFigures
    from anyhook.journal.search import Wanted

BAR = 12
COLUMNS = ("runs", "p50", "p95", "blocks", "failed", "timeout", "waited", "")
"""Then comes how the runs lie in time."""
PICTURES = (8, 9)
LEAST_FIRST = (8, 6, 2, 9, 5, 3, 4)
"""The columns that a narrow terminal goes without: the first of these is missed least."""
NAME_LEAST = 24
"""Letters of a hook's name that are worth more than another column."""


class StatsOptions(JsonOptions, JournalFilter):
    """`anyhook stats`."""


@verb("stats", StatsOptions, "anyhook stats --since 30d --project .")
def stats(options: StatsOptions) -> int:
    """Show what each hook did: runs, median and 95th percentile, blocks, failures, timeouts, and how long it kept the
    agent waiting; the last seven days, unless --since says otherwise."""
    found = _figures(state_dir(os.environ), wanted_of(options, since="7d"))
    if options.json:
        render.json_out({"hooks": [hook.as_dict() for hook in found]}, indent=2)
    elif not found:
        narrowed = any(getattr(options, row.key) for row in JournalFilter.rows if row.key not in ("since", "until"))
        time_meant = "in this time" if options.since or options.until else "in the last seven days"
        render.say(f"No run {time_meant} is one of these." if narrowed else f"No hook ran {time_meant}.")
    else:
        for line in filter(None, (*_table(found, options.since or "7d", render.columns()), _in_shadow(found))):
            render.out(line)
    return 0


def _figures(folder: str, wanted: Wanted) -> list[HookFigures]:
    from sqlite3 import Error

    from anyhook.journal.figures import figures
    from anyhook.journal.files import Unreadable
    from anyhook.journal.index import index_path, known_runs

    look_for_cycles_seldom()
    try:
        with known_runs(folder, progress("reading the journal"), wanted.since_ns) as runs:
            return figures(runs, wanted, time.time_ns())
    except Unreadable:
        raise
    except (Error, OSError) as error:
        raise BadCall(
            f"the index of the journal cannot be used: {error} ({index_path(folder)}). "
            "Make the state directory writable, or delete the index; it is made anew."
        ) from None


def _table(found: list[HookFigures], since: str, room: int | None) -> list[str]:
    """The cost's bar is its share of the dearest hook; the last column is how the runs lie in time. A terminal that is
    too narrow for a name and all columns gets those that matter most."""
    most = max(hook.cost_s for hook in found)
    cells = [["hook", *COLUMNS, f"since {since}"], *([hook.hook, *_cells(hook, most)] for hook in found), _sums(found)]
    widths = [max(width(row[place]) for row in cells) for place in range(len(cells[0]))]
    shown = list(range(1, len(widths)))
    if room is not None:
        for spare in LEAST_FIRST:
            if min(widths[0], NAME_LEAST) + sum(widths[place] + 2 for place in shown) > room:
                shown.remove(spare)
        widths[0] = min(widths[0], room - sum(widths[place] + 2 for place in shown))
    lines: list[str] = []
    for name, *figures in cells:
        line = padded(cut_middle(visible(name), widths[0]), widths[0])
        for place in shown:
            text, taken = figures[place - 1], widths[place]
            line += f"  {padded(text, taken) if place in PICTURES else text.rjust(taken)}"
        lines.append(line.rstrip())
    return lines


def _cells(hook: HookFigures, most: float) -> list[str]:
    counts = (hook.runs, span(hook.p50_ms / 1000), span(hook.p95_ms / 1000), hook.blocks, hook.failures, hook.timeouts)
    return [*map(str, counts), span(hook.cost_s), bar(hook.cost_s, most, BAR), sparkline(hook.over_time)]


def _sums(found: list[HookFigures]) -> list[str]:
    runs, waited = sum(hook.runs for hook in found), sum(hook.cost_s for hook in found)
    counts = (sum(each) for each in zip(*((hook.blocks, hook.failures, hook.timeouts) for hook in found), strict=True))
    return ["all", str(runs), "", "", *map(str, counts), span(waited), "", ""]


def _in_shadow(found: list[HookFigures]) -> str:
    """A sentence about blocks that stopped nothing; "" where there are none."""
    shadow = sum(hook.shadow_blocks for hook in found)
    named = ", ".join(f"{hook.hook} {hook.shadow_blocks}" for hook in found if hook.shadow_blocks)
    stopped = f"{shadow} of the blocks stopped nothing, since they were in shadow mode: {named}"
    return stopped if shadow else ""
