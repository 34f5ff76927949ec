"""Fit texts into a terminal: wide characters take two columns, combining accents none. Texts must not contain escape
codes."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"


def cut(text: str, room: int) -> str:
    """The text, or its start with an ellipsis if it does not fit."""
    if cell_len(text) <= room:
        return text
    return _start(text, room - 1) + ELLIPSIS if room > 0 else ""


def cut_middle(text: str, room: int) -> str:
    """The same for names that differ at their end: keeps the start and the end."""
    if cell_len(text) <= room:
        return text
    end = _start(text[::-1], (room - 1) * 2 // 3)[::-1]
    return _start(text, room - 1 - cell_len(end)) + ELLIPSIS + end if room > 0 else ""


def _start(text: str, room: int) -> str:
    return set_cell_size(text, room).rstrip() if room > 0 else ""


def padded(text: str, room: int) -> str:
    return text + " " * (room - cell_len(text))
