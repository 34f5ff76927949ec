"""Sentences as lines of a terminal's width."""

from __future__ import annotations

from prompt_toolkit.utils import get_cwidth


def wrapped(text: str, width: int, hang: str = "") -> list[str]:
    """A text as lines of at most this width; a longer word gets its own line. `hang` comes before every line but the
    first."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and get_cwidth(lines[-1]) + 1 + get_cwidth(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{hang}{word}" if lines else word)
    return lines
