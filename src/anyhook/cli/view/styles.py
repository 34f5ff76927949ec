"""Terminal colours by their meaning, and whether to use them. No meaning depends on colour alone."""

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
    """Whether to use colours: on a terminal that supports them, unless the user says no."""
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    return on_terminal and not env.get("NO_COLOR") and env.get("TERM", "dumb") != "dumb"


def styled(text: str, style: str) -> str:
    """A text in a style. It must not contain escape codes."""
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style and text else text
