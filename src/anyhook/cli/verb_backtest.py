"""`anyhook backtest`: try today's hooks on past events, in a sandbox."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING

import click

from anyhook.cli import BadCall, render
from anyhook.cli.backtest_input import prepared
from anyhook.cli.journal_input import EventFilter, TextFilter, count_of, look_for_cycles_seldom, wanted_of
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import HookOptions, JsonOptions, PostureOption, TrustOption, option, switch
from anyhook.cli.verbs import verb
from anyhook.cli.view.backtest_text import finding_lines, tally_table
from anyhook.cli.view.console import show
from anyhook.cli.view.progress import progress
from anyhook.documents.places import make_private_dir, state_dir
from anyhook.model.extras import install_command
from anyhook.replay.backtest import WorkerLost
from anyhook.replay.trial import end_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Executor

    from anyhook.model.json_types import Json
    from anyhook.replay.backtest import Backtest, Finding, Tally


MAX_SILENT = 10
"""With more hooks than this, those that would have done nothing are only counted."""


class BacktestOptions(JsonOptions, PostureOption, TrustOption, HookOptions, TextFilter, EventFilter):
    everywhere: bool = switch("--everywhere", "Use events of every project, not only of this one.")
    sandbox: str | None = option(
        "--sandbox", "bwrap (default), or none to run hooks without a sandbox.", "KIND", choices=("bwrap", "none")
    )
    jobs: str | None = option("--jobs", "How many processes to use; default: one per core.", "N")
    dask: str | None = option("--dask", "Run on this cluster of dask.distributed instead.", "ADDRESS")
    last: str | None = option("--last", "Show this many of the events that differ; default: 20.", "N", short="-n")


@verb(
    "backtest",
    BacktestOptions,
    "anyhook backtest git_guard --since 30d",
    [click.Argument(["hooks"], nargs=-1, required=True, metavar="HOOK...", type=HOOK)],
)
def backtest(hooks: tuple[str, ...], options: BacktestOptions) -> int:
    """Run hooks, as they are today, on recorded and imported events of this project, and show what they would have
    blocked, rewritten or cost. HOOK is an id, a name, a pattern of ids, or a pack of rules. Rules are asked and start
    nothing; other hooks run in a sandbox without a network, where they can write nothing. Results are kept: no event
    runs twice, and an interrupted backtest continues where it stopped."""
    look_for_cycles_seldom()
    folder = state_dir(os.environ)
    try:
        make_private_dir(folder)
        os.close(os.open(f"{folder}/backtest.sqlite", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise BadCall(
            f"cannot write {folder}/backtest.sqlite ({error.strerror}). Make the state directory writable."
        ) from None
    wanted, most = wanted_of(options), count_of("--last", options.last, 20)
    try:
        test, sandbox, names = prepared(folder, hooks, options, wanted)
        jobs = count_of("--jobs", options.jobs, os.cpu_count() or 1)
        with _workers(options, jobs) as executor, progress("running the hooks") as tell:
            test.run(executor, jobs, sandbox, tell)
        with progress("counting") as tell:
            tallies, findings, count = test.tally(tell)
    except WorkerLost as error:
        raise BadCall(
            f"a process that ran the hooks is gone ({error}). Earlier results are stored: run it again to continue."
        ) from None
    except sqlite3.Error as error:
        raise BadCall(
            f"the stored results cannot be used: {error} ({folder}/backtest.sqlite). Delete the file and try again."
        ) from None
    test.close()
    if options.json:
        rows: dict[str, Json] = {name: tallies[name].as_dict() for name in names if name in tallies}
        told: list[Json] = [finding.as_dict() for finding in findings]
        more: dict[str, Json] = {"left_out": {**test.left_out}, "cold_only": [*sorted(test.cold_only)]}
        render.json_out({"hooks": rows, "findings": told, "found": count, **more}, indent=2)
        return 0
    _tell(test, names, tallies, findings, count, most)
    return 0


@contextmanager
def _workers(options: BacktestOptions, jobs: int) -> Iterator[Executor]:
    """A pool of processes, or a cluster with the same interface. An interruption kills the pool's processes and what
    they run."""
    if options.dask:
        with _cluster(options.dask) as executor:
            yield executor
        return
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, context, end_with, (theirs,))
    try:
        yield pool
        pool.shutdown()
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        raise BadCall(f"--dask needs dask.distributed: {install_command('dask')}") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise BadCall(f"--dask {address}: no cluster answers there ({error}).") from None
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()


def _tell(
    test: Backtest, names: list[str], tallies: dict[str, Tally], findings: Iterable[Finding], count: int, most: int
) -> None:
    shown = [*findings][-most:]
    if count > len(shown):
        render.out(f"… {count - len(shown)} before these; -n shows more")
    for finding in shown:
        render.out("\n".join(finding_lines(finding)))
    for hook in sorted(test.cold_only):
        render.say(
            f"{hook} behaved differently in a long-lived interpreter, so each of its events ran in a new process."
        )
    for why, left in test.left_out.items():
        render.say(f"{left} event(s) left out: {why}")
    ran = {name: tallies[name] for name in names if name in tallies}
    speak = {name: tally for name, tally in ran.items() if tally.speaks} if len(ran) > MAX_SILENT else ran
    if speak:
        show(tally_table(speak))
    if len(speak) < len(ran):
        asked = max(tally.events for tally in ran.values())
        render.say(f"{len(ran) - len(speak)} others would have done nothing for these {asked:,} events.")
    elsewhere = "" if test.wanted.project is None else "; --everywhere also looks at other projects"
    for name in names:
        if name not in tallies:
            others = " except those left out" if test.left_out else ""
            render.say(f"{name}: it matches no recorded event{others}{elsewhere}")
