"""Colours of a terminal, by what they mean, and whether they are wanted. No meaning depends on colour alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.color import ColorSystem
from rich.style import Style

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAIN, FAINT, BOLD, GOOD, WARN, BAD = "", "dim", "bold", "green", "yellow", "red"
TONES = {"bad": BAD, "warn": WARN, "strong": BOLD, "": PLAIN}


def wants_colour(env: Mapping[str, str]) -> bool:
    """Whether colours are wanted: on a terminal that knows them, unless its user says no."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return on_terminal and not env.get("NO_COLOR") and env.get("TERM", "dumb") != "dumb"


def styled(text: str, style: str) -> str:
    """A text that has no escape codes itself, in a style."""
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style and text else text
