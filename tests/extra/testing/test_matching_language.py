"""The expectation language, operator by operator, and two properties that hold for every JSON value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.extra.testing.conformance.matching import faults, member, mismatches, parse_json
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

MATCHING: list[tuple[str, Json, Json]] = [
    ("null", None, None),
    ("text", "a", "a"),
    ("whole and fractional number of one value", 1, 1.0),
    ("more keys are fine", {"a": 1}, {"a": 1, "b": 2}),
    ("an empty object asks for an object", {}, {"a": 1}),
    ("list", [1, {"a": 2}], [1, {"a": 2, "b": 3}]),
    ("empty list", [], []),
    ("has: substring", {"$has": "bc"}, "abcd"),
    ("has: element", {"$has": {"a": 1}}, [{"a": 2}, {"a": 1, "b": 2}]),
    ("has: element by operator", {"$has": {"$re": "^x"}}, ["ax", "xa"]),
    ("has: key", {"$has": "a"}, {"a": None}),
    ("re: searches", {"$re": "b+c$"}, "abbc"),
    ("any: null is there", {"a": {"$any": True}}, {"a": None}),
    ("absent: no key", {"a": {"$absent": True}}, {"b": 1}),
    ("absent: null", {"a": {"$absent": True}}, {"a": None}),
    ("not", {"$not": "a"}, "b"),
    ("not absent", {"a": {"$not": {"$absent": True}}}, {"a": 0}),
    ("in", {"$in": ["a", {"$re": "^b"}]}, "bc"),
    ("in with absent accepts a missing key", {"a": {"$in": [1, {"$absent": True}]}}, {}),
    ("all", {"$all": [{"$has": "a"}, {"$has": "b"}]}, "ab"),
    ("len of text", {"$len": 2}, "ab"),
    ("len of list", {"$len": 0}, []),
    ("len of object", {"$len": 1}, {"a": 1}),
    ("keys in any order", {"$keys": ["b", "a"]}, {"a": 1, "b": 2}),
    ("json", {"$json": {"a": 1}}, '{"a": 1, "b": 2}'),
    ("ge", {"$ge": 2}, 2),
    ("le", {"$le": 2.5}, 2),
    ("two operators together", {"$ge": 1, "$le": 3}, 2),
    ("$schema is a plain key", {"$schema": "s", "a": 1}, {"$schema": "s", "a": 1}),
]

DIFFERENT: list[tuple[str, Json, Json, str]] = [
    ("null is not false", None, False, "$: expected null, got false"),
    ("true is not 1", True, 1, "$: expected true, got 1"),
    ("0 is not false", 0, False, "$: expected 0, got false"),
    ("number is not text", 1, "1", '$: expected 1, got "1"'),
    ("empty object against list", {}, [], "$: expected an object"),
    ("empty list against object", [], {}, "$: expected a list"),
    ("missing key", {"a": {"b": 1}}, {"a": {}}, "$.a.b: expected 1, got no such key"),
    ("null is no missing key", {"a": None}, {}, "$.a: expected null, got no such key"),
    ("shorter list", [1, 2], [1], "$: expected a list of 2, got 1"),
    ("longer list", [], [1], "$: expected a list of 0, got 1"),
    ("deep in a list", {"hooks": [{"status": "ran"}]}, {"hooks": [{"status": "skipped"}]}, "$.hooks[0].status: "),
    ("odd key", {"a b": 1}, {"a b": 2}, '$["a b"]: '),
    ("has: substring", {"$has": "x"}, "abc", 'contains "x"'),
    ("has: number in text", {"$has": 1}, "1", "contains 1"),
    ("has: element", {"$has": 1}, [True, "1"], "element like 1"),
    ("has: key", {"$has": "a"}, {"b": "a"}, 'contains "a"'),
    ("has: null holds nothing", {"$has": "a"}, None, "got null"),
    ("re", {"$re": "^b"}, "ab", "matches /^b/"),
    ("re on a number", {"$re": "1"}, 1, "matches /1/"),
    ("any: missing", {"a": {"$any": True}}, {}, "$.a: "),
    ("absent: there", {"a": {"$absent": True}}, {"a": False}, "$.a: expected no such key, or null, got false"),
    ("not", {"$not": {"$has": "a"}}, "abc", "anything but"),
    ("not: missing key", {"a": {"$not": "x"}}, {}, "$.a: "),
    ("in", {"$in": [1, 2]}, 3, "one of [1, 2]"),
    ("in without absent: missing key", {"a": {"$in": [1, None]}}, {}, "$.a: "),
    ("all: one of two", {"$all": [{"$has": "a"}, {"$has": "x"}]}, "ab", 'contains "x"'),
    ("len", {"$len": 1}, [1, 2], "length 1"),
    ("len of a number", {"$len": 1}, 1, "length 1"),
    ("keys: extra", {"$keys": ["a"]}, {"a": 1, "b": 2}, "extra ['b']"),
    ("keys: missing", {"$keys": ["a", "c"]}, {"a": 1}, "missing ['c']"),
    ("keys of a list", {"$keys": ["a"]}, ["a"], "exactly the keys"),
    ("json: other value", {"$json": {"a": 1}}, '{"a": 2}', "$<json>.a: expected 1, got 2"),
    ("json: no JSON", {"$json": {}}, "{", "a string of JSON"),
    ("json: no text", {"$json": {"a": 1}}, {"a": 1}, "a string of JSON"),
    ("ge", {"$ge": 2}, 1.9, "at least 2"),
    ("ge: a bool is no number", {"$ge": 0}, True, "at least 0"),
    ("ge: a text is no number", {"$ge": 0}, "1", "at least 0"),
    ("le", {"$le": 2}, 3, "at most 2"),
    ("le: null", {"$le": 2}, None, "at most 2"),
    ("second of two operators", {"$ge": 1, "$le": 3}, 4, "at most 3"),
]

FAULTY: list[tuple[Json, str]] = [
    ({"$hass": 1}, "unknown operator $hass"),
    ({"a": [{"$nope": 1}]}, "$.a[0]: unknown operator $nope"),
    ({"$has": "a", "b": 1}, "operator $has mixed with plain keys"),
    ({"$re": "("}, "a pattern that compiles"),
    ({"$re": 1}, "a pattern"),
    ({"$any": False}, "$any takes true"),
    ({"$absent": False}, "$absent takes true"),
    ({"$len": "1"}, "a whole number"),
    ({"$len": True}, "a whole number"),
    ({"$ge": "1"}, "a number"),
    ({"$le": True}, "a number"),
    ({"$in": []}, "a list with something in it"),
    ({"$all": {}}, "a list with something in it"),
    ({"$keys": [1]}, "a list of keys"),
    ({"$not": {"$nope": 1}}, "$.$not: unknown operator $nope"),
    ({"$json": {"a": {"$nope": 1}}}, "$.$json.a: unknown operator $nope"),
]


@each_of(("expected", "actual"), [row[1:] for row in MATCHING], ids=[row[0] for row in MATCHING])
def test_matches(expected: Json, actual: Json) -> None:
    assert mismatches(expected, actual) == []
    assert faults(expected) == []


@each_of(("expected", "actual", "said"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT])
def test_differs_and_says_where(expected: Json, actual: Json, said: str) -> None:
    found = mismatches(expected, actual)
    assert len(found) == 1
    assert said in found[0]


@each_of(("expected", "said"), FAULTY)
def test_faults_of_an_expectation(expected: Json, said: str) -> None:
    found = faults(expected)
    assert len(found) == 1
    assert said in found[0]


def test_every_difference_is_reported() -> None:
    found = mismatches({"a": 1, "b": [1, 2], "c": 3}, {"a": 2, "b": [1, 3], "d": 3})
    assert [line.split(":")[0] for line in found] == ["$.a", "$.b[1]", "$.c"]


def test_a_long_value_is_cut_in_the_message() -> None:
    (line,) = mismatches("a", "b" * 100_000)
    assert len(line) < 1000
    assert "100002 characters" in line


@each_of("text", ["", "{} {}", "NaN", '{"a": -Infinity}', '{"a": 1, "a": 2}', "[" * 100_000])
def test_parse_json_refuses(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the wording is json's own and differs between versions
        parse_json(text)


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
plain_keys = st.text().filter(lambda key: not key.startswith("$"))
documents: st.SearchStrategy[Json] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain_keys, inner, max_size=4), max_leaves=12
)


def leaf_paths(value: Json) -> list[tuple[str | int, ...]]:
    """The path to every scalar, empty list and empty object."""
    steps: list[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    return [(step, *rest) for step, inner in steps for rest in leaf_paths(inner)] or [()]


def spelled(way: tuple[str | int, ...]) -> str:
    path = "$"
    for step in way:
        path = member(path, step) if isinstance(step, str) else f"{path}[{step}]"
    return path


def changed(value: Json, way: tuple[str | int, ...]) -> Json:
    """The same document with another leaf at the end of the path."""
    if not way:
        return "another" if value != "another" else "yet another"
    step, rest = way[0], way[1:]
    if isinstance(value, dict):
        return {key: changed(inner, rest) if key == step else inner for key, inner in value.items()}
    assert isinstance(value, list)
    return [changed(inner, rest) if index == step else inner for index, inner in enumerate(value)]


@given(documents)
def test_every_document_matches_itself(document: Json) -> None:
    assert mismatches(document, document) == []
    assert mismatches(document, json.loads(json.dumps(document))) == []
    assert faults(document) == []


@given(st.data())
def test_a_changed_leaf_is_found_and_named(data: st.DataObject) -> None:
    document = data.draw(documents)
    way = data.draw(st.sampled_from(leaf_paths(document)))
    found = mismatches(document, changed(document, way))
    assert len(found) == 1
    assert found[0].startswith(f"{spelled(way)}: ")


@given(documents, documents)
def test_not_is_the_opposite(one: Json, other: Json) -> None:
    assert bool(mismatches({"$not": one}, other)) != bool(mismatches(one, other))
