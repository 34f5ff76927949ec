"""Finds the lines on which keys and entries stand, for messages, in one pass over the text. It never judges a document.

The values come from the parsers; this follows wanted paths only. In a text that does not parse it finds what it can.
"""

from __future__ import annotations

import re

from anyhook.documents.documents import KEY_PARTS_LIMIT, Unreadable, bound_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Place = tuple[str | int, ...]

_JSON_TOKEN = re.compile(r'"(?:[^"\\]+|\\.)*+"?|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)
_TOML_TOKEN = re.compile(
    r'"""(?:[^"\\]+|\\.|"(?!""))*+(?:"{3,5})?|'
    r"'''(?:[^']+|'(?!''))*+(?:'{3,5})?|"
    r'"(?:[^"\\\n]+|\\.)*+"?|'
    r"'[^'\n]*+'?|#[^\n]*|\n|[\[\]{},=.]|[^\s\[\]{},=.\"'#]+",
    re.DOTALL,
)
_KEY_ENDS = ("]", "=", "\n", ",", "[", "{", "}")


def lines_of(text: str, syntax: str, paths: Iterable[Place]) -> dict[Place, int]:
    """The line of what stands at each path; of equal keys the last counts. An empty path is the whole document."""
    find = {"json": _in_json, "yaml": _in_yaml, "toml": _in_toml}.get(syntax)
    found = {} if find is None else find(text, frozenset(paths))
    lines: dict[Place, int] = {}
    line, before = 1, 0
    for path, at in sorted(found.items(), key=lambda item: item[1]):
        line += text.count("\n", before, at)
        before = at
        lines[path] = line
    return lines


class Wanted:
    """The paths that are looked for, as a tree: where one leads, and whether one ends here."""

    __slots__ = ("below", "path")

    def __init__(self) -> None:
        self.below: dict[str | int, Wanted] = {}
        self.path: Place | None = None

    @classmethod
    def tree(cls, paths: frozenset[Place]) -> Wanted:
        root = cls()
        for path in paths:
            node = root
            for part in path:
                node = node.below.setdefault(part, cls())
            node.path = path
        return root


class _Open:
    """One open list or mapping: which entry it is at, and what is wanted in it."""

    __slots__ = ("is_list", "part", "wanted")

    def __init__(self, is_list: bool, wanted: Wanted | None) -> None:
        self.is_list = is_list
        self.wanted = wanted
        self.part: str | int | None = 0 if is_list else None

    def entry(self) -> Wanted | None:
        return None if self.wanted is None or self.part is None else self.wanted.below.get(self.part)


def _in_json(text: str, paths: frozenset[Place]) -> dict[Place, int]:
    """Follows the brackets without a tree of the document: one record for each bracket that is open."""
    found: dict[Place, int] = {}
    stack: list[_Open] = []
    root = Wanted.tree(paths)
    for token in _JSON_TOKEN.finditer(text):
        sign, top = token[0], stack[-1] if stack else None
        if sign == ":":
            continue
        if sign == "," and top:
            top.part = top.part + 1 if isinstance(top.part, int) else None
        elif sign in "]}" and top:
            stack.pop()
        else:
            is_key = top is not None and top.part is None
            if top and is_key:
                top.part = _json_key(sign)
            wanted = top.entry() if top else root
            if wanted and wanted.path is not None and (is_key or not top or top.is_list):
                found[wanted.path] = token.start()
            if not is_key and sign in "[{":
                stack.append(_Open(sign == "[", wanted))
    return found


def _json_key(token: str) -> str:
    import json

    try:
        return str(json.loads(token)) if "\\" in token else token.strip('"')
    except ValueError:
        return token


def _in_yaml(text: str, paths: frozenset[Place]) -> dict[Place, int]:
    from anyhook.documents import yaml_tree

    try:
        node = yaml_tree.compose(text)
    except Unreadable:
        node = yaml_tree.compose(yaml_tree.mend_backslashes(text))
    found: dict[Place, int] = {}
    if node is not None:
        yaml_tree.find(node, node.start_mark.index, Wanted.tree(paths), found)
    return found


class _Table:
    """One table of a TOML document, or an array of tables: its sub-tables, and how many elements the array has."""

    __slots__ = ("count", "tables")

    def __init__(self) -> None:
        self.tables: dict[str, _Table] = {}
        self.count = 0


def _in_toml(text: str, paths: frozenset[Place]) -> dict[Place, int]:
    bound_toml(text)
    return _Toml(text, paths).find()


class _Toml:
    """Reads statements: headers move the current table, values may hold brackets. The depth was bounded before."""

    def __init__(self, text: str, paths: frozenset[Place]) -> None:
        self.tokens = [(token[0], token.start()) for token in _TOML_TOKEN.finditer(text) if token[0][0] != "#"]
        self.tokens.append(("\n", len(text)))
        self.next = 0
        self.paths = paths
        self.root = _Table()
        self.found: dict[Place, int] = {(): 0} if () in paths else {}
        self.sure: set[Place] = {()}

    def find(self) -> dict[Place, int]:
        table: Place = ()
        while self.next < len(self.tokens):
            if self.peek() == "[":
                table = self.header()
            elif self.peek() != "\n":
                self.entry(table)
            self.skip_to("\n")
            self.next += 1
        return self.found

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def skip_to(self, *signs: str) -> str:
        while (sign := self.peek()) and sign not in signs:
            self.next += 1
        return sign

    def note(self, place: Place, at: int, sure: bool) -> None:
        """A table that is only passed through (`a` in `[a.b]`) counts until it is written out itself."""
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
            self.note(place, at, False)
        if array:
            table.count += 1
            table.tables = {}
            place = (*place, table.count - 1)
        self.note(place, at, True)
        return place

    def key(self) -> list[str]:
        """The parts of a dotted key, up to the sign that ends it; no valid key has more than the limit."""
        parts: list[str] = []
        while (sign := self.peek()) and sign not in _KEY_ENDS:
            self.next += 1
            if sign != "." and len(parts) < KEY_PARTS_LIMIT:
                parts.append(_toml_key(sign))
        return parts

    def entry(self, place: Place) -> None:
        at = self.tokens[self.next][1]
        for part in self.key():
            place = (*place, part)
            self.note(place, at, False)
        self.note(place, at, True)
        if self.peek() == "=":
            self.next += 1
            self.value(place)

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
                self.note((*place, index), self.tokens[self.next][1], True)
                self.value((*place, index))
            index += 1
            if self.skip_lines() == "," or self.next == before:
                self.next += 1
        self.next += 1

    def skip_lines(self) -> str:
        while (sign := self.peek()) == "\n":
            self.next += 1
        return sign


def _toml_key(token: str) -> str:
    return token.strip("'") if token[0] == "'" else _json_key(token)
