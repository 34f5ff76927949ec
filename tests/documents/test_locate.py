"""Line numbers: a printer writes each generated document and records the line of every key and entry."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyhook.documents.locate import line_of, lines_of
from anyhook.documents.parse import parse_json, parse_yaml
from anyhook.model.json_types import Json
from examples import examples

Place = tuple[str | int, ...]
KEYS = st.text(alphabet='abc é."\\#[]{}=:', max_size=5)
SCALARS = st.booleans() | st.integers() | st.text(alphabet="ab\"'\\#[]{},:=\n é", max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=14
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=5)


class Printer:
    """Writes text and tracks the current line. Subclasses record the line of each place when they reach it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.parts: list[str] = []
        self.line = 1
        self.lines: dict[Place, int] = {}

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.line += text.count("\n")

    def gap(self) -> None:
        self.put(self.random.choice(["", "", " ", "\n", "\r\n\t", "\n\n"]))

    def text(self) -> str:
        return "".join(self.parts)


def pairs(value: Json) -> list[tuple[str | int, Json]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def below(value: Json, place: Place) -> list[Place]:
    found: list[Place] = []
    for part, item in pairs(value):
        found += [(*place, part), *below(item, (*place, part))]
    return found


class JsonPrinter(Printer):
    def value(self, value: Json, place: Place) -> None:
        if isinstance(value, dict | list):
            self.put("{" if isinstance(value, dict) else "[")
            for index, (part, item) in enumerate(pairs(value)):
                self.put("," if index else "")
                self.gap()
                self.lines[(*place, part)] = self.line
                if isinstance(value, dict):
                    self.put(json.dumps(part, ensure_ascii=self.random.random() < 0.5))
                    self.gap()
                    self.put(":")
                    self.gap()
                self.value(item, (*place, part))
                self.gap()
            self.put("}" if isinstance(value, dict) else "]")
        else:
            self.put(json.dumps(value))


@examples(200)
@given(VALUES, st.integers(0, 1_000))
def test_lines_in_json(value: Json, seed: int) -> None:
    printer = JsonPrinter(seed)
    printer.gap()
    printer.lines[()] = printer.line
    printer.value(value, ())
    text = printer.text()
    assert parse_json(text) == value
    assert lines_of(text, "json", printer.lines) == printer.lines


class YamlPrinter(Printer):
    """Block style with some flow style, comments, blank lines and block scalars."""

    def comment(self, indent: int) -> None:
        if self.random.random() < 0.3:
            self.put(self.random.choice(["\n", f'{" " * indent}# - "x": [\n', "\n\n"]))

    def block(self, value: Json, place: Place, indent: int, in_list: bool = False) -> None:
        """Write a non-empty list or mapping, from the start of a line. As an entry of a list, it is on the line of its
        first word."""
        for part, item in pairs(value):
            self.comment(indent)
            if in_list and place not in self.lines:
                self.lines[place] = self.line
            self.lines[(*place, part)] = self.line
            self.put(" " * indent + (json.dumps(part, ensure_ascii=False) + ":" if isinstance(value, dict) else "-"))
            self.item(item, (*place, part), indent + self.random.choice([1, 2, 4]), isinstance(value, list))

    def item(self, value: Json, place: Place, indent: int, in_list: bool) -> None:
        if isinstance(value, dict | list) and value and self.random.random() < 0.7:
            self.put(" # next line\n" if in_list else "\n")
            if in_list:
                del self.lines[place]
            self.block(value, place, indent, in_list)
        elif isinstance(value, str) and value.isalpha() and self.random.random() < 0.5:
            self.put(f" |\n{' ' * indent}{value}: [\n\n{' ' * indent}- x\n")
        else:
            self.lines.update(dict.fromkeys(below(value, place), self.line))
            self.put(f" {json.dumps(value, ensure_ascii=False)}\n")


@examples(200)
@given(
    st.dictionaries(KEYS, VALUES, min_size=1, max_size=4) | st.lists(VALUES, min_size=1, max_size=4),
    st.integers(0, 1_000),
)
def test_lines_in_yaml(value: Json, seed: int) -> None:
    printer = YamlPrinter(seed)
    printer.block(value, (), 0)
    text = printer.text()
    parse_yaml(text)  # it must be valid YAML, or the lines mean nothing
    assert lines_of(text, "yaml", printer.lines) == printer.lines


class TomlPrinter(Printer):
    """Tables and arrays of tables with headers, some dotted or inline; everything else inline over several lines."""

    def key(self, part: str | int) -> str:
        plain = str(part).isascii() and str(part).isalpha()
        return str(part) if plain and self.random.random() < 0.7 else json.dumps(part, ensure_ascii=False)

    def inline(self, value: Json, place: Place, lines_allowed: bool) -> None:
        if isinstance(value, dict):
            self.put("{ ")
            for index, (part, item) in enumerate(value.items()):
                self.put(", " if index else "")
                self.lines[(*place, part)] = self.line
                self.put(f"{self.key(part)} = ")
                self.inline(item, (*place, part), False)
            self.put(" }")
        elif isinstance(value, list):
            self.put("[")
            for index, item in enumerate(value):
                self.put(self.random.choice(["", "\n", " # ]\n", "\n\n  "]) if lines_allowed else "")
                self.lines[(*place, index)] = self.line
                self.inline(item, (*place, index), lines_allowed)
                self.put(",")
            self.put("]")
        elif isinstance(value, str) and lines_allowed and self.random.random() < 0.3 and "\\" not in value:
            self.put('"""\n[a]\n' + value.replace('"', "'") + '"""')
        else:
            self.put(json.dumps(value))

    def table(self, table: dict[str, Json], place: Place, header: str) -> None:
        """Plain entries come first, then the nested tables, because everything after a header belongs to it."""
        later: list[tuple[str, Json]] = []
        for part, item in table.items():
            nested = isinstance(item, dict) and item
            array = isinstance(item, list) and item and all(isinstance(element, dict) for element in item)
            if (nested or array) and self.random.random() < 0.7:
                later.append((part, item))
                continue
            self.lines[(*place, part)] = self.line
            if isinstance(item, dict) and len(item) == 1 and self.random.random() < 0.5:
                ((child, leaf),) = item.items()
                self.lines[(*place, part, child)] = self.line
                self.put(f"{self.key(part)} . {self.key(child)} = ")
                self.inline(leaf, (*place, part, child), True)
            else:
                self.put(f"{self.key(part)}=")
                self.inline(item, (*place, part), True)
            self.put(self.random.choice(["\n", " # [x]\n", "\r\n\n"]))
        for part, item in later:
            name = f"{header}.{self.key(part)}" if header else self.key(part)
            self.lines[(*place, part)] = self.line
            for index, element in enumerate(item if isinstance(item, list) else [item]):
                there: Place = (*place, part, index) if isinstance(item, list) else (*place, part)
                self.lines[there] = self.line
                self.put(f"[[{name}]]\n" if isinstance(item, list) else f" [ {name} ] # x\n")
                assert isinstance(element, dict)
                self.table(element, there, name)


@examples(200)
@given(TABLES, st.integers(0, 1_000))
def test_lines_in_toml(value: dict[str, Json], seed: int) -> None:
    printer = TomlPrinter(seed)
    printer.table(value, (), "")
    text = printer.text()
    tomllib.loads(text)
    assert lines_of(text, "toml", printer.lines) == printer.lines


def test_a_table_that_is_only_passed_through_counts_until_it_is_written_out() -> None:
    assert line_of("x = 1\n[a.b]\n", "toml", ("a",)) == 2
    assert line_of("[a.b]\n[a]\n", "toml", ("a",)) == 2
    assert line_of("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc = 1", "toml", ("a", 1, "b", 0, "c")) == 5


def test_of_equal_keys_the_last_counts() -> None:
    assert line_of('{"a": 1,\n"a": 2}', "json", ("a",)) == 2


def test_a_text_that_needs_mending_still_has_lines() -> None:
    assert line_of('name: x\nmatcher:\n  pattern: "\\.py$"\n', "yaml", ("matcher", "pattern")) == 3


@pytest.mark.parametrize("syntax", ["json", "yaml", "toml"])
def test_what_is_not_there_has_no_line(syntax: str) -> None:
    text = {"json": '{"a": [1, {"b": 2}]}', "yaml": "a: [1, {b: 2}]", "toml": "a = [1, {b = 2}]"}[syntax]
    assert line_of(text, syntax, ("a", 1, "b")) == line_of(text, syntax, ()) == 1
    for path in (("b",), ("a", 2), ("a", -1), ("a", "1"), (0,), ("a", 1, "b", 0), ("a", 0, "b"), ("a", 1, "c")):
        assert line_of(text, syntax, path) is None
    assert line_of(text, "xml", ("a",)) is None


HOSTILE: list[Callable[[int], str]] = [
    lambda n: "[" * n, lambda n: '{"a":' * n, lambda n: '"""' * n, lambda n: "a=" + "[" * n, lambda n: "a." * n,
    lambda n: "[a." * n, lambda n: "- " * n, lambda n: "'" * n, lambda n: '"\\' * n, lambda n: "]" * n,
    lambda n: "\ud800" * n,
]  # fmt: skip


@pytest.mark.parametrize("make", HOSTILE)
@pytest.mark.parametrize("syntax", ["json", "yaml", "toml"])
def test_hostile_texts_end(make: Callable[[int], str], syntax: str) -> None:
    lines_of(make(100_000), syntax, [("a", 0, "a"), ("x",), ()])


@examples(300)
@given(
    st.sampled_from(["json", "yaml", "toml"]),
    st.text() | st.text(alphabet="[]{}\"'\\:,-#&*!|>?=. \n\tab1", max_size=60),
    st.lists(st.sampled_from(["a", "b", "", 0, 1]), max_size=4).map(tuple),
)
def test_any_text_has_a_line_or_none(syntax: str, text: str, path: Place) -> None:
    line = line_of(text, syntax, path)
    assert line is None or 1 <= line <= text.count("\n") + 1
