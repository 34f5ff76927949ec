"""Parses one document that a user or a project wrote, with limits on depth and time, or says why it cannot.

Bad content raises only `Unreadable`.
"""

from __future__ import annotations

from anyhook.documents.read import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from anyhook.model.json_types import Json

    Place = tuple[str | int, ...]
    Syntax = Literal["json", "toml", "yaml"]

MAX_DEPTH = 64
MAX_KEY_PARTS = 16
"""The most parts of one dotted TOML key; tomllib needs quadratic time and memory for them."""
MAX_DIGITS = 4_300
"""Python refuses to read or print longer decimal numbers."""
MAX_BITS = 14_000

BOM = "\ufeff"
BLANK = f"{BOM} \t\r\n"
_MAX_COUNTED = 50
"""How many keys are searched for one by one."""
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(code for code in range(256) if code not in _STEPS)
_NO_SIGNS = _NO_BRACKETS.replace(b'"', b"")
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
    coded = _bound_json(_utf8(text))
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
    _bound_depth(b"".join(signs.split(b'"')[::2]))
    return coded


class NotFinite(Exception):  # noqa: N818 - a property of the document, as above
    """A number that is not finite; the argument is how it was written."""


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


def bound_toml(text: str) -> None:
    """Refuses a depth or a key that would overload a parser. Strings and comments are removed first; if one has no end,
    the parsers fail there too."""
    if text.count("[") + text.count("{") <= MAX_DEPTH and text.count(".") < MAX_KEY_PARTS:
        return
    import re

    noise = (
        r'"""(?:[^"\\]+|\\.|"(?!""))*+(?:"{3,5})?'
        r"|'''(?:[^']+|'(?!''))*+(?:'{3,5})?"
        r'|"(?:[^"\\\n]+|\\.)*+"?'
        r"|'[^'\n]*+'?"
        r"|#[^\n]*"
    )
    outside = re.sub(noise, "", text, flags=re.DOTALL)
    _bound_depth(outside.encode().translate(None, _NO_BRACKETS))
    if any(piece.count(".") >= MAX_KEY_PARTS for piece in re.split(r"[=,\[\]{}\n]", outside)):
        raise Unreadable(f"a key has more than {MAX_KEY_PARTS} parts", "write it flatter")


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


def too_deep() -> Unreadable:
    return Unreadable(f"nested more than {MAX_DEPTH} levels deep", "write it flatter")


def _bound_depth(brackets: bytes) -> None:
    """Refuses too many nested brackets, without recursion, which parsers use. Removing empty pairs lowers the depth by
    at most one each time, and is enough for ordinary documents; the rest is counted."""
    from itertools import accumulate

    peeled = brackets
    for _ in range(MAX_DEPTH // 8):
        peeled = peeled.replace(b"{}", b"").replace(b"[]", b"")
        if not peeled:
            return
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        raise too_deep()


def clean(text: str) -> str:
    """The text without a byte order mark, if it is text."""
    text = text.removeprefix(BOM)
    if not text.isascii():
        _utf8(text)
    return text


def _utf8(text: str) -> bytes:
    """A lenient decoder turns bytes that are not UTF-8 into halves of surrogate pairs."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("it is not UTF-8", "save the file as UTF-8", line_at(text, error.start)) from None


def line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
