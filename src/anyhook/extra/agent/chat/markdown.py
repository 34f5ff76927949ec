"""The model's text as it arrives, rendered as markdown. A block is drawn once it is complete, so that nothing on the
screen has to be redrawn. `unfinished` returns the rest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from rich.markdown import Heading, Markdown
from rich.text import Text

from anyhook.cli.view.console import drawn
from anyhook.cli.view.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, ConsoleOptions, RenderResult

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CODE_THEME = "ansi_dark"
"""The terminal's own colours, which fit light and dark themes."""


class _Title(Heading):
    """A left-aligned heading."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield Text("")
        yield Text.assemble(self.text, style="bold underline" if self.tag == "h1" else "bold")


class _ChatMarkdown(Markdown):
    elements: ClassVar = {**Markdown.elements, "heading_open": _Title}


def rendered(text: str, width: int, *, colour: bool) -> list[str]:
    """A text as lines for the terminal, with control characters escaped."""
    made = _ChatMarkdown(visible(text, keep="\n\t"), code_theme=CODE_THEME, hyperlinks=False)
    lines = drawn(made, width, colour=colour)
    shown = [number for number, line in enumerate(lines) if COLOUR.sub("", line).strip()]
    return lines[shown[0] : shown[-1] + 1] if shown else []


class MarkdownStream:
    """One answer."""

    def __init__(self, draw: Callable[[str], None]) -> None:
        """`draw` gets each block when it is complete."""
        self._draw, self._text = draw, ""

    def add(self, text: str) -> None:
        self._text += text
        while (end := _first_block(self._text)) is not None:
            block, self._text = self._text[:end], self._text[end:]
            self._flush(block)

    def end(self) -> None:
        """Draw the rest: the answer is complete."""
        rest, self._text = self._text, ""
        self._flush(rest)

    @property
    def unfinished(self) -> str:
        """The line that is being written."""
        return self._text.rstrip().rpartition("\n")[2]

    def _flush(self, block: str) -> None:
        if block.strip():
            self._draw(block.strip("\n"))


def _first_block(text: str) -> int | None:
    """The end of the first complete block, or None. A blank line ends a block, unless it is in code."""
    at, fence, seen = 0, "", False
    while (end := text.find("\n", at)) >= 0:
        line = text[at:end]
        at = end + 1
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                return at
        elif mark:
            fence = mark[1]
        elif not line.strip() and seen:
            return at
        seen = seen or bool(line.strip())
    return None
