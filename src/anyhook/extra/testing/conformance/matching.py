"""The expectation language of vectors: compares an expected JSON value, operators included, with an actual one.

It reports every difference with its path, not only the first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

if TYPE_CHECKING:
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
    return all(_operator_accepts_missing(name, operand) for name, operand in expected.items())


def _operator_accepts_missing(name: str, operand: Json) -> bool:
    if name == "$absent":
        return True
    if name == "$in" and isinstance(operand, list):
        return any(may_be_missing(item) for item in operand)
    if name == "$all" and isinstance(operand, list):
        return all(may_be_missing(item) for item in operand)
    return False


def _list(expected: list[Json], actual: Json, path: str) -> list[str]:
    if not isinstance(actual, list):
        return [f"{path}: expected a list like {show(expected)}, got {show(actual)}"]
    if len(expected) != len(actual):
        return [f"{path}: expected a list of {len(expected)}, got {len(actual)}: {show(actual)}"]
    pairs = enumerate(zip(expected, actual, strict=True))
    return [line for index, (wanted, item) in pairs for line in mismatches(wanted, item, f"{path}[{index}]")]


def _verdict(holds: bool, wish: str, actual: Json, path: str) -> list[str]:
    return [] if holds else [f"{path}: expected {wish}, got {show(actual)}"]


def _has(operand: Json, actual: Json, path: str) -> list[str]:
    if isinstance(actual, str):
        holds = isinstance(operand, str) and operand in actual
        return _verdict(holds, f"a string that contains {show(operand)}", actual, path)
    if isinstance(actual, list):
        holds = any(not mismatches(operand, item) for item in actual)
        return _verdict(holds, f"a list with an element like {show(operand)}", actual, path)
    holds = isinstance(actual, dict) and isinstance(operand, str) and operand in actual
    return _verdict(holds, f"something that contains {show(operand)}", actual, path)


def _re(operand: Json, actual: Json, path: str) -> list[str]:
    holds = isinstance(actual, str) and re.search(str(operand), actual) is not None
    return _verdict(holds, f"a string that matches /{operand}/", actual, path)


def _any(_operand: Json, _actual: Json, _path: str) -> list[str]:
    return []


def _absent(_operand: Json, actual: Json, path: str) -> list[str]:
    return _verdict(actual is None, "no such key, or null", actual, path)


def _not(operand: Json, actual: Json, path: str) -> list[str]:
    return _verdict(bool(mismatches(operand, actual)), f"anything but {show(operand)}", actual, path)


def _in(operand: Json, actual: Json, path: str) -> list[str]:
    choices = operand if isinstance(operand, list) else []
    return _verdict(any(not mismatches(item, actual) for item in choices), f"one of {show(operand)}", actual, path)


def _all(operand: Json, actual: Json, path: str) -> list[str]:
    wishes = operand if isinstance(operand, list) else []
    return [line for wish in wishes for line in mismatches(wish, actual, path)]


def _len(operand: Json, actual: Json, path: str) -> list[str]:
    holds = isinstance(actual, str | list | dict) and len(actual) == operand
    return _verdict(holds, f"something of length {operand}", actual, path)


def _keys(operand: Json, actual: Json, path: str) -> list[str]:
    wanted = {item for item in operand if isinstance(item, str)} if isinstance(operand, list) else set()
    if not isinstance(actual, dict):
        return _verdict(False, f"an object with exactly the keys {sorted(wanted)}", actual, path)
    missing, extra = sorted(wanted - actual.keys()), sorted(actual.keys() - wanted)
    if not missing and not extra:
        return []
    return [f"{path}: expected exactly the keys {sorted(wanted)}, missing {missing}, extra {extra}"]


def _json(operand: Json, actual: Json, path: str) -> list[str]:
    if not isinstance(actual, str):
        return _verdict(False, "a string of JSON", actual, path)
    try:
        value = parse_json(actual)
    except ValueError as error:
        return [f"{path}: expected a string of JSON ({error}), got {show(actual)}"]
    return mismatches(operand, value, f"{path}<json>")


def _ge(operand: Json, actual: Json, path: str) -> list[str]:
    holds = _is_number(actual) and _is_number(operand) and actual >= operand
    return _verdict(holds, f"at least {show(operand)}", actual, path)


def _le(operand: Json, actual: Json, path: str) -> list[str]:
    holds = _is_number(actual) and _is_number(operand) and actual <= operand
    return _verdict(holds, f"at most {show(operand)}", actual, path)


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


def _is_count(operand: Json) -> bool:
    return isinstance(operand, int) and not isinstance(operand, bool) and operand >= 0


def _is_list(operand: Json) -> bool:
    return isinstance(operand, list) and bool(operand)


def _is_keys(operand: Json) -> bool:
    return isinstance(operand, list) and all(isinstance(key, str) for key in operand)


class Operator(NamedTuple):
    """One operator: how it compares, and what it takes."""

    compare: Callable[[Json, Json, str], list[str]]
    wish: Callable[[Json], str] = lambda operand: ""
    """What it takes instead of an operand that it cannot judge; "" if it can."""
    nests: bool = False
    """Whether its operand is an expectation."""


def _takes(fits: Callable[[Json], bool], wish: str) -> Callable[[Json], str]:
    return lambda operand: "" if fits(operand) else wish


_OPERATORS: Mapping[str, Operator] = {
    "$has": Operator(_has, nests=True),
    "$re": Operator(_re, _pattern_wish),
    "$any": Operator(_any, _takes(lambda operand: operand is True, "true")),
    "$absent": Operator(_absent, _takes(lambda operand: operand is True, "true")),
    "$not": Operator(_not, nests=True),
    "$in": Operator(_in, _takes(_is_list, "a list with something in it"), nests=True),
    "$all": Operator(_all, _takes(_is_list, "a list with something in it"), nests=True),
    "$len": Operator(_len, _takes(_is_count, "a whole number")),
    "$keys": Operator(_keys, _takes(_is_keys, "a list of keys")),
    "$json": Operator(_json, nests=True),
    "$ge": Operator(_ge, _takes(_is_number, "a number")),
    "$le": Operator(_le, _takes(_is_number, "a number")),
}


def _operator_faults(name: str, operand: Json, path: str) -> list[str]:
    operator = _OPERATORS.get(name)
    if operator is None:
        return [f"{path}: unknown operator {name}; there are {', '.join(sorted(_OPERATORS))}"]
    if wish := operator.wish(operand):
        return [f"{path}: {name} takes {wish}, not {show(operand)}"]
    return faults(operand, f"{path}.{name}") if operator.nests else []
