"""Terminal colours by their meaning, and whether to use them. No meaning depends on colour alone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.measure import measure_renderables
from rich.style import Style
from rich.table import Table
from rich.text import Text

from anyhook.cli.render import columns, exact_out, legible
from anyhook.cli.view.text import visible, wrapped

PLAIN, FAINT, BOLD, GOOD, WARN, BAD = "", "dim", "bold", "green", "yellow", "red"
TONES = {"bad": BAD, "warn": WARN, "strong": BOLD, "": PLAIN}
VERDICT_STYLES = {"block": BAD, "ask": WARN, "allow": GOOD, "none": PLAIN}


def wants_colour(env: Mapping[str, str]) -> bool:
    """Whether to use colours: on a terminal that supports them, unless the user says no."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return on_terminal and not env.get("NO_COLOR") and env.get("TERM", "dumb") != "dumb"


def styled(text: str, style: str) -> str:
    """A text in a style. It must not contain escape codes."""
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style and text else text


# Tables and wrapped texts, drawn by rich: as wide as the terminal, plain and uncut if the output goes elsewhere. Never
# loaded while an agent waits.


UNCUT = 100_000
"""A width at which nothing is cut."""

MIN_WRAP, MAX_WRAP = 40, 100
"""Texts are wrapped at the terminal's width, within these bounds."""


def console(width: int | None, *, colour: bool = False) -> Console:
    """A console of this width that records its output; None for no limit."""
    return Console(
        file=io.StringIO(),
        width=width or UNCUT,
        height=1,
        color_system="standard" if colour else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        force_terminal=False,
    )


def drawn(renderable: RenderableType, width: int | None = None, *, colour: bool = False) -> list[str]:
    """What rich draws, line by line."""
    drawing = console(width, colour=colour)
    with drawing.capture() as captured:
        drawing.print(renderable)
    return [line.rstrip() for line in captured.get().splitlines()]


def show(renderable: RenderableType) -> None:
    """Print a renderable."""
    for line in drawn(renderable, columns(), colour=wants_colour(os.environ)):
        exact_out(legible(line))


def grid() -> Table:
    """A table without lines, with two spaces between its columns."""
    return Table.grid(padding=(0, 2))


def measured(table: Table) -> int:
    """The width of a table without cuts."""
    drawing = console(None)
    return measure_renderables(drawing, drawing.options, [table]).maximum


def cell(text: str, style: str = "") -> Text:
    """A cell of a table. It may quote what a project wrote, which must not control the terminal."""
    return Text(visible(text), style)


def prefixed(text: str, first: str, rest: str) -> list[str]:
    """A text with a prefix for its first line and one for the others: wrapped for terminals, in one piece for
    programs."""
    room = columns()
    lines = text.split("\n")
    if room is not None:
        room = max(MIN_WRAP, min(MAX_WRAP, room)) - max(len(first), len(rest))
        lines = [each for line in visible(text, keep="\n").split("\n") for each in wrapped(line, room)]
    return [(rest if number else first) + line for number, line in enumerate(lines)]
