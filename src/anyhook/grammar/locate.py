"""Finds the line on which a key or an entry stands, for messages. It never raises and takes one pass over the text.

The values themselves come from the parsers; this only follows one path, so it keeps no tree of what it passes.
"""

from __future__ import annotations

import re

from anyhook.grammar.documents import KEY_PARTS_LIMIT, Unreadable, bound_toml

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


def line_of(text: str, syntax: str, path: Place) -> int | None:
    """The line of what stands at this path; of equal keys the last counts. An empty path is the whole document."""
    find = {"json": _in_json, "yaml": _in_yaml, "toml": _in_toml}.get(syntax)
    at = None if find is None else find(text, path)
    return None if at is None else text.count("\n", 0, at) + 1


class _Open:
    """One open list or mapping: which entry it is at, and whether it lies on the path."""

    __slots__ = ("is_list", "on_path", "part")

    def __init__(self, is_list: bool, on_path: bool) -> None:
        self.is_list = is_list
        self.on_path = on_path
        self.part: str | int | None = 0 if is_list else None


class _Walk:
    """Follows nested brackets and compares the entry at each level with the path's part for that level."""

    def __init__(self, path: Place) -> None:
        self.path = path
        self.stack: list[_Open] = []
        self.found: int | None = None

    def here(self) -> bool:
        """Whether the current entry, or the root, lies on the path."""
        if not self.stack:
            return True
        top, level = self.stack[-1], len(self.stack)
        return top.on_path and level <= len(self.path) and _same(top.part, self.path[level - 1])

    def note(self, at: int) -> None:
        if len(self.stack) == len(self.path) and self.here():
            self.found = at

    def open(self, is_list: bool) -> None:
        self.stack.append(_Open(is_list, self.here()))

    def next(self) -> None:
        top = self.stack[-1]
        top.part = top.part + 1 if isinstance(top.part, int) and top.is_list else None


def _same(part: str | int | None, wanted: str | int) -> bool:
    return type(part) is type(wanted) and part == wanted


def _in_json(text: str, path: Place) -> int | None:
    walk = _Walk(path)
    for token in _JSON_TOKEN.finditer(text):
        sign, stack = token[0], walk.stack
        if sign in "]}":
            if not stack:
                return walk.found
            stack.pop()
        elif sign == ",":
            if stack:
                walk.next()
        elif sign == ":":
            continue
        elif stack and not stack[-1].is_list and stack[-1].part is None:
            stack[-1].part = _json_key(sign)
            walk.note(token.start())
        else:
            if not stack or stack[-1].is_list:
                walk.note(token.start())
            if sign in "[{":
                walk.open(sign == "[")
    return walk.found


def _json_key(token: str) -> str:
    import json

    try:
        return str(json.loads(token)) if "\\" in token else token.strip('"')
    except ValueError:
        return token


def _in_yaml(text: str, path: Place) -> int | None:
    from anyhook.grammar import yaml_tree

    try:
        node = yaml_tree.compose(text)
    except Unreadable:
        try:
            node = yaml_tree.compose(yaml_tree.mend_backslashes(text))
        except Unreadable:
            return None
    return None if node is None else yaml_tree.offset_of(node, path)


class _Table:
    """One table of a TOML document, or an array of tables: its sub-tables, and how many elements the array has."""

    __slots__ = ("count", "tables")

    def __init__(self) -> None:
        self.tables: dict[str, _Table] = {}
        self.count = 0


def _in_toml(text: str, path: Place) -> int | None:
    try:
        bound_toml(text)
    except Unreadable:
        return None
    return _Toml(text, path).find() if path else 0


class _Toml:
    """Reads statements: headers move the current table, values may hold brackets. The depth was bounded before."""

    def __init__(self, text: str, path: Place) -> None:
        self.tokens = [(token[0], token.start()) for token in _TOML_TOKEN.finditer(text) if token[0][0] != "#"]
        self.tokens.append(("\n", len(text)))
        self.next = 0
        self.path = path
        self.root = _Table()
        self.found: int | None = None
        self.sure = False

    def find(self) -> int | None:
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
        wanted = self.found is None or (sure and not self.sure)
        if wanted and len(place) == len(self.path) and all(map(_same, place, self.path)):
            self.found, self.sure = at, sure

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
