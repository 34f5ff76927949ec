"""Parses one document that a user or a project wrote, with limits on depth and time, or says why it cannot.

Bad content raises only `Unreadable`.
"""

from __future__ import annotations

from anyhook.documents.read import (
    BOM,
    MAX_BITS,
    MAX_DEPTH,
    NO_BRACKETS,
    NotFinite,
    Unreadable,
    bound_depth,
    bound_toml,
    clean,
    line_at,
    too_deep,
    utf8,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from anyhook.model.json_types import Json

    Place = tuple[str | int, ...]
    Syntax = Literal["json", "toml", "yaml"]


BLANK = f"{BOM} \t\r\n"
_MAX_COUNTED = 50
"""How many keys are searched for one by one."""
_NO_SIGNS = NO_BRACKETS.replace(b'"', b"")
_NO_ESCAPES = bytes(code for code in _NO_SIGNS if code not in b"\\/bfnrtu")


def syntax_of(path: str, text: str) -> Syntax:
    """By the file extension; a YAML file that starts like JSON is JSON."""
    if path.endswith(".toml"):
        return "toml"
    return "json" if path.endswith(".json") or text.lstrip(BLANK)[:1] in ("{", "[") else "yaml"


def parse_json(text: str) -> Json:
    """Strict JSON; the last of equal keys counts. Non-finite numbers and halves of surrogate pairs are refused."""
    import json

    text = text.removeprefix(BOM)
    coded = _bound_json(utf8(text))
    try:
        value: Json = json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
    except (ValueError, NotFinite) as error:
        from anyhook.documents import mistakes

        raise mistakes.in_json(text, error) from None
    if coded:
        _refuse_half_pairs(text)
    return value


def repeated_key(text: str, document: Json) -> tuple[str, int] | None:
    """A key that appears twice in one object of a JSON document, and the line of the second. Only the two top levels,
    which declare hooks, are checked. For nearly every document counting is enough."""
    if not isinstance(document, dict):
        return None
    names = {*document, *(key for item in document.values() if isinstance(item, dict) for key in item)}
    few = len(names) <= _MAX_COUNTED  # for more than a few, parsing again is faster
    if few and not any(text.count(f'"{name}"') > 1 for name in names):
        return None
    import json

    twice: list[str] = []

    def look(pairs: list[tuple[str, Json]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                twice.append(key)
            seen.add(key)

    json.loads(text.removeprefix(BOM), object_pairs_hook=look)
    for name in twice:
        if name in names:
            first = text.find(f'"{name}"')
            return name, line_at(text, text.find(f'"{name}"', first + 1))
    return None


def _bound_json(data: bytes) -> bool:
    """Refuses too much depth; says whether there are `\\u` escapes.

    Without escapes, quotes open and close strings alternately, so every second piece is outside strings. The rest makes
    it fast: letters that cannot follow a backslash are removed first, and two adjacent quotes change no bracket.
    """
    coded = False
    if b"\\" in data:
        data = data.translate(None, _NO_ESCAPES).replace(rb"\\", b"").replace(rb"\"", b"")
        coded = b"\\" in data and rb"\u" in data
    signs = data.translate(None, _NO_SIGNS).replace(b'""', b"")
    bound_depth(b"".join(signs.split(b'"')[::2]))
    return coded


def _refuse_number(literal: str) -> float:
    raise NotFinite(literal)


def _finite(literal: str) -> float:
    number = float(literal)
    if number - number != 0:
        raise NotFinite(literal)
    return number


def _refuse_half_pairs(text: str) -> None:
    import re

    pair_or_half = r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(u[dD][89a-fA-F]\w\w)|.)"
    for found in re.finditer(pair_or_half, text, re.DOTALL):
        if found[1]:
            what = f"\\{found[1]} is half of a character"
            raise Unreadable(what, "write the character itself", line_at(text, found.start()))


def parse_yaml(text: str, counted: Callable[[int], None] | None = None) -> Json:
    """One YAML 1.2 document of plain data: no tags, dates or repeated keys; keys are strings. Aliases are bounded,
    and a plain `<<` brings in the mappings it names. `counted` is called with the number of values read, even if
    reading fails."""
    from anyhook.documents import yaml_tree

    return yaml_tree.load(clean(text), counted)


def escape_backslashes(yaml_text: str) -> str:
    """The text with backslashes in double-quoted scalars doubled, for an author who meant them literally.

    Escaped quotes, escaped backslashes and escaped line ends stay, so that every scalar ends where it ended.
    """
    if "\\" not in yaml_text:
        return yaml_text
    from anyhook.documents import yaml_tree

    return yaml_tree.escape_backslashes(yaml_text)


def parse_toml(text: str) -> Json:
    """A TOML document; dates and times become text in ISO form, non-finite numbers are refused."""
    import tomllib

    text = clean(text)
    bound_toml(text)
    try:
        value = tomllib.loads(text)
    except ValueError as error:
        from anyhook.documents import mistakes

        raise mistakes.in_toml(text, error) from None
    return _plain_toml(value, (), text)


def _plain_toml(value: object, place: Place, text: str) -> Json:
    if isinstance(value, dict | list) and len(place) >= MAX_DEPTH:
        raise too_deep()
    if isinstance(value, dict):
        return {key: _plain_toml(item, (*place, key), text) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_toml(item, (*place, index), text) for index, item in enumerate(value)]
    if isinstance(value, str | bool):
        return value
    if isinstance(value, float) and value - value != 0:
        raise Unreadable(f"the number {value} is not finite", "write a finite number", _toml_line(text, place))
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise Unreadable("a number too long to read", "write a shorter number", _toml_line(text, place))
    if isinstance(value, int | float):
        return value
    return _date_text(value)


def _toml_line(text: str, place: Place) -> int | None:
    from anyhook.documents.locate import line_of

    return line_of(text, "toml", place)


def _date_text(value: object) -> str:
    from datetime import date, time

    return value.isoformat() if isinstance(value, date | time) else str(value)


def split_front_matter(text: str) -> tuple[str, int] | None:
    """The text between a first line `---` and the next line `---` or `...`, and how many lines come before it."""
    text = text.removeprefix(BOM)
    end = text.find("\n")
    if (text if end < 0 else text[:end]).rstrip() != "---":
        return None
    start = at = end + 1
    while end >= 0:
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if line.rstrip() in ("---", "..."):
            return text[start:at], 1
        at = end + 1
    raise Unreadable("the front matter has no end", "add a line with --- after its last field", 1)
