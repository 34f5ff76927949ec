"""Finds the lines of keys and entries for messages, in one pass over the text.

The values come from the parsers; this follows wanted paths only. In TOML that does not parse it finds what it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from anyhook.documents import edit_json
from anyhook.documents.read import Unreadable, clean
from anyhook.documents.toml_layout import TomlLayout

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

    Found = dict[Place, int]

Node = TypeVar("Node")
Children = Iterable[tuple[str | int, Node, int]]
"""What a list or a mapping holds: the part of a path, the node, and where it or its key begins."""


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


def _note(node: Node, at: int, wanted: PathTree, children: Callable[[Node], Children[Node]], found: Found) -> None:
    """Notes where the wanted keys and entries begin; `at` is where this node or its key does."""
    if wanted.path is not None:
        found[wanted.path] = at
    for part, child, start in children(node) if wanted.below else ():
        if below := wanted.below.get(part):
            _note(child, start, below, children, found)


def _in_json(text: str, paths: frozenset[Place]) -> Found:
    found: Found = {}
    try:
        node = edit_json.scan(text)
    except edit_json.Malformed:
        return found
    _note(node, node.start, PathTree.tree(paths), lambda node: node.items, found)
    return found


def _in_yaml(text: str, paths: frozenset[Place]) -> Found:
    from anyhook.documents import yaml_tree

    try:
        node = yaml_tree.compose(text)
    except Unreadable:
        node = yaml_tree.compose(yaml_tree.escape_backslashes(text))
    found: Found = {}
    if node is not None:
        _note(node, node.start_mark.index, PathTree.tree(paths), yaml_tree.children, found)
    return found


def _in_toml(text: str, paths: frozenset[Place]) -> Found:
    return TomlLayout(text, paths).found
