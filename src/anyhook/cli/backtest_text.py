"""What a backtest found, as a person reads it: a diff of single events, and a table. It prints nothing."""

from __future__ import annotations

import difflib
import shutil
import sys

from anyhook.cli.record_text import when
from anyhook.cli.render import wrapped
from anyhook.cli.verb_stats import span
from anyhook.model import lean_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.journal.backtest import Finding, Tally
    from anyhook.model.json_types import Json

ABOUT_MOST = 200
LINES_MOST = 20
"""How much is shown of one event."""
COUNTS = ("events", "runs", "blocks", "asks", "rewrites", "failures")


def finding_lines(finding: Finding) -> list[str]:
    """The event, then what was (-) and what would be (+)."""
    tool = f" {finding.tool}" if finding.tool else ""
    head = f"{finding.n!s:>7}  {when(finding.at)}  {finding.event}{tool}  {finding.hook} {finding.kind}"
    about = finding.about if len(finding.about) <= ABOUT_MOST else f"{finding.about[:ABOUT_MOST]}…"
    if finding.kind == "rewrites":
        changes = _changes(finding.what, finding.before, finding.after)
        more = len(changes) - LINES_MOST
        rest = [f"  … {more} more lines"] if more > 0 else []
        return [f"{head} the {finding.what}", *(f"    {line}" for line in [*changes[:LINES_MOST], *rest])]
    said = f"{finding.kind}: {finding.what}".replace("\n", "\n      ")
    if finding.kind == "lets go":
        return [head, f"    - blocked: {finding.what}", f"    + {about}"]
    return [head, f"    {'-' if finding.kind == 'blocks' else ' '} {about}", f"    + {said}"]


def _changes(name: str, before: Json, after: Json) -> list[str]:
    """The lines in which two values differ; of objects, field by field."""
    if isinstance(before, dict) and isinstance(after, dict):
        lines: list[str] = []
        for key in dict.fromkeys((*before, *after)):
            if before.get(key) != after.get(key) or (key in before) != (key in after):
                old, new = (
                    [f"{key}: {line}" for line in _text(side[key])] if key in side else [] for side in (before, after)
                )
                lines += _diff(old, new)
        return lines
    return _diff(_text(before), _text(after))


def _text(value: Json) -> list[str]:
    return (value if isinstance(value, str) else lean_json.dumps(value, False)).splitlines() or [""]


def _diff(old: list[str], new: list[str]) -> list[str]:
    _, _, *lines = difflib.unified_diff(old, new, lineterm="", n=1)
    return [f"{line[:1]} {line[1:]}" for line in lines if not line.startswith("@@")]


def table_lines(names: list[str], tallies: dict[str, Tally]) -> list[str]:
    """One line per hook; where the terminal is too narrow for that, a few."""
    rows = {name: _cells(tallies[name]) for name in names}
    if not rows:
        return []
    width = max(len("hook"), *map(len, rows))
    heads = [*next(iter(rows.values()))]
    lines = [f"{'hook':<{width}}  {'  '.join(f'{head:>8}' for head in heads)}"]
    lines += [f"{name:<{width}}  {'  '.join(f'{cell:>8}' for cell in row.values())}" for name, row in rows.items()]
    if not sys.stdout.isatty() or len(lines[0]) <= shutil.get_terminal_size((80, 24)).columns:
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
