"""JSON without recursion and without loss: for valid JSON that is nested too deeply, or has numbers too long, for the
standard library. `lean_json` uses it when those fail. A tool's input must not be able to make itself unreadable."""

from __future__ import annotations

import re
from collections.abc import Callable
from json import decoder

from anyhook.model.json_types import Digits, Json

DEEPEST = 10_000
"""Deeper than any agent nests: their own writers recurse."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_CLOSES = {"{": "}", "[": "]"}
_BLANK_RUN = re.compile(r"[ \t\n\r]*")
_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}
_string: Callable[[str, int, bool], tuple[str, int]] = decoder.scanstring  # type: ignore[attr-defined]
_INFINITE = (float("inf"), float("-inf"))


def read(text: str) -> Json:
    """The value of a JSON text, a number that Python cannot hold as `Digits`; ValueError if it is not JSON."""
    holders: list[dict[str, Json] | list[Json]] = []
    keys: list[str] = []
    place = _skip(text, 0)
    while True:
        value: Json = None
        char = text[place : place + 1]
        if char in _CLOSES:
            if len(holders) >= DEEPEST:
                raise ValueError(f"nested more than {DEEPEST:,} levels deep")
            place = _skip(text, place + 1)
            value = {} if char == "{" else []
            if text[place : place + 1] != _CLOSES[char]:
                holders.append(value)
                if char == "{":
                    place = _key(text, place, keys)
                continue
            place += 1
        else:
            value, place = _scalar(text, place)
        while True:  # hand the value to what holds it, and close what closes here
            place = _skip(text, place)
            char = text[place : place + 1]
            if not holders:
                if char:
                    raise ValueError(f"extra data at character {place}")
                return value
            holder = holders[-1]
            if isinstance(holder, dict):
                holder[keys.pop()] = value
            else:
                holder.append(value)
            if char == ",":
                place = _skip(text, place + 1)
                if isinstance(holder, dict):
                    place = _key(text, place, keys)
                break
            if char != ("}" if isinstance(holder, dict) else "]"):
                raise ValueError(f"no `,` or closing bracket at character {place}")
            value = holders.pop()
            place += 1


def _skip(text: str, place: int) -> int:
    gap = _BLANK_RUN.match(text, place)
    return place if gap is None else gap.end()


def _key(text: str, place: int, keys: list[str]) -> int:
    """Read a key; returns the position of its value."""
    if text[place : place + 1] != '"':
        raise ValueError(f"no key at character {place}")
    key, place = _string(text, place + 1, True)
    place = _skip(text, place)
    if text[place : place + 1] != ":":
        raise ValueError(f"no `:` at character {place}")
    keys.append(key)
    return _skip(text, place + 1)


def _scalar(text: str, place: int) -> tuple[Json, int]:
    if text[place : place + 1] == '"':
        return _string(text, place + 1, True)
    for word, value in _CONSTANTS.items():
        if text.startswith(word, place):
            return value, place + len(word)
    found = _NUMBER.match(text, place)
    if found is None:
        raise ValueError(f"no value at character {place}")
    return _number(found[0], found[1] is None and found[2] is None), found.end()


def _number(text: str, whole: bool) -> Json:
    try:
        if whole:
            return int(text)
        number = float(text)
    except ValueError:  # more digits than Python converts
        return Digits(text)  # type: ignore[return-value]
    return Digits(text) if number in _INFINITE else number  # type: ignore[return-value]


def write(value: object, leaf: Callable[[object], str]) -> str:
    """The JSON text of a value of any depth, `Digits` as they were written; `leaf` writes what holds nothing. TypeError
    for what is not JSON, ValueError for what holds itself."""
    made: list[str] = []
    open_ids: set[int] = set()
    left: list[tuple[str | None, object]] = [(None, value)]
    while left:
        text, item = left.pop()
        if text is not None:
            made.append(text)
            open_ids.discard(id(item))
        elif isinstance(item, Digits):
            made.append(item.text)
        elif isinstance(item, (dict, list, tuple)):
            if id(item) in open_ids:
                raise ValueError("a value holds itself")
            open_ids.add(id(item))
            left.extend(reversed(_pieces(item, leaf)))
        else:
            made.append(leaf(item))
    return "".join(made)


def _pieces(
    item: dict[object, object] | list[object] | tuple[object, ...], leaf: Callable[[object], str]
) -> list[tuple[str | None, object]]:
    """Text to write, or a value to look at, in their order. The last piece names the container that it closes."""
    keyed = isinstance(item, dict)
    pieces: list[tuple[str | None, object]] = [("{" if keyed else "[", None)]
    for count, part in enumerate(item):
        before = ", " if count else ""
        if isinstance(item, dict):
            pieces += [(before + leaf({part: 0})[1:-2], None), (None, item[part])]
        else:
            pieces += [(before, None), (None, part)]
    pieces.append(("}" if keyed else "]", item))
    return pieces
