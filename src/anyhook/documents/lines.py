"""The lines of a text for edits: how they end, where the next begins, and new ones that end in the same way."""

from __future__ import annotations


def line_end(text: str) -> str:
    """The line end of the first line."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def in_lines_of(text: str, lines: str) -> str:
    """New lines, with the line ends of the text."""
    return lines.replace("\n", line_end(text))


def with_last_line_end(text: str) -> str:
    """The text with its last line ended."""
    return text if not text or text.endswith("\n") else text + line_end(text)


def next_line(text: str, position: int) -> int:
    """Where the next line after a position starts; the end of the text on the last line."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
