"""JSON with comments as text: where each value stands, and edits that leave every other byte alone. It reads what
agents read: comments and trailing commas as well."""

from __future__ import annotations

import json

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Path = tuple[str | int, ...]

BLANKS = " \t\r\n"
DEEPEST = 200


class Malformed(Exception):  # noqa: N818 (it says what is wrong)
    """No JSON: why, and on which line."""

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

    def at(self, path: Path) -> Node | None:
        """The node at a path of keys and indexes; of several members of one name the last, as readers do."""
        node: Node | None = self
        for key in path:
            found = [child for name, child, _ in node.items if name == key] if node is not None else []
            node = found[-1] if found else None
        return node


def scan(text: str) -> Node:
    """The whole text; Malformed where it is none."""
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
        if depth > DEEPEST:
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


def added(text: str, path: Path, key: str | None, value: Json) -> str:
    """The text with a value added at the end of the object (by a key) or list at the path."""
    container = _there(text, path)
    unit = _unit(text)
    said = (f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else "") + json.dumps(
        value, indent=unit, ensure_ascii=False
    )
    inner = text[container.start + 1 : container.end - 1]
    outside = _indent_of(text, container.start)
    if not container.items and not inner.strip():
        inside = outside + unit
        body = _in_lines_of(text, f"\n{inside}{_deeper(said, inside)}\n{outside}")
        return text[: container.start + 1] + body + text[container.end - 1 :]
    if "\n" not in inner:
        said = said.split(": ", 1)[0] + ": " if key is not None else ""
        said += json.dumps(value, ensure_ascii=False)
        last = container.items[-1][1].end if container.items else container.start + 1
        glue = "" if container.comma or not container.items else ","
        rest = text[last : container.end - 1].rstrip()
        return f"{text[:last]}{glue}{rest} {said}{_tail(text, container)}{text[container.end - 1 :]}"
    inside = _indent_of(text, container.items[0][2]) if container.items else outside + unit
    end = len(text[: container.end - 1].rstrip())
    comma = container.items[-1][1].end if container.items and not container.comma else None
    body = _in_lines_of(text, f"\n{inside}{_deeper(said, inside)}{',' if container.comma else ''}")
    made = text[:end] + body + text[end:]
    return made if comma is None else made[:comma] + "," + made[comma:]


def removed(text: str, path: Path) -> str:
    """The text without the member or item at the path, its comma and its line."""
    container = _there(text, path[:-1])
    index = max(place for place, (key, _, _) in enumerate(container.items) if key == path[-1])
    _, node, begun = container.items[index]
    if len(container.items) == 1:
        inner = text[container.start + 1 : begun].rstrip() + text[_after(text, node.end) : container.end - 1].rstrip()
        return text[: container.start + 1] + inner + text[container.end - 1 :]
    if index:  # with the comma before it
        start = container.items[index - 1][1].end
        if index == len(container.items) - 1 and not container.comma:
            between = text[start:begun]
            kept = between.replace(",", "", 1).rstrip() if between.lstrip().startswith(",") else between.rstrip()
            return text[:start] + kept + text[node.end :]
        kept = text[start:begun].rstrip()
        return text[:start] + kept + text[_after(text, node.end) :]
    following = container.items[1][2]
    return text[:begun] + text[following:]


def replaced(text: str, path: Path, value: Json) -> str:
    """The text with another value at the path."""
    node = _there(text, path)
    said = _deeper(json.dumps(value, indent=_unit(text), ensure_ascii=False), _indent_of(text, node.start))
    return text[: node.start] + _in_lines_of(text, said) + text[node.end :]


def _there(text: str, path: Path) -> Node:
    node = scan(text).at(path)
    if node is None:
        raise KeyError(path)
    return node


def _after(text: str, position: int) -> int:
    """Past a comma that follows."""
    rest = text[position:].lstrip(" \t")
    return len(text) - len(rest) + 1 if rest.startswith(",") else position


def _tail(text: str, container: Node) -> str:
    """The blank that a one-line container has before its end."""
    return " " if text[container.end - 2] == " " else ""


def _unit(text: str) -> str:
    """The text's own step of indentation."""
    for line in text.splitlines():
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank and line.strip():
            return blank
    return "  "


def _indent_of(text: str, position: int) -> str:
    """The indentation of the line that a position is on."""
    line = text[text.rfind("\n", 0, position) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _deeper(said: str, indent: str) -> str:
    return said.replace("\n", f"\n{indent}")


def _in_lines_of(text: str, said: str) -> str:
    """What is put in, with the ends of lines that the text has."""
    return said.replace("\n", line_end(text))


def line_end(text: str) -> str:
    """How the lines of a text end; as the first does."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
