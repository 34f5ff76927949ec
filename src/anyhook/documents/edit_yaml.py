"""Edits of YAML texts. What is added is written in block style; flow collections (`[a, b]`) are only replaced as a
whole. Use it through `edit`."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from anyhook.documents.dump_yaml import to_yaml
from anyhook.documents.lines import in_lines_of, next_line, with_last_line_end
from anyhook.model.json_types import Json

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

INDENT_STEP = 2
"""How much deeper a new list or mapping is indented than the key above it."""
NO_WRAP = 1_000_000


class _Spot:
    """A value of the text, and the key or item it belongs to."""

    def __init__(self, node: Node, name: Node | None, column: int) -> None:
        self.node, self.name, self.column = node, name, column
        """`name` is its key's node, if it has a key; `column` that of the key or the dash."""


def insert(text: str, place: Place, key: str | None, value: Json) -> str:
    """Adds a value at the end of the mapping (with a key) or list at the place."""
    added: Json = [value] if key is None else {key: value}
    root = _compose(text)
    spot = None if root is None else _find(root, place)
    if spot is None or (not place and isinstance(spot.node, MappingNode)):
        return with_last_line_end(text) + in_lines_of(text, block(added, 0))
    if spot.node.value and isinstance(spot.node, (MappingNode, SequenceNode)):
        return _below(text, _end(text, spot.node), block(added, _column(spot.node)))
    return replace(text, place, added)


def remove(text: str, place: Place) -> str:
    """Removes the key or item at the place with its lines; an empty rest becomes `{}` or `[]`."""
    root = _compose(text)
    above = None if root is None else _find(root, place[:-1])
    spot = None if root is None else _find(root, place)
    if spot is None or above is None:
        return text
    if len(above.node.value) == 1:
        return _spliced(text, above.node, "{}" if isinstance(above.node, MappingNode) else "[]")
    start = text.rfind("\n", 0, (spot.name or spot.node).start_mark.index) + 1
    return text[:start] + text[next_line(text, _end(text, spot.node)) :]


def replace(text: str, place: Place, value: Json) -> str:
    """Replaces the value at the place: below its key if it was empty, otherwise on one line."""
    root = _compose(text)
    spot = None if root is None else _find(root, place)
    if spot is None:
        return text
    node = spot.node
    is_empty = not node.value or node.tag == "tag:yaml.org,2002:null"
    if spot.name is not None and is_empty and isinstance(value, (dict, list)) and value:
        text = text[: node.start_mark.index].rstrip(" ") + text[node.end_mark.index :]
        return _below(text, spot.name.end_mark.index, block(value, spot.column + INDENT_STEP))
    return _spliced(text, node, scalar(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def block(value: Json, indent: int) -> str:
    """A mapping or a list as lines in block style."""
    return textwrap.indent(to_yaml(value, width=NO_WRAP), " " * indent)


def scalar(value: str) -> str:
    """A text on one line, in quotes only where it might not be read as that text."""
    return to_yaml([value], width=NO_WRAP)[2:-1] if "\n" not in value else json.dumps(value)


def _compose(text: str) -> Node | None:
    # The pure reader: its marks count characters. The text has been read before, so it is shallow.
    try:
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:  # the two readers differ in a few things
        raise ValueError(str(error)) from None
    return root


def _find(node: Node, place: Place) -> _Spot | None:
    """The value at a place. Aliases are not followed."""
    spot = _Spot(node, None, 0)
    for part in place:
        found = None
        if isinstance(spot.node, MappingNode) and isinstance(part, str):
            pairs = [(name, value) for name, value in spot.node.value if name.value == part]
            found = _Spot(pairs[-1][1], pairs[-1][0], pairs[-1][0].start_mark.column) if pairs else None
        elif isinstance(spot.node, SequenceNode) and isinstance(part, int) and part < len(spot.node.value):
            found = _Spot(spot.node.value[part], None, spot.node.start_mark.column)
        if found is None:
            return None
        spot = found
    return spot


def _column(node: Node) -> int:
    """Where the entries of a block begin."""
    first = node.value[0][0] if isinstance(node, MappingNode) else node
    return first.start_mark.column


def _end(text: str, node: Node) -> int:
    """Where the last content of a block ends. (The block itself ends after the comments that follow it.)"""
    while isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last if isinstance(node, SequenceNode) else last[1]
    return len(text[: node.end_mark.index].rstrip(" \t\r\n"))


def _below(text: str, after: int, lines: str) -> str:
    """The lines below the line of a position."""
    at = next_line(text, after)
    return with_last_line_end(text[:at]) + in_lines_of(text, lines) + text[at:]


def _spliced(text: str, node: Node, value: str) -> str:
    start, end = node.start_mark.index, _end(text, node)
    if not getattr(node, "flow_style", True) and node.value:  # a block: up to the key or dash it stands behind
        start = len(text[:start].rstrip(" \t\r\n"))
        value = f" {value}"
    elif start >= end:  # nothing was written
        start = end = len(text[:start].rstrip(" \t\r\n"))
        value = f" {value}"
    return text[:start] + value + text[end:]
