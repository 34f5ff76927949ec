"""The results of a backtest as text: a diff of single events, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding

from anyhook.cli.render import columns
from anyhook.cli.view.console import cell, grid, measured
from anyhook.cli.view.difference import difference
from anyhook.cli.view.record_text import span, when
from anyhook.model.words import never

if TYPE_CHECKING:
    from anyhook.replay.backtest import Finding, Tally

MAX_ABOUT = 200
"""How many characters of an event's subject are shown."""
COUNTS = ("events", "runs", "blocks", "asks", "rewrites", "failures")


def finding_lines(finding: Finding) -> list[str]:
    """The event, then what was (-) and what would be (+)."""
    tool = f" {finding.tool}" if finding.tool else ""
    head = f"{finding.n!s:>7}  {when(finding.at)}  {finding.event}{tool}  {finding.hook} {finding.kind}"
    about = finding.about if len(finding.about) <= MAX_ABOUT else f"{finding.about[:MAX_ABOUT]}…"
    said = f"{finding.kind}: {finding.what}".replace("\n", "\n      ")
    match finding.kind:
        case "rewrites":
            changes = difference(finding.before, finding.after)
            return [f"{head} the {finding.what}", *(f"    {line}" for line in changes)]
        case "lets go":
            return [head, f"    - blocked: {finding.what}", f"    + {about}"]
        case "blocks":
            return [head, f"    - {about}", f"    + {said}"]
        case "asks" | "fails":
            return [head, f"      {about}", f"    + {said}"]
        case _:
            never(finding.kind)


def tally_table(tallies: dict[str, Tally]) -> RenderableType:
    """One row per hook, or a few lines each if the terminal is too narrow."""
    rows = {name: _cells(tally) for name, tally in tallies.items()}
    table, heads = grid(), next(iter(rows.values()))
    table.add_column(no_wrap=True)
    for _ in heads:
        table.add_column(no_wrap=True, justify="right", min_width=8)
    table.add_row(cell("hook"), *map(cell, heads))
    for name, row in rows.items():
        table.add_row(cell(name), *map(cell, row.values()))
    room = columns()
    if room is None or measured(table) <= room:
        return table
    told = {name: ", ".join(f"{head} {figure}" for head, figure in row.items()) for name, row in rows.items()}
    return Group(*(line for name, text in told.items() for line in (cell(name), Padding(cell(text), (0, 0, 0, 2)))))


def _cells(tally: Tally) -> dict[str, str]:
    row = tally.as_dict()
    made = {name: str(row[name]) for name in COUNTS}
    for name in ("p50", "p95"):
        taken = row[f"{name}_ms"]
        made[name] = "-" if taken is None else span(float(str(taken)) / 1000)
    return {**made, "waiting": span(float(str(row["cost_s"])))}
