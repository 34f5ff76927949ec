"""Make a project's text safe for a terminal: characters that control the terminal or are invisible are shown as
escapes. Visible text is unchanged."""

from __future__ import annotations


def visible(text: str, keep: str = "") -> str:
    """Control and format characters (colours, cursor moves, bidirectional overrides, joiners) as `\\x1b`, `\\u202e`."""
    if text.isprintable():
        return text
    return "".join(char if char in keep or char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    code = ord(char)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
