"""How the lines of a text end, so that what is added to it ends in the same way."""

from __future__ import annotations


def line_end(text: str) -> str:
    """As the first line ends."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def with_last_line_end(text: str) -> str:
    """The text with its last line ended."""
    return text if not text or text.endswith("\n") else text + line_end(text)
