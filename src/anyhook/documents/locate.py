"""Finds the lines of keys and entries for messages, in one pass over the text.

The values come from the parsers; this follows wanted paths only. In a text that does not parse it finds what it can.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from anyhook.documents.read import Unreadable, clean
from anyhook.documents.toml_layout import TomlLayout, unquoted_key
from anyhook.model.pattern import later

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

_JSON_TOKEN = later(r'"(?:[^"\\]+|\\.)*+"?|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)


def lines_of(text: str, syntax: str, paths: Iterable[Place]) -> dict[Place, int]:
    """The lines, from 1, of the keys or entries at these paths; the last of equal keys counts, and missing ones are
    left out. An empty path is the whole document."""
    try:
        return _lines(clean(text), syntax, paths)
    except Unreadable:
        return {}


def line_of(text: str, syntax: str, path: Place) -> int | None:
    """The line of the key or entry at one path; None if there is none."""
    return lines_of(text, syntax, (path,)).get(path)


def _lines(text: str, syntax: str, paths: Iterable[Place]) -> dict[Place, int]:
    find = {"json": _in_json, "yaml": _in_yaml, "toml": _in_toml}.get(syntax)
    found = {} if find is None else find(text, frozenset(paths))
    lines: dict[Place, int] = {}
    line, before = 1, 0
    for path, at in sorted(found.items(), key=lambda item: item[1]):
        line += text.count("\n", before, at)
        before = at
        lines[path] = line
    return lines


class PathTree:
    """The wanted paths as a tree: the next parts, and whether one ends here."""

    __slots__ = ("below", "path")

    def __init__(self) -> None:
        self.below: dict[str | int, PathTree] = {}
        self.path: Place | None = None

    @classmethod
    def tree(cls, paths: frozenset[Place]) -> PathTree:
        root = cls()
        for path in paths:
            node = root
            for part in path:
                node = node.below.setdefault(part, cls())
            node.path = path
        return root


class _Open:
    """One open list or mapping: its current entry, and the wanted paths in it."""

    __slots__ = ("is_list", "part", "wanted")

    def __init__(self, *, is_list: bool, wanted: PathTree | None) -> None:
        self.is_list = is_list
        self.wanted = wanted
        self.part: str | int | None = 0 if is_list else None

    def entry(self) -> PathTree | None:
        return None if self.wanted is None or self.part is None else self.wanted.below.get(self.part)


def _in_json(text: str, paths: frozenset[Place]) -> dict[Place, int]:
    """Follows the brackets without a tree of the document: one record for each bracket that is open."""
    found: dict[Place, int] = {}
    document = PathTree()
    document.below[0] = PathTree.tree(paths)
    stack = [_Open(is_list=True, wanted=document)]
    for token in _JSON_TOKEN.finditer(text):
        sign, top = token[0], stack[-1]
        if sign == ":":
            continue
        if sign == ",":
            top.part = top.part + 1 if isinstance(top.part, int) else None
        elif sign in "]}":
            if len(stack) > 1:
                stack.pop()
        else:
            is_key = top.part is None
            if is_key:
                top.part = unquoted_key(sign)
            wanted = top.entry()
            if wanted and wanted.path is not None and (is_key or top.is_list):
                found[wanted.path] = token.start()
            if not is_key and sign in "[{":
                stack.append(_Open(is_list=sign == "[", wanted=wanted))
    return found


def _in_yaml(text: str, paths: frozenset[Place]) -> dict[Place, int]:
    from anyhook.documents import yaml_tree

    try:
        node = yaml_tree.compose(text)
    except Unreadable:
        node = yaml_tree.compose(yaml_tree.escape_backslashes(text))
    found: dict[Place, int] = {}
    if node is not None:
        yaml_tree.find(node, node.start_mark.index, PathTree.tree(paths), found)
    return found


def _in_toml(text: str, paths: frozenset[Place]) -> dict[Place, int]:
    return TomlLayout(text, paths).found
