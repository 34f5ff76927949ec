"""`anyhook stats`: what each hook did and what it cost, as a table with pictures."""

from __future__ import annotations

import os
import time

from anyhook.cli import render
from anyhook.cli.bars import bar, sparkline
from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import WANTED, look_for_cycles_seldom, wanted_of
from anyhook.cli.options import JSON
from anyhook.cli.progress import progress
from anyhook.cli.verbs import verb
from anyhook.stores.places import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values
    from anyhook.journal.figures import HookFigures
    from anyhook.journal.search import Wanted

OPTIONS = tuple(option for option in WANTED if option.flag != "--text")
BAR = 12


@verb("stats", (*OPTIONS, JSON), "anyhook stats --since 30d --project .")
def stats(values: Values) -> int:
    """Show what each hook did: runs, median and 95th percentile, blocks, failures, timeouts, and how long it kept the
    agent waiting; the last seven days, unless --since says otherwise."""
    found = _figures(state_dir(os.environ), wanted_of(values, since="7d"))
    if values["json"]:
        render.json_out({"hooks": [hook.as_dict() for hook in found]}, indent=2)
    elif not found:
        narrowed = any(values[option.key] for option in OPTIONS if option.key not in ("since", "until"))
        time_meant = "in this time" if values["since"] or values["until"] else "in the last seven days"
        render.say(f"No run {time_meant} is one of these." if narrowed else f"No hook ran {time_meant}.")
    else:
        for line in _table(found, str(values["since"] or "7d")):
            render.out(line)
    return 0


def _figures(folder: str, wanted: Wanted) -> list[HookFigures]:
    from sqlite3 import Error

    from anyhook.journal.figures import figures
    from anyhook.journal.index import index_path, known_runs
    from anyhook.stores.journal_files import Unreadable

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


def _table(found: list[HookFigures], since: str) -> list[str]:
    """The cost's bar is its share of the dearest hook; the last column is how the runs lie in time."""
    name = max(len("hook"), *(len(hook.hook) for hook in found))
    most = max(hook.cost_s for hook in found)
    head = f"{'hook':<{name}}  {'runs':>7}  {'p50':>8}  {'p95':>8}  {'blocks':>6}  {'failed':>6}  {'timeout':>7}"
    lines = [f"{head}  {'waited':>8}  {'':<{BAR}}  since {since}"]
    for hook in found:
        lines.append(
            f"{hook.hook:<{name}}  {hook.runs:>7}  {span(hook.p50_ms / 1000):>8}  {span(hook.p95_ms / 1000):>8}  "
            f"{hook.blocks:>6}  {hook.failures:>6}  {hook.timeouts:>7}  {span(hook.cost_s):>8}  "
            f"{bar(hook.cost_s, most, BAR)}  {sparkline(hook.over_time)}".rstrip()
        )
    shadow = sum(hook.shadow_blocks for hook in found)
    total = sum(hook.cost_s for hook in found)
    runs = sum(hook.runs for hook in found)
    lines.append(f"{'all':<{name}}  {runs:>7}  {'':>8}  {'':>8}  {'':>6}  {'':>6}  {'':>7}  {span(total):>8}")
    if shadow:
        named = ", ".join(f"{hook.hook} {hook.shadow_blocks}" for hook in found if hook.shadow_blocks)
        lines.append(f"{shadow} of the blocks stopped nothing, since they were in shadow mode: {named}")
    return lines


def span(seconds: float) -> str:
    """A duration with the unit that suits it."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
