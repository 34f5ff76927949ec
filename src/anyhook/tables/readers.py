"""Readers of a hook's stdout: bytes in, (kind, value) out. They judge shape only, never meaning."""

from __future__ import annotations

from anyhook.model import lean_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.cell_names import Printed

NOTHING: Printed = ("nothing", None)


def _text(stdout: bytes) -> str:
    return stdout.decode("utf-8", "replace")


def _parse(text: str) -> Printed:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        return "garbage", f"it is not JSON: {error}"
    if not isinstance(value, dict):
        return "garbage", f"it is JSON, but not an object: {text[:40]}"
    return "object", value


def whole_object(stdout: bytes) -> Printed:
    """All of stdout is one JSON object."""
    text = _text(stdout).strip()
    return _parse(text) if text else NOTHING


def whole_object_strict(stdout: bytes) -> Printed:
    """The same, but only zero bytes are silence."""
    if not stdout:
        return NOTHING
    text = _text(stdout).strip()
    return _parse(text) if text else ("blank", "stdout holds only white space")


def last_line_object(stdout: bytes) -> Printed:
    """The last line that is not empty is a JSON object; else all of stdout is one; else nothing was said."""
    text = _text(stdout).strip()
    if not text.endswith("}"):
        return NOTHING
    last = text[text.rfind("\n") + 1 :].strip()
    for candidate in (last, text):
        if candidate.startswith("{"):
            kind, value = _parse(candidate)
            if kind == "object":
                return kind, value
    return "blank", "stdout ends like a JSON object, but neither its last line nor all of it is one"


def object_or_text(stdout: bytes) -> Printed:
    """All of stdout is a JSON object; what is not JSON at all is text for the model."""
    text = _text(stdout).strip()
    if not text:
        return NOTHING
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return "text", text
    return ("object", value) if isinstance(value, dict) else ("garbage", f"it is JSON, but not an object: {text[:40]}")


def object_or_words(stdout: bytes) -> Printed:
    """What begins like JSON has to be an object; anything else is text."""
    text = _text(stdout).strip()
    if not text:
        return NOTHING
    return _parse(text) if text[0] in "{[" else ("text", text)


def object_or_nothing(stdout: bytes) -> Printed:
    """All of stdout is one JSON object, or it says nothing."""
    kind, value = _parse(_text(stdout))
    return (kind, value) if kind == "object" else NOTHING


def object_or_prose(stdout: bytes) -> Printed:
    """What begins and ends like an object is one, if it parses; anything else is text."""
    text = _text(stdout).strip()
    if not text:
        return NOTHING
    if text.startswith("{") and text.endswith("}"):
        kind, value = _parse(text)
        if kind == "object":
            return kind, value
    return "text", text


def yes_or_no(stdout: bytes) -> Printed:
    """A model's answer: an object with `ok`, alone or somewhere in the text."""
    text = _text(stdout).strip()
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1]):
        kind, value = _parse(candidate) if candidate else NOTHING
        if kind == "object" and isinstance(value, dict):
            return ("object", value) if "ok" in value else ("garbage", "the answer has no `ok`")
    return "garbage", f"the answer holds no JSON object: {text[:40]!r}"
