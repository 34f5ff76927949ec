"""A row as `anyhook log` shows it: columns, then what happened, then why, on a line of its own where a terminal
has no room for both. It prints nothing."""

from __future__ import annotations

from anyhook.cli.colours import BAD, FAINT, GOOD, WARN, painted
from anyhook.cli.record_text import short_time, span, when
from anyhook.cli.width import cut, padded, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.rows import Row

MARKS = {"block": ("✗", BAD), "allow": ("✓", GOOD), "ask": ("?", WARN)}
WOULD_BLOCK = "would block"
INDENT = " " * 9
ROOMY, NARROW = 100, 60
"""From so many columns on, times have their date; below so many, who fired and how long it took are left out."""


def log_line(row: Row, room: int | None = None, colour: bool = False) -> str:
    """`room` is the terminal's width; None for no terminal, where everything stands in full."""
    narrow = room is not None and room < NARROW
    verdict = WOULD_BLOCK if row.verdict == "block" and row.shadow else row.verdict
    mark, style = MARKS.get(row.verdict, ("·", ""))
    if row.failed and row.verdict != "block":
        mark, style = "!", WARN
    number = "-" if row.n is None else str(row.n)
    start = f"{number:>7}  {short_time(row.at) if room is not None and room < ROOMY else when(row.at)}"
    if not narrow:
        took = "" if row.ms is None else span(row.ms / 1000)
        start += f"  {took:>7}  {padded(cut(row.host, 8), 8)}"
    said = f"{mark} {padded(verdict, 5 if narrow else len(WOULD_BLOCK))}"
    what, why = _what(row), f"{row.hook}: {row.reason}" if row.hook and row.reason else row.hook or row.reason
    told, below = f"{what}  {why}" if why else what, ""
    if room is not None:
        left = room - width(start) - width(said) - 4
        if row.reason and width(told) > left:
            told, below = what, f"\n{INDENT}{cut(why, room - len(INDENT))}"
        told = cut(told, left)
    if colour:
        start, said = painted(start, FAINT), painted(said, style)
    return f"{start}  {said}  {told}".rstrip() + below


def _what(row: Row) -> str:
    what = f"{row.event} {row.tool}" if row.tool else row.event
    if row.events > 1:
        what += f" × {row.events:,}"
    return f"{what}  {row.about}" if row.about else what
