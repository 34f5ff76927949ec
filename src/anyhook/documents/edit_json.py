"""Edits of JSON texts. Like agents, it accepts comments and trailing commas. Use it through `edit`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from anyhook.documents.lines import in_lines_of
from anyhook.model.json_types import Json
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

BLANKS = " \t\r\n"
MAX_JSON_DEPTH = 200


class Malformed(Exception):  # noqa: N818 (it says what is wrong)
    """Not valid JSON: why, and on which line."""

    def __init__(self, what: str, text: str, position: int) -> None:
        super().__init__(what)
        self.what, self.line = what, text.count("\n", 0, position) + 1


class Node(Record):
    """One value of the text."""

    value: Json
    start: int
    end: int
    items: tuple[tuple[str | int, Node, int], ...] = ()
    """Key or index, the value, and where its member begins: at the key, or at the value itself."""
    comma: bool = False
    """Whether a comma follows the last item."""

    def at(self, place: Place) -> Node | None:
        """The node at a place; the last of several members with one name, as in parsers."""
        node: Node | None = self
        for key in place:
            found = [child for name, child, _ in node.items if name == key] if node is not None else []
            node = found[-1] if found else None
        return node


def scan(text: str) -> Node:
    """The whole text as nodes; raises Malformed."""
    reader = _Reader(text)
    position = reader.skip(1 if text.startswith("\ufeff") else 0)
    node = reader.value(position, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise Malformed("there is something after the end", text, end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.decoder = json.JSONDecoder()

    def skip(self, position: int) -> int:
        """Past blanks and comments."""
        text = self.text
        while position < len(text):
            if text[position] in BLANKS:
                position += 1
            elif text.startswith("//", position):
                position = text.find("\n", position)
                position = len(text) if position < 0 else position
            elif text.startswith("/*", position):
                end = text.find("*/", position)
                if end < 0:
                    raise Malformed("a comment does not end", text, position)
                position = end + 2
            else:
                break
        return position

    def value(self, position: int, depth: int) -> Node:
        text = self.text
        if depth > MAX_JSON_DEPTH:
            raise Malformed("it is nested too deeply", text, position)
        if text.startswith("{", position):
            return self.container(position, depth, "}")
        if text.startswith("[", position):
            return self.container(position, depth, "]")
        try:
            value, end = self.decoder.raw_decode(text, position)
        except ValueError as error:
            raise Malformed(getattr(error, "msg", str(error)), text, position) from None
        return Node(value, position, end)

    def container(self, start: int, depth: int, closer: str) -> Node:
        text = self.text
        items: list[tuple[str | int, Node, int]] = []
        position, comma = self.skip(start + 1), False
        while not text.startswith(closer, position):
            if items and not comma:
                raise Malformed(f"a comma or `{closer}` is missing", text, position)
            begun = position
            key: str | int = len(items)
            if closer == "}":
                name = self.value(position, depth + 1)
                position = self.skip(name.end)
                if not isinstance(name.value, str) or not text.startswith(":", position):
                    raise Malformed("a name and a colon are missing", text, begun)
                key, position = name.value, self.skip(position + 1)
            node = self.value(position, depth + 1)
            items.append((key, node, begun))
            position = self.skip(node.end)
            comma = text.startswith(",", position)
            if comma:
                position = self.skip(position + 1)
        value: Json = (
            {str(key): node.value for key, node, _ in items} if closer == "}" else [node.value for _, node, _ in items]
        )
        return Node(value, start, position + 1, tuple(items), comma)


def insert(text: str, place: Place, key: str | None, value: Json) -> str:
    """Adds a value at the end of the object (with a key) or list at the place."""
    container = _node(text, place)
    unit = _indent_unit(text)
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    lines = name + json.dumps(value, indent=unit, ensure_ascii=False)
    inner = text[container.start + 1 : container.end - 1]
    outside = _indent_at(text, container.start)
    if not container.items and not inner.strip(BLANKS):
        inside = outside + unit
        body = in_lines_of(text, f"\n{inside}{_indented(lines, inside)}\n{outside}")
        return text[: container.start + 1] + body + text[container.end - 1 :]
    if "\n" not in inner:
        last = container.items[-1][1].end if container.items else container.start + 1
        comma = "" if container.comma or not container.items else ","
        rest = text[last : container.end - 1].rstrip(BLANKS)
        line = name + json.dumps(value, ensure_ascii=False)
        blank = " " if text[container.end - 2] == " " else ""
        return f"{text[:last]}{comma}{rest} {line}{blank}{text[container.end - 1 :]}"
    inside = _indent_at(text, container.items[0][2]) if container.items else outside + unit
    end = len(text[: container.end - 1].rstrip(BLANKS))
    body = in_lines_of(text, f"\n{inside}{_indented(lines, inside)}{',' if container.comma else ''}")
    made = text[:end] + body + text[end:]
    if container.comma or not container.items:
        return made
    last = container.items[-1][1].end
    return made[:last] + "," + made[last:]


def remove(text: str, place: Place) -> str:
    """Removes the member or item at the place, with its comma and its lines. Comments stay."""
    container = _node(text, place[:-1])
    index = max(number for number, (key, _, _) in enumerate(container.items) if key == place[-1])
    _, node, start = container.items[index]
    after = _Reader(text).skip(node.end)
    cuts = [(start, node.end)]
    if text.startswith(",", after):
        cuts = [(start, after + 1)] if not text[node.end : after].strip(BLANKS) else [*cuts, (after, after + 1)]
    elif index:
        comma = _Reader(text).skip(container.items[index - 1][1].end)
        cuts.append((comma, comma + 1))
    cuts[0] = _with_blanks(text, *cuts[0])
    for begin, end in sorted(cuts, reverse=True):
        text = text[:begin] + text[end:]
    left = _node(text, place[:-1])
    if not left.items and not text[left.start + 1 : left.end - 1].strip(BLANKS):
        text = text[: left.start + 1] + text[left.end - 1 :]
    return text


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Extends a cut by the whitespace that would be left over: its whole lines, or the spaces on one side."""
    first = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    alone_before = not text[first:start].strip(BLANKS)
    alone_after = newline >= 0 and not text[end:newline].strip(BLANKS)
    if alone_before and alone_after:
        return first, newline + 1
    closes = text[end:].lstrip(" \t")[:1] in ("]", "}")
    if alone_before and closes and "//" not in text[text.rfind("\n", 0, first - 1) + 1 : first]:
        return len(text[:start].rstrip(BLANKS)), end
    if not alone_before and (alone_after or closes):
        return len(text[:start].rstrip(BLANKS)), end
    return start, len(text) - len(text[end:].lstrip(" \t"))


def replace(text: str, place: Place, value: Json) -> str:
    """Puts another value at the place."""
    node = _node(text, place)
    lines = _indented(json.dumps(value, indent=_indent_unit(text), ensure_ascii=False), _indent_at(text, node.start))
    return text[: node.start] + in_lines_of(text, lines) + text[node.end :]


def _node(text: str, place: Place) -> Node:
    node = scan(text).at(place)
    if node is None:
        raise KeyError(place)
    return node


def _indent_unit(text: str) -> str:
    """The text's own step of indentation."""
    for line in text.splitlines():
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank and line.strip():
            return blank
    return "  "


def _indent_at(text: str, position: int) -> str:
    """The indentation of the line that a position is on."""
    line = text[text.rfind("\n", 0, position) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indented(lines: str, indent: str) -> str:
    return lines.replace("\n", f"\n{indent}")
