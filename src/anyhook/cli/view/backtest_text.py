"""What a backtest found, as a person reads it: a diff of single events, and a table. It prints nothing."""

from __future__ import annotations

from anyhook.cli.view.difference import difference
from anyhook.cli.view.record_text import span, when
from anyhook.cli.view.render import columns, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.replay.backtest import Finding, Tally

ABOUT_MOST = 200
"""How much is shown of what an event was about."""
COUNTS = ("events", "runs", "blocks", "asks", "rewrites", "failures")


def finding_lines(finding: Finding) -> list[str]:
    """The event, then what was (-) and what would be (+)."""
    tool = f" {finding.tool}" if finding.tool else ""
    head = f"{finding.n!s:>7}  {when(finding.at)}  {finding.event}{tool}  {finding.hook} {finding.kind}"
    about = finding.about if len(finding.about) <= ABOUT_MOST else f"{finding.about[:ABOUT_MOST]}…"
    if finding.kind == "rewrites":
        changes = difference(finding.before, finding.after)
        return [f"{head} the {finding.what}", *(f"    {line}" for line in changes)]
    said = f"{finding.kind}: {finding.what}".replace("\n", "\n      ")
    if finding.kind == "lets go":
        return [head, f"    - blocked: {finding.what}", f"    + {about}"]
    return [head, f"    {'-' if finding.kind == 'blocks' else ' '} {about}", f"    + {said}"]


def table_lines(names: list[str], tallies: dict[str, Tally]) -> list[str]:
    """One line per hook; where the terminal is too narrow for that, a few."""
    rows = {name: _cells(tallies[name]) for name in names}
    if not rows:
        return []
    width = max(len("hook"), *map(len, rows))
    heads = [*next(iter(rows.values()))]
    lines = [f"{'hook':<{width}}  {'  '.join(f'{head:>8}' for head in heads)}"]
    lines += [f"{name:<{width}}  {'  '.join(f'{cell:>8}' for cell in row.values())}" for name, row in rows.items()]
    room = columns()
    if room is None or len(lines[0]) <= room:
        return lines
    lines = []
    for name, row in rows.items():
        told = ", ".join(f"{head} {cell}" for head, cell in row.items())
        lines += [name, *wrapped(told, "  ", "  ")]
    return lines


def _cells(tally: Tally) -> dict[str, str]:
    row = tally.as_dict()
    made = {name: str(row[name]) for name in COUNTS}
    for name in ("p50", "p95"):
        taken = row[f"{name}_ms"]
        made[name] = "-" if taken is None else span(float(str(taken)) / 1000)
    return {**made, "waiting": span(float(str(row["cost_s"])))}
