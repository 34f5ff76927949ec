"""The editor of other people's documents: adds, replaces or removes a value at a place in a JSON, TOML or YAML text and
leaves every other byte alone.

An edit works on the text. Afterwards the text is read again: if it says anything but the old document with this one
change, the edit is refused. So an unusual layout costs the edit, never the document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from anyhook.documents import edit_json
from anyhook.documents.parse import BLANK, parse_toml, parse_yaml
from anyhook.documents.read import BOM, Unreadable
from anyhook.model.json_types import Json

if TYPE_CHECKING:
    from anyhook.documents.parse import Place, Syntax

UNUSUAL = "it is written in a way that cannot be edited without rewriting it"


class Editor(Protocol):
    """What the module of a syntax can do. The caller checks the result."""

    def insert(self, text: str, place: Place, key: str | None, value: Json, /) -> str:
        """Adds to the end of the list at the place, or of the map there with a key."""

    def replace(self, text: str, place: Place, value: Json, /) -> str:
        """Puts another value at the place."""

    def remove(self, text: str, place: Place, /) -> str:
        """Removes the key or item at the place."""


class CannotEdit(Exception):  # noqa: N818 (it says what happened)
    """The text cannot be edited safely: why."""


def is_blank(text: str) -> bool:
    """Whether a text is empty."""
    return not text.strip(BLANK)


def read(text: str, syntax: Syntax) -> Json:
    """The document. JSON may have comments and trailing commas, as in agents' own settings."""
    try:
        if syntax == "json":
            return edit_json.scan(text).value
        return parse_toml(text) if syntax == "toml" else parse_yaml(text)
    except edit_json.Malformed as error:
        raise CannotEdit(f"line {error.line}: it is not valid JSON ({error.what})") from None
    except Unreadable as error:
        raise CannotEdit(str(error)) from None


def append(text: str, syntax: Syntax, place: Place, value: Json) -> str:
    """Adds a value at the end of the list at a place. The list and missing parents are created."""
    text = _begun(text, syntax)
    document = read(text, syntax)
    wanted = _changed(document, place, lambda found: [*_as_list(found, place), value])
    if syntax == "toml" or at(document, place) is not None:  # a TOML header creates missing parents itself
        return _verified(text, syntax, wanted, lambda editor, body: editor.insert(body, place, None, value))
    return _verified(text, syntax, wanted, lambda editor, body: _made(editor, body, document, place, [value]))


def put(text: str, syntax: Syntax, place: Place, value: Json) -> str:
    """Sets the value at a place, which may be new. Missing parents are created."""
    text = _begun(text, syntax)
    document = read(text, syntax)
    wanted = _changed(document, place, lambda _: value)
    return _verified(text, syntax, wanted, lambda editor, body: _made(editor, body, document, place, value))


def remove(text: str, syntax: Syntax, place: Place) -> str:
    """Removes the key or item at a place. Its container stays, even if it is empty."""
    document = read(text, syntax)
    if not place or not _is_there(document, place):
        raise CannotEdit(f"there is no `{_dotted(place)}` in it")
    wanted = _changed(document, place[:-1], lambda found: _without(found, place[-1]))
    return _verified(text, syntax, wanted, lambda editor, body: editor.remove(body, place))


def at(document: Json, place: Place) -> Json:
    """The value at a place, or None."""
    for part in place:
        if isinstance(document, dict) and isinstance(part, str):
            document = document.get(part)
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            document = document[part]
        else:
            return None
    return document


def _made(editor: Editor, body: str, document: Json, place: Place, value: Json) -> str:
    """Writes a value where it is missing or null, with the parents that are missing."""
    there = 0
    while there < len(place) and at(document, place[: there + 1]) is not None:
        there += 1
    for part in reversed(place[there + 1 :]):
        value = {str(part): value}
    if _is_there(document, place[: there + 1]):
        return editor.replace(body, place[: there + 1], value)
    return editor.insert(body, place[:there], str(place[there]), value)


def _begun(text: str, syntax: Syntax) -> str:
    """A text that can be added to: JSON needs its braces."""
    return f"{text}{{}}\n" if syntax == "json" and is_blank(text) else text


def _editor(syntax: Syntax) -> Editor:
    """The module for a syntax. Most edits are of JSON, so the others are imported when they are needed."""
    match syntax:
        case "json":
            return edit_json
        case "toml":
            from anyhook.documents import edit_toml

            return edit_toml
        case "yaml":
            from anyhook.documents import edit_yaml

            return edit_yaml


def _verified(text: str, syntax: Syntax, wanted: Json, edit: Callable[[Editor, str], str]) -> str:
    """The edited text, if it says what it should."""
    mark = BOM if text.startswith(BOM) else ""
    try:
        made = mark + edit(_editor(syntax), text.removeprefix(BOM))
        found = read(made, syntax)
    except (LookupError, ValueError, CannotEdit):
        raise CannotEdit(UNUSUAL) from None
    if found != wanted:
        raise CannotEdit(UNUSUAL)
    return made


def _changed(document: Json, place: Place, change: Callable[[Json], Json], above: Place = ()) -> Json:
    """The document with one place changed."""
    if not place:
        return change(document)
    part, rest = place[0], place[1:]
    if isinstance(document, list) and isinstance(part, int) and part < len(document):
        inner = _changed(document[part], rest, change, (*above, part))
        return [inner if number == part else item for number, item in enumerate(document)]
    if (document is None or isinstance(document, dict)) and isinstance(part, str):
        known = document or {}
        return {**known, part: _changed(known.get(part), rest, change, (*above, part))}
    raise CannotEdit(f"`{_dotted(above)}` is not a map" if above else "it does not hold an object")


def _as_list(found: Json, place: Place) -> list[Json]:
    if found is not None and not isinstance(found, list):
        raise CannotEdit(f"`{_dotted(place)}` is not a list")
    return found or []


def _is_there(document: Json, place: Place) -> bool:
    above, last = at(document, place[:-1]), place[-1]
    if isinstance(above, dict):
        return last in above
    return isinstance(above, list) and isinstance(last, int) and last < len(above)


def _without(document: Json, part: str | int) -> Json:
    if isinstance(document, dict):
        return {key: item for key, item in document.items() if key != part}
    return [item for number, item in enumerate(document) if number != part] if isinstance(document, list) else None


def _dotted(place: Place) -> str:
    return ".".join(map(str, place))
