"""How much room a text takes on a terminal, and texts made to fit: wide letters take two places, accents of their own
none. It measures what is printable, and nothing that steers a terminal."""

from __future__ import annotations

CUT = "…"


def width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(map(_places, text))


def _places(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, room: int) -> str:
    """The text, or its beginning with a mark where there is no room for all of it."""
    if width(text) <= room:
        return text
    return _beginning(text, room - 1) + CUT if room > 0 else ""


def cut_middle(text: str, room: int) -> str:
    """The same for names that differ at their end: their beginning and their end stay."""
    if width(text) <= room:
        return text
    end = _beginning(text[::-1], (room - 1) * 2 // 3)[::-1]
    return _beginning(text, room - 1 - width(end)) + CUT + end if room > 0 else ""


def _beginning(text: str, room: int) -> str:
    for place, char in enumerate(text):
        room -= _places(char)
        if room < 0:
            return text[:place]
    return text


def padded(text: str, room: int) -> str:
    return text + " " * (room - width(text))
