"""`anyhook report`: what a hook or a rule stopped, or would have stopped."""

from __future__ import annotations

from collections.abc import Sequence

import click

from anyhook.cli import render
from anyhook.cli.catalog_input import catalog_of, setup_of
from anyhook.cli.journal_input import FromOption, folder_of, index_of, runs_of, time_of
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import ProjectJsonOptions, option
from anyhook.cli.verb_switch import find_hooks
from anyhook.cli.verbs import verb
from anyhook.cli.view.record_text import when
from anyhook.cli.view.text import visible
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.journal.search import Wanted
from anyhook.model.hook import Hook
from anyhook.replay.report import HookReport, hooks_in, reports_of

SHOWN = 10
MAX_WIDTH = 100


class ReportOptions(ProjectJsonOptions, FromOption):
    since: str | None = option("--since", "Only from this time on: 2h, 3d, today, 2026-11-15T10:30.", "TIME")


@verb("report", ReportOptions, "anyhook report git/forced-push", [click.Argument(["hook"], type=HOOK)])
def report(hook: str, options: ReportOptions) -> int:
    """Show what a hook or a rule stopped, or would have stopped, of the calls in the journal. HOOK is its id, its name,
    PACK/NAME or PACK for rules of a pack, or a pattern such as 'git/*'. A rule is also tried on calls from before it
    existed. With --from, a hook that only those machines have is reported as they recorded it."""
    since_ns = time_of("--since", options.since)
    catalog = catalog_of(options)
    elsewhere = [] if options.from_ is None else _of_machines(options, since_ns)
    here = {each.id for each in catalog.hooks}
    found = find_hooks(hook, [*catalog.hooks, *(each for each in elsewhere if each.id not in here)])
    context = open_engine(EngineOptions(setup_of(options), mode="shadow", host="report"), catalog).context
    made = reports_of(found, folder_of(options), since_ns, context)
    if options.json:
        listed = [each.as_dict() for each in made]
        sums = {
            "stopped": sum(each.stopped for each in made),
            "would_have_stopped": sum(each.would_stop for each in made),
        }
        render.json_out(listed[0] if len(listed) == 1 else {**sums, "hooks": listed}, indent=2)
    else:
        _show_all(made)
    return 0


def _of_machines(options: ReportOptions, since_ns: int | None) -> list[Hook]:
    """The hooks that ran on the machines of a directory."""
    with runs_of(folder_of(options), index_of(options, folder_of(options)), since_ns) as known:
        return hooks_in(known, Wanted(since_ns=since_ns))


def _show_all(made: Sequence[HookReport]) -> None:
    """The report of one hook; of several, those with something to report."""
    told = [each for each in made if each.stopped or each.would_stop or each.failed or len(made) == 1]
    for each in told:
        _show(each)
    for why in dict.fromkeys(why for each in made for why in each.left_out):
        render.say(f"{_calls(max(each.left_out.get(why, 0) for each in made))} left out: {why}")
    if len(told) < len(made):
        calls = max(each.calls for each in made)
        render.out(f"{len(made) - len(told)} of {len(made)} stopped nothing in {_calls(calls)}.")


def _show(made: HookReport) -> None:
    name = made.hook.id
    if not made.calls:
        render.out(f"{name}: the journal has no call of {', '.join(made.hook.events)}.")
        return
    parts = []
    if made.stopped or not made.would_stop:
        parts.append(f"stopped {made.stopped:,}")
    if made.would_stop:
        parts.append(f"would have stopped {made.would_stop:,}")
    render.out(f"{name}: {' and '.join(parts)} of {_calls(made.calls)}" + (":" if made.examples else "."))
    for each in made.examples[-SHOWN:]:
        word = ("" if each.verdict == "block" else " (asks)") + ("" if each.enforced else " (not stopped)")
        told = visible(each.about)
        told = told if len(told) <= MAX_WIDTH else f"{told[:MAX_WIDTH]}…"
        render.out(f"  {when(each.at or None, '%Y-%m-%d %H:%M')}  {visible(each.tool or '')}: {told}{word}")
    if len(made.examples) > SHOWN:
        render.out(f"  … and {made.stopped + made.would_stop - SHOWN:,} before.")
    if made.failed:
        render.out(f"It failed {made.failed:,} times.")


def _calls(number: int) -> str:
    return f"{number:,} call{'' if number == 1 else 's'}"
