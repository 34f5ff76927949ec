"""The expectation language of vectors: compares an expected JSON value, operators included, with an actual one.

It reports every difference with its path, not only the first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeGuard

from anyhook.model.json_types import Json

SHOWN = 400
"""How many characters of a value a message shows."""

PLAIN_DOLLAR_KEY = "$schema"
"""The one key with a dollar that real documents have; everywhere else a dollar marks an operator."""

_BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mismatches(expected: Json, actual: Json, path: str = "$") -> list[str]:
    """Every difference, one line each, with its path; an empty list means that `actual` is as expected."""
    if is_operation(expected):
        return [line for name, operand in expected.items() for line in _OPERATORS[name].compare(operand, actual, path)]
    if isinstance(expected, dict):
        return _object(expected, actual, path)
    if isinstance(expected, list):
        return _list(expected, actual, path)
    if _same(expected, actual):
        return []
    return [f"{path}: expected {show(expected)}, got {show(actual)}"]


def is_operation(expected: Json) -> TypeGuard[dict[str, Json]]:
    """Whether an expected value is an operator object rather than an object to compare with."""
    return isinstance(expected, dict) and bool(expected) and all(_is_operator_key(key) for key in expected)


def faults(expected: Json, path: str = "$") -> list[str]:
    """What is wrong with an expectation itself: unknown operators and operands that can never be judged."""
    if isinstance(expected, list):
        return [line for index, item in enumerate(expected) for line in faults(item, f"{path}[{index}]")]
    if not isinstance(expected, dict):
        return []
    if is_operation(expected):
        return [line for name, operand in expected.items() for line in _operator_faults(name, operand, path)]
    mixed = [f"{path}: operator {key} mixed with plain keys" for key in expected if _is_operator_key(key)]
    return mixed + [line for key, item in expected.items() for line in faults(item, member(path, key))]


def member(path: str, key: str) -> str:
    """The path of an object's member."""
    return f"{path}.{key}" if _BARE_KEY.fullmatch(key) else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def show(value: Json) -> str:
    """A value as JSON, cut where it gets long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def parse_json(text: str) -> Json:
    """Strict JSON: a ValueError also for NaN, Infinity, duplicate keys and endless nesting."""

    def refuse(constant: str) -> Json:
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} appears twice in one object")
        return made

    try:
        value: Json = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _is_operator_key(key: str) -> bool:
    return key.startswith("$") and key != PLAIN_DOLLAR_KEY


def _same(expected: Json, actual: Json) -> bool:
    # True equals 1 in Python, but not in JSON.
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return expected == actual


def _object(expected: Mapping[str, Json], actual: Json, path: str) -> list[str]:
    if not isinstance(actual, dict):
        return [f"{path}: expected an object like {show(dict(expected))}, got {show(actual)}"]
    found: list[str] = []
    for key, wanted in expected.items():
        here = member(path, key)
        if key in actual:
            found += mismatches(wanted, actual[key], here)
        elif not may_be_missing(wanted):
            found.append(f"{here}: expected {show(wanted)}, got no such key")
    return found


def may_be_missing(expected: Json) -> bool:
    """Only `$absent`, alone or inside `$in` and `$all`, accepts a missing key."""
    if not is_operation(expected):
        return False
    inner = {"$in": any, "$all": all}
    return all(
        name == "$absent" or (name in inner and inner[name](map(may_be_missing, _listed(operand))))
        for name, operand in expected.items()
    )


def _list(expected: list[Json], actual: Json, path: str) -> list[str]:
    if not isinstance(actual, list):
        return [f"{path}: expected a list like {show(expected)}, got {show(actual)}"]
    if len(expected) != len(actual):
        return [f"{path}: expected a list of {len(expected)}, got {len(actual)}: {show(actual)}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [line for index, (wanted, item) in pairs for line in mismatches(wanted, item, f"{path}[{index}]")]


def _has(operand: Json, actual: Json) -> bool:
    if isinstance(actual, list):
        return any(not mismatches(operand, item) for item in actual)
    return isinstance(actual, str | dict) and isinstance(operand, str) and operand in actual


def _one_of(operand: Json, actual: Json) -> bool:
    return any(not mismatches(item, actual) for item in _listed(operand))


def _all(operand: Json, actual: Json, path: str) -> list[str]:
    return [line for wish in _listed(operand) for line in mismatches(wish, actual, path)]


def _keys(operand: Json, actual: Json, path: str) -> list[str]:
    wanted = {str(item) for item in _listed(operand)}
    if not isinstance(actual, dict):
        return [f"{path}: expected an object with exactly the keys {sorted(wanted)}, got {show(actual)}"]
    missing, extra = sorted(wanted - actual.keys()), sorted(actual.keys() - wanted)
    if not missing and not extra:
        return []
    return [f"{path}: expected exactly the keys {sorted(wanted)}, missing {missing}, extra {extra}"]


def _json(operand: Json, actual: Json, path: str) -> list[str]:
    try:
        if not isinstance(actual, str):
            raise ValueError("no text")
        return mismatches(operand, parse_json(actual), f"{path}<json>")
    except ValueError as error:
        return [f"{path}: expected a string of JSON ({error}), got {show(actual)}"]


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pattern_wish(operand: Json) -> str:
    if not isinstance(operand, str):
        return "a pattern"
    try:
        re.compile(operand)
    except re.error as error:
        return f"a pattern that compiles ({error})"
    return ""


class Operator(NamedTuple):
    """One operator: how it compares, and what it takes."""

    compare: Callable[[Json, Json, str], list[str]]
    wish: Callable[[Json], str] = lambda operand: ""
    """What it takes instead of an operand that it cannot judge; "" if it can."""
    nests: bool = False
    """Whether its operand is an expectation."""


def _if(holds: Callable[[Any, Any], bool], says: str) -> Callable[[Json, Json, str], list[str]]:
    """Compares by a condition; `says` is what it expects, with a place for the operand."""

    def compare(operand: Json, actual: Json, path: str) -> list[str]:
        shown = operand if "/{}/" in says else show(operand)
        return [] if holds(operand, actual) else [f"{path}: expected {says.format(shown)}, got {show(actual)}"]

    return compare


def _takes(fits: Callable[[Any], bool], wish: str) -> Callable[[Json], str]:
    return lambda operand: "" if fits(operand) else wish


_TRUE = _takes(lambda operand: operand is True, "true")
_A_NUMBER = _takes(_is_number, "a number")
_SOME = _takes(lambda operand: bool(_listed(operand)), "a list with something in it")

_OPERATORS: Mapping[str, Operator] = {
    "$has": Operator(_if(_has, "something that contains {0}, or an element like {0}"), nests=True),
    "$re": Operator(
        _if(
            lambda operand, actual: isinstance(actual, str) and bool(re.search(operand, actual)),
            "a text that matches /{}/",
        ),
        _pattern_wish,
    ),
    "$any": Operator(lambda operand, actual, path: [], _TRUE),
    "$absent": Operator(_if(lambda operand, actual: actual is None, "no such key, or null"), _TRUE),
    "$not": Operator(_if(lambda operand, actual: bool(mismatches(operand, actual)), "anything but {}"), nests=True),
    "$in": Operator(_if(_one_of, "one of {}"), _SOME, nests=True),
    "$all": Operator(_all, _SOME, nests=True),
    "$len": Operator(
        _if(lambda operand, actual: isinstance(actual, str | list | dict) and len(actual) == operand, "length {}"),
        _takes(lambda operand: type(operand) is int and operand >= 0, "a whole number"),
    ),
    "$keys": Operator(
        _keys, _takes(lambda it: isinstance(it, list) and all(isinstance(key, str) for key in it), "a list of keys")
    ),
    "$json": Operator(_json, nests=True),
    "$ge": Operator(_if(lambda operand, actual: _is_number(actual) and actual >= operand, "at least {}"), _A_NUMBER),
    "$le": Operator(_if(lambda operand, actual: _is_number(actual) and actual <= operand, "at most {}"), _A_NUMBER),
}


def _operator_faults(name: str, operand: Json, path: str) -> list[str]:
    operator = _OPERATORS.get(name)
    if operator is None:
        return [f"{path}: unknown operator {name}; there are {', '.join(sorted(_OPERATORS))}"]
    if wish := operator.wish(operand):
        return [f"{path}: {name} takes {wish}, not {show(operand)}"]
    return faults(operand, f"{path}.{name}") if operator.nests else []
