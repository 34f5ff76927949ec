"""A row as `anyhook log` shows it: columns, then what happened, then why, on the next line if the terminal is too
narrow for both."""

from __future__ import annotations

from rich.cells import cell_len

from anyhook.cli.view.console import BAD, FAINT, GOOD, WARN, styled
from anyhook.cli.view.record_text import short_time, span, when
from anyhook.cli.view.rows import Row
from anyhook.cli.view.text import cut, padded

COLOURS = {"✗": BAD, "✓": GOOD, "?": WARN, "!": WARN}
INDENT = " " * 9
MAX_WHY = 240
"""How many characters of a reason are shown where no terminal cuts it; `anyhook explain` has all of it."""
SHORT_NAME = 8
"""A machine's name is random, and `--machine` takes its beginning."""
ROOMY, NARROW = 100, 60
"""At least this wide, times have their date; below the second width, who fired and how long it took are left out."""


def log_line(row: Row, room: int | None = None, *, colour: bool = False) -> str:
    """`room` is the terminal's width; None without a terminal, and then only reasons are cut."""
    narrow = room is not None and room < NARROW
    number = "-" if row.n is None else str(row.n)
    start = f"{number:>7}  {short_time(row.at) if room is not None and room < ROOMY else when(row.at)}"
    if not narrow:
        took = "" if row.ms is None else span(row.ms / 1000)
        start += f"  {took:>7}  {padded(row.host if room is None else cut(row.host, 8), 8)}"
    if row.machine:
        start += f"  {row.machine if room is None else row.machine[:SHORT_NAME]}"
    said = f"{row.said:<{8 if narrow else 13}}"
    what, why = f"{row.what}  {row.about}".rstrip(), cut(row.why, MAX_WHY)
    told, below = f"{what}  {why}".rstrip(), ""
    if room is not None:
        left = room - cell_len(start) - cell_len(said) - 4
        if row.reason and cell_len(told) > left:
            told, below = what, f"\n{INDENT}{cut(why, room - len(INDENT))}"
        told = cut(told, left)
    if colour:
        start, said = styled(start, FAINT), styled(said, COLOURS.get(said[0], ""))
    return f"{start}  {said}  {told}".rstrip() + below
