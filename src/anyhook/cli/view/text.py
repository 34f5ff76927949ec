"""Make a project's text safe for a terminal: characters that control the terminal or are invisible are shown as
escapes. Visible text is unchanged."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size


def visible(text: str, keep: str = "") -> str:
    """Control and format characters (colours, cursor moves, bidirectional overrides, joiners) as `\\x1b`, `\\u202e`."""
    if text.isprintable():
        return text
    return "".join(char if char in keep or char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    code = ord(char)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


# Fit texts into a terminal: wide characters take two columns, combining accents none. Texts must not contain escape
# codes.


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


# Sentences as lines of a terminal's width.


def wrapped(text: str, width: int, hang: str = "") -> list[str]:
    """A text as lines of at most this width; a longer word gets its own line, because
    people copy paths and commands. `hang` comes before every line but the first."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{hang}{word}" if lines else word)
    return lines
