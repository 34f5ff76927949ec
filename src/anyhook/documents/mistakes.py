"""Guesses what the author of a broken document did, and says it with the line and a fix."""

from __future__ import annotations

import json
import re
import tomllib
from json import JSONDecodeError

from anyhook.documents.read import MAX_DIGITS, NotFinite, Unreadable, line_at

_LONG_NUMBER = f"[0-9_]{{{MAX_DIGITS},}}"


def in_json(text: str, error: ValueError | NotFinite) -> Unreadable:
    """What the JSON parser's error means for the author."""
    if isinstance(error, NotFinite):
        written = str(error)
        shown = written if len(written) < 40 else f"{written[:40]}…"
        line = _json_line(text, r"-?[0-9.]+(?:[eE][-+]?[0-9]+)?|-?Infinity|NaN", written)
        return Unreadable(f"the number {shown} is not finite", "write a finite number", line)
    if isinstance(error, json.JSONDecodeError):
        return _json_mistake(text, error)
    return Unreadable(
        "a number too long to read", "write a shorter number, or a string", _json_line(text, _LONG_NUMBER)
    )


def in_toml(text: str, error: ValueError) -> Unreadable:
    """What the TOML parser's error means for the author; it has the place in its text."""
    if isinstance(error, tomllib.TOMLDecodeError):
        what, _, place = str(error).partition(" (at ")
        return _toml_mistake(text, what, place)
    found = re.search(_LONG_NUMBER, text)
    line = None if found is None else line_at(text, found.start())
    return Unreadable("a number too long to read", "write a shorter number, or a string", line)


def _json_line(text: str, number: str, written: str | None = None) -> int | None:
    """The line of the first number of this shape outside strings, or of the first that is written just so."""
    for found in re.finditer(rf'"(?:[^"\\]+|\\.)*+"?|({number})', text, re.DOTALL):
        if found[1] and written in (None, found[1]):
            return line_at(text, found.start())
    return None


def _json_mistake(text: str, error: JSONDecodeError) -> Unreadable:
    """The error with a guess at what the author did; the guess looks at the sign where reading stopped."""
    line = line_at(text, min(error.pos, len(text.rstrip())))
    if not text.strip():
        return Unreadable("the file is empty", "write {} or remove the file", None)
    if conflict := merge_conflict(text):
        return conflict
    return Unreadable(f"not valid JSON: {error.msg}", _json_fix(text, error.pos, error.msg), line)


NO_COMMA = "remove the comma before the closing bracket"
TOLD_FIXES = (
    ("escape", "write a backslash twice: \\\\"),
    ("control character", "close the quote on the same line; write a line break as \\n and a tab as \\t"),
    ("Unterminated", "close the quote"),
    ("trailing comma", NO_COMMA),
)
"""Part of the reader's message → the fix, wherever reading stopped."""
SIGN_FIXES = {
    **dict.fromkeys("/#", "remove the comment; JSON has none"),
    **dict.fromkeys("'“”‘’`", 'use straight double quotes: "'),
}
"""The sign where reading stopped → the fix."""
EXPECTED_FIXES = (
    ("Extra data", "keep one value; remove what follows it, or one closing bracket too many"),
    ("property name", 'put double quotes around the key: "key": …'),
    ("':'", "put a colon between the key and its value"),
    ("','", "put a comma before this, or close the bracket"),
)
"""Part of the reader's message → the fix, if the sign does not tell."""


def _json_fix(text: str, at: int, message: str) -> str:
    here = text[at : at + 1]
    for part, fix in TOLD_FIXES:
        if part in message:
            return fix
    if text[:at].rstrip()[-1:] == "," and here and here in "]}":
        return NO_COMMA
    if not text[at:].strip():
        return "close every { and [; the file ends too early"
    if here in SIGN_FIXES:
        return SIGN_FIXES[here]
    fix = next((fix for part, fix in EXPECTED_FIXES if part in message), "")
    if text.startswith(("True", "False", "None"), at) and "property name" not in message:
        return "write true, false or null"
    return fix or "write a string in double quotes, a number, true, false, null, {…} or […]"


def conflict_line(text: str) -> int | None:
    """The line of a marker that a merge left, or None."""
    for sign in ("<<<<<<< ", ">>>>>>> "):
        at = 0 if text.startswith(sign) else text.find("\n" + sign) + 1
        if at or text.startswith(sign):
            return line_at(text, at)
    return None


def merge_conflict(text: str) -> Unreadable | None:
    """Why a text cannot be read in which a merge left its markers; None if it left none."""
    line = conflict_line(text)
    return None if line is None else Unreadable("a merge conflict was left in the file", "resolve the conflict", line)


def _toml_mistake(text: str, what: str, place: str) -> Unreadable:
    words = place.replace(",", " ").split()
    line = int(words[1]) if words[:1] == ["line"] else line_at(text, len(text.rstrip()))
    if conflict := merge_conflict(text):
        return conflict
    fix = "correct the TOML on this line"
    if "backslash" in what.lower() or "escape" in what.lower():
        fix = "write the value in single quotes, where a backslash is just a backslash"
    elif "Invalid value" in what:
        fix = "put a string in quotes; write true and false in lower case"
    elif "twice" in what or "overwrite" in what.lower():
        fix = "keep one of the two"
    elif "'='" in what:
        fix = "write key = value; quote a key with unusual letters"
    elif place == "end of document)" or "Unclosed" in what:
        fix = "close the quote or the bracket"
    return Unreadable(f"not valid TOML: {what}", fix, line)
