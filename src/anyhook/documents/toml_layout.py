"""The positions of tables, keys and values in a TOML text. In a text that does not parse it finds what it can."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from anyhook.documents.read import MAX_KEY_PARTS, TOML_TEXT, bound_toml
from anyhook.model.pattern import later
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

_TOML_TOKEN = later(rf"""{TOML_TEXT}|#[^\n]*|\n|[\[\]{{}},=.]|[^\s\[\]{{}},=.\"'#]+""", re.DOTALL)
_KEY_ENDS = ("]", "=", "\n", ",", "[", "{", "}")


class Statement(Record):
    """A header or a key with its value."""

    place: Place
    start: int
    end: int
    """Past the value, or past the header's last bracket."""
    value: int | None = None
    """Where the value starts; None for a header."""


class _Table:
    """One table of a TOML document, or an array of tables: its sub-tables, and how many elements the array has."""

    __slots__ = ("count", "tables")

    def __init__(self) -> None:
        self.tables: dict[str, _Table] = {}
        self.count = 0


class TomlLayout:
    """Reads statements: headers change the current table, values may contain brackets. The positions of `paths` go to
    `found`; `statements` has all of them."""

    def __init__(self, text: str, paths: frozenset[Place] = frozenset()) -> None:
        bound_toml(text)
        self.tokens = [(token[0], token.start()) for token in _TOML_TOKEN.finditer(text) if token[0][0] != "#"]
        self.tokens.append(("\n", len(text)))
        self.next = 0
        self.paths = paths
        self.root = _Table()
        self.found: dict[Place, int] = {(): 0} if () in paths else {}
        self.sure: set[Place] = {()}
        self.statements: list[Statement] = []
        self._read()

    def _read(self) -> None:
        table: Place = ()
        while self.next < len(self.tokens):
            sign, start = self.tokens[self.next]
            place, value = table, None
            if sign == "[":
                place = table = self.header()
            elif sign != "\n":
                place, value = self.entry(table)
            self.skip_to("\n")
            if sign != "\n":
                last, at = self.tokens[min(self.next, len(self.tokens)) - 1]
                self.statements.append(Statement(place, start, at + len(last), value))
            self.next += 1

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def skip_to(self, *signs: str) -> str:
        while (sign := self.peek()) and sign not in signs:
            self.next += 1
        return sign

    def note(self, place: Place, at: int, *, sure: bool) -> None:
        """A table that is only part of a path (`a` in `[a.b]`) counts until it has its own header."""
        if place in self.paths and place not in self.sure and (sure or place not in self.found):
            self.found[place] = at
            if sure:
                self.sure.add(place)

    def header(self) -> Place:
        at = self.tokens[self.next][1]
        self.next += 1
        array = self.peek() == "["
        self.next += array
        place: Place = ()
        table = self.root
        for part in self.key():
            if table.count:
                place = (*place, table.count - 1)
            table = table.tables.setdefault(part, _Table())
            place = (*place, part)
            self.note(place, at, sure=False)
        if array:
            table.count += 1
            table.tables = {}
            place = (*place, table.count - 1)
        self.note(place, at, sure=True)
        return place

    def key(self) -> list[str]:
        """The parts of a dotted key, up to the character that ends it; no valid key has more than the limit."""
        parts: list[str] = []
        while (sign := self.peek()) and sign not in _KEY_ENDS:
            self.next += 1
            if sign != "." and len(parts) < MAX_KEY_PARTS:
                parts.append(unquoted_key(sign))
        return parts

    def entry(self, place: Place) -> tuple[Place, int]:
        """Reads a key and its value; returns the key's place, and where the value starts."""
        at = self.tokens[self.next][1]
        for part in self.key():
            place = (*place, part)
            self.note(place, at, sure=False)
        self.note(place, at, sure=True)
        if self.peek() != "=":
            return place, at
        self.next += 1
        start = self.tokens[self.next][1]
        self.value(place)
        return place, start

    def value(self, place: Place) -> None:
        sign = self.peek()
        if sign not in ("[", "{"):
            self.skip_to(",", "]", "}", "\n")
            return
        self.next += 1
        index = 0
        while self.skip_lines() not in ("]", "}", ""):
            before = self.next
            if sign == "{":
                self.entry(place)
            else:
                self.note((*place, index), self.tokens[self.next][1], sure=True)
                self.value((*place, index))
            index += 1
            if self.skip_lines() == "," or self.next == before:
                self.next += 1
        self.next += 1

    def skip_lines(self) -> str:
        while (sign := self.peek()) == "\n":
            self.next += 1
        return sign


def unquoted_key(token: str) -> str:
    """A key without quotes and escapes."""
    if token[0] == "'":
        return token.strip("'")
    if "\\" not in token:
        return token.strip('"')
    try:
        return str(json.loads(token))
    except ValueError:
        return token
