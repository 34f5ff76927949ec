"""Colours of a terminal, by what they mean, and whether they are wanted. No meaning is told by a colour alone."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN, FAINT, BOLD, GOOD, WARN, BAD = "", "2", "1", "32", "33", "31"
TONES = {"bad": BAD, "warn": WARN, "strong": BOLD, "": PLAIN}


def colourful(env: Mapping[str, str]) -> bool:
    """Whether colours are wanted: on a terminal that knows them, unless its user says no."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return on_terminal and not env.get("NO_COLOR") and env.get("TERM", "dumb") != "dumb"


def painted(text: str, colour: str) -> str:
    """A text that steers nothing itself, in a colour."""
    return f"\x1b[{colour}m{text}\x1b[0m" if colour and text else text
