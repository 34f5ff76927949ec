"""`anyhook backtest`: hooks as they are today, over the events of the past, in a sandbox."""

from __future__ import annotations

import os

import click

from anyhook.cli import render
from anyhook.cli.difference import difference
from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import WANTED, count_of, look_for_cycles_seldom, wanted_of
from anyhook.cli.options import JSON, RUN, WHERE, Option
from anyhook.cli.progress import progress
from anyhook.cli.record_text import span, when
from anyhook.cli.verbs import verb
from anyhook.stores.places import make_private_dir, state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from anyhook.cli.options import Values
    from anyhook.journal.backtest import Backtest, Finding, Tally
    from anyhook.model.json_types import Json

OPTIONS = (
    *(option for option in WANTED if option.flag not in ("--project", "--hook")),
    *(option for option in WHERE if option.flag != "--state-dir"),
    Option("--everywhere", "Events of every project, not of this one only."),
    *(option for option in RUN if option.flag in ("--trust", "--on-failure")),
    Option("--sandbox", "bwrap (default) or none: then hooks may do what they do.", "KIND", choices=("bwrap", "none")),
    Option("--jobs", "How many processes; default: one per core.", "N"),
    Option("--dask", "Run on this cluster of dask.distributed instead.", "ADDRESS"),
    Option("--last", "Show this many of the events that differ; default: 20.", "N", short="-n"),
    JSON,
)


@verb(
    "backtest",
    OPTIONS,
    "anyhook backtest git_guard --since 30d",
    [click.Argument(["hooks"], nargs=-1, required=True, metavar="HOOK...")],
)
def backtest(hooks: tuple[str, ...], values: Values) -> int:
    """Run hooks, as they are today, over recorded events of this project, and show what they would have blocked,
    rewritten or cost. Hooks run in a sandbox that can write nothing and has no network. Results are kept: what has
    run once does not run again, and an interrupted backtest goes on."""
    import sqlite3

    from anyhook.cli.backtest_input import prepared

    look_for_cycles_seldom()
    folder = state_dir(os.environ)
    try:
        make_private_dir(folder)
        os.close(os.open(f"{folder}/backtest.sqlite", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise BadCall(
            f"results cannot be kept in {folder}/backtest.sqlite ({error.strerror}). Make the state directory writable."
        ) from None
    wanted = wanted_of({**values, "project": None, "hook": None})
    try:
        test, sandbox, names = prepared(folder, hooks, values, wanted)
        jobs = count_of(values, "jobs", os.cpu_count() or 1)
        executor = _executor(values, jobs)
        try:
            test.run(executor, jobs, sandbox, progress("running the hooks"))
        finally:
            executor.shutdown()
        tallies, findings = test.tally()
    except sqlite3.Error as error:
        raise BadCall(
            f"the kept results cannot be used: {error} ({folder}/backtest.sqlite). Delete the file and try again."
        ) from None
    test.close()
    return _answer(test, names, tallies, findings, values)


def _executor(values: Values, jobs: int) -> Executor:
    """A pool of processes, or a cluster behind the same door."""
    address = values["dask"]
    if not address:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        from distributed import Client
    except ImportError:
        raise BadCall("--dask needs dask.distributed: pip install 'anyhook[dask]'.") from None
    try:
        executor: Executor = Client(str(address), timeout=10).get_executor(pure=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise BadCall(f"--dask {address}: no cluster answers there ({error}).") from None
    return executor


def _answer(
    test: Backtest, names: Iterable[str], tallies: dict[str, Tally], findings: list[Finding], values: Values
) -> int:
    if values["json"]:
        rows: dict[str, Json] = {name: tallies[name].as_dict() for name in names if name in tallies}
        left_out: dict[str, Json] = dict(test.left_out)
        found: list[Json] = [finding.as_dict() for finding in findings]
        cold: list[Json] = [*sorted(test.cold_only)]
        render.json_out({"hooks": rows, "findings": found, "left_out": left_out, "cold_only": cold}, indent=2)
        return 0
    most = count_of(values, "last", 20)
    if len(findings) > most:
        render.out(f"… {len(findings) - most} before these; -n shows more")
    for finding in findings[-most:]:
        tool = f" {finding.tool}" if finding.tool else ""
        render.out(f"{finding.n}  {when(finding.at)}  {finding.event}{tool}  {finding.hook} {finding.kind}")
        for line in difference(finding.before, finding.after):
            render.out(f"    {line}")
    for hook in sorted(test.cold_only):
        render.say(f"{hook} went otherwise in a living interpreter, so each of its events got a process of its own.")
    for why, count in test.left_out.items():
        render.say(f"{count} event(s) left out: {why}")
    for line in _table([name for name in names if name in tallies], tallies):
        render.out(line)
    for name in names:
        if name not in tallies:
            others = " beside those left out" if test.left_out else ""
            render.say(f"{name}: no recorded event{others} is one that it wants")
    return 0


def _table(names: list[str], tallies: dict[str, Tally]) -> list[str]:
    if not names:
        return []
    width = max(len("hook"), *(len(name) for name in names))
    heads = ("events", "runs", "blocks", "asks", "rewrites", "failures")
    lines = [f"{'hook':<{width}}  {'  '.join(f'{head:>8}' for head in heads)}  {'p50':>8}  {'p95':>8}  {'waiting':>8}"]
    for name in names:
        row = tallies[name].as_dict()
        times = [span(float(str(row[key])) / 1000) if row[key] is not None else "-" for key in ("p50_ms", "p95_ms")]
        cost = span(float(str(row["cost_s"])))
        counts = "  ".join(f"{row[head]!s:>8}" for head in heads)
        lines.append(f"{name:<{width}}  {counts}  {times[0]:>8}  {times[1]:>8}  {cost:>8}")
    return lines
