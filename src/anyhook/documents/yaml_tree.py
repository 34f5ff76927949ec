"""Turns YAML text into JSON-like values, or into nodes that know their lines. It builds only plain data.

The C loader recurses in C, and 100,000 nested brackets crash the process. It reports every node before it descends into
it, so the depth is checked there: exactly, before the stack grows, at no measurable cost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from anyhook.documents.mistakes import merge_conflict
from anyhook.documents.read import MAX_BITS, MAX_DEPTH, MAX_DIGITS, Unreadable, too_deep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yaml import SafeLoader as _Base

    from anyhook.model.json_types import Json
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_REPEATED = 10_000
"""How many values of one document may come from aliases."""

_CORE = "tag:yaml.org,2002:"
_STR, _NULL, _BOOL, _INT, _FLOAT = (_CORE + name for name in ("str", "null", "bool", "int", "float"))
_SEQ, _MAP = _CORE + "seq", _CORE + "map"

# YAML 1.2: `yes`, `no`, `on`, `off` are words. `12:30` and dates are words as well.
_WORDS = dict.fromkeys(("", "~", "null", "Null", "NULL"), _NULL) | dict.fromkeys(
    ("true", "True", "TRUE", "false", "False", "FALSE"), _BOOL
)
_INTEGER = re.compile(r"[-+]?[0-9]+(?:_[0-9]+)*|0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

_FIXES = (
    ("unknown escape", "write the value in single quotes, where a backslash is just a backslash"),
    ("alphabetic or numeric", "put quotes around a value that begins with * or &"),
    ("mapping values are not allowed", "put quotes around a value that holds a colon, and check the indentation"),
    ("cannot start any token", "put quotes around a value that begins with @, %, ` or another sign of YAML"),
    ("unexpected end of stream", "close the quote or the bracket"),
    ("expected ',' or", "close the bracket or the brace, and put commas between the entries"),
    ("single document", "keep one document; remove the second `---`"),
    ("another document", "keep one document; remove the second `---`"),
    ("could not find expected ':'", "check for a missing colon, or a value that continues without indentation"),
    ("expected key", "align the keys of one mapping in the same column"),
    ("block end", "align the keys of one mapping in the same column"),
    ("undefined alias", "put quotes around a value that begins with *"),
    ("special characters", "remove the control character"),
    ("control characters", "remove the control character"),
)


class _DepthError(Exception):
    """The next node would be deeper than the limit."""


class _Loader(_Base):
    """The loader's parser and composer; the constructors of the library are not used."""

    level = 0
    nodes = 0

    def descend_resolver(self, current_node: object, current_index: object) -> None:
        self.level += 1
        if self.level > MAX_DEPTH + 1:
            raise _DepthError

    def ascend_resolver(self) -> None:
        self.level -= 1

    def resolve(self, kind: type[Node], value: str, implicit: tuple[bool, bool]) -> str:
        self.nodes += 1
        if kind is ScalarNode:
            return _plain_tag(value) if implicit[0] else _STR
        return _SEQ if kind is SequenceNode else _MAP


def _plain_tag(value: str) -> str:
    tag = _WORDS.get(value)
    if tag is not None:
        return tag
    if value[0] in "0123456789+-.":
        if _INTEGER.fullmatch(value):
            return _INT
        if _FRACTION.fullmatch(value):
            return _FLOAT
    return _STR


def compose(text: str, counted: Callable[[int], None] | None = None) -> Node | None:
    """The one document of the text as nodes with marks; None for an empty text. `text` has no byte order mark.
    `counted` is called with the number of nodes."""
    loader = None
    try:
        loader = _Loader(text)
        return loader.get_single_node()
    except _DepthError:
        raise too_deep() from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _mistake(text, error.problem or error.context or "", 0 if mark is None else mark.index) from None
    except yaml.YAMLError as error:  # a character that YAML forbids; these errors carry a position instead of a mark
        before = text.encode()[: getattr(error, "position", 0)].decode(errors="ignore")
        raise _mistake(text, getattr(error, "reason", "") or str(error), len(before)) from None
    finally:
        if loader is not None:
            loader.dispose()
            if counted is not None:
                counted(loader.nodes)


def _mistake(text: str, problem: str, at: int) -> Unreadable:
    """The error with the likely fix. If something is missing at the end of the text, the error is on the last line."""
    if conflict := merge_conflict(text):
        return conflict
    line = text.count("\n", 0, min(at, len(text.rstrip()))) + 1
    if text[at : at + 1] == "\t":
        return Unreadable("not valid YAML: a tab where spaces belong", "indent with spaces, not with a tab", line)
    fix = next((fix for sign, fix in _FIXES if sign in problem), "correct the YAML near this line")
    return Unreadable(f"not valid YAML: {problem}", fix, line)


def load(text: str, counted: Callable[[int], None] | None = None) -> Json:
    """The value of the text. Strings, finite numbers, true, false, null, lists and mappings with string keys."""
    root = compose(text, counted)
    if root is None:
        return None
    # An alias puts one node object into two places, and is always written with a star.
    return _build(root, 1, _Aliases(text) if "*" in text else None)


def children(node: Node) -> Iterator[tuple[str | int, Node, int]]:
    """The entries of a list or a mapping: key or index, the value, and where it or its key begins."""
    if isinstance(node, MappingNode):
        keyed = ((key, value) for key, value in node.value if isinstance(key, ScalarNode))
        yield from ((key.value, value, key.start_mark.index) for key, value in keyed)
    elif isinstance(node, SequenceNode):
        yield from ((index, item, item.start_mark.index) for index, item in enumerate(node.value))


class _Aliases:
    """Counts values repeated through aliases, so that a few lines cannot grow without limit."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.seen: set[int] = set()
        self.left = MAX_REPEATED

    def meet(self, node: Node) -> None:
        if id(node) in self.seen:
            self.left -= 1
            if self.left < 0:
                raise _too_many(self.text)
        self.seen.add(id(node))


def _build(node: Node, depth: int, aliases: _Aliases | None) -> Json:
    if aliases is not None:
        aliases.meet(node)
    kind = type(node)
    if kind is ScalarNode:
        return _string(node) if node.tag == _STR else _scalar(node)
    if depth > MAX_DEPTH:
        raise too_deep()
    if kind is MappingNode and node.tag == _MAP:
        return _mapping(node, depth + 1, aliases)
    if kind is SequenceNode and node.tag == _SEQ:
        return [_build(item, depth + 1, aliases) for item in node.value]
    raise _tag(node)


def _mapping(node: Node, depth: int, aliases: _Aliases | None) -> dict[str, Json]:
    made: dict[str, Json] = {}
    merged: dict[str, Json] = {}
    for key_node, value_node in node.value:
        key = _build(key_node, depth, aliases)
        if type(key) is not str:
            shown = f"`{key_node.value}`" if type(key_node) is ScalarNode else "of brackets"
            raise Unreadable(f"the key {shown} is not a string", "put quotes around the key", _line(key_node))
        if key in made:
            raise Unreadable(f"the key {key!r} appears twice in one mapping", "remove one of the two", _line(key_node))
        value = _build(value_node, depth, aliases)
        if key == "<<" and not key_node.style:
            merged = _merged(value, value_node)
        else:
            made[key] = value
    return {**merged, **made} if merged else made


def _merged(value: Json, node: Node) -> dict[str, Json]:
    """What a plain `<<` merges in: one mapping or several; the first that has a key counts."""
    made: dict[str, Json] = {}
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, dict):
            raise Unreadable(
                "`<<` needs a mapping or a list of mappings", "name a mapping, or quote the key", _line(node)
            )
        made = {**part, **made}
    return made


def _string(node: Node) -> str:
    """The Python loader, unlike the C loader, lets an escape make half of a surrogate pair."""
    value: str = node.value
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unreadable("an escape is half of a character", "write the character itself", _line(node)) from None
    return value


def _scalar(node: Node) -> Json:
    value: str = node.value
    if node.tag not in (_NULL, _BOOL, _INT, _FLOAT) or _plain_tag(value) != node.tag:
        raise _tag(node)
    if node.tag == _NULL:
        return None
    if node.tag == _BOOL:
        return value in ("true", "True", "TRUE")
    return _number(value, node.tag == _INT)


def _number(value: str, whole: bool) -> int | float | str:
    """A number that JSON does not have, infinite or too long, stays text, so that only its own entry fails."""
    if len(value) > MAX_DIGITS or "n" in value.lower():
        return value
    if whole:
        base = {"0o": 8, "0x": 16}.get(value[:2], 10)
        number = int(value, base)
        return value if base != 10 and number.bit_length() > MAX_BITS else number
    fraction = float(value)
    return value if abs(fraction) == float("inf") else fraction


def _line(node: Node) -> int:
    return node.start_mark.line + 1


def _tag(node: Node) -> Unreadable:
    return Unreadable(f"the tag {node.tag} is not accepted here", "remove the tag; use plain values", _line(node))


def _too_many(text: str) -> Unreadable:
    alias = next((e for e in yaml.parse(text, Loader=_Loader) if isinstance(e, yaml.AliasEvent)), None)
    line = None if alias is None or alias.start_mark is None else alias.start_mark.line + 1
    return Unreadable(f"its aliases (*name) repeat more than {MAX_REPEATED:,} values", "write the values out", line)


_DOUBLE_QUOTED = r'(?P<double>"(?:[^"\\]+|\\.)*+"?)'
_COMMON = r"(?P<gap>\s+)|(?P<comment>#[^\n]*)|" + _DOUBLE_QUOTED + r"|(?P<single>'(?:[^']+|'')*+'?)|(?P<open>[\[{])"
_BLOCK_STEP = re.compile(
    _COMMON
    + r"|(?P<text>[|>][-+0-9]*[ \t]*(?:[ \t]#[^\n]*)?(?=\r?\n|\Z))"
    + r"|(?P<mark>[-?:](?=\s|\Z))|(?P<plain>(?:[^\s:]+|:(?!\s|\Z)|[ \t]+(?=[^\s#]))++|.)",
    re.DOTALL,
)
_FLOW_STEP = re.compile(
    _COMMON
    + r"|(?P<close>[\]}])|(?P<mark>[,?:])"
    + r"|(?P<plain>(?:[^\s:,\[\]{}]+|:(?![\s,\[\]{}]|\Z)|[ \t]+(?=[^\s#:,\[\]{}]))++|.)",
    re.DOTALL,
)
_PREFIX = re.compile(r" *(?:[-?:] +)*")
_BACKSLASH = re.compile(r'\\(\\|"|\r?\n)?')


def escape_backslashes(text: str) -> str:
    """See `parse.escape_backslashes`. One pass over the scalars; comments, block text and plain scalars are kept."""
    out: list[str] = []
    at = flow = 0
    while at < len(text):
        step = (_FLOW_STEP if flow else _BLOCK_STEP).match(text, at)
        assert step is not None  # noqa: S101 - the last alternative takes any character
        piece, kind, end = step[0], step.lastgroup, step.end()
        if kind == "double":
            piece = _BACKSLASH.sub(lambda found: found[0] if found[1] else "\\\\", piece)
        elif kind == "open":
            flow += 1
        elif kind == "close":
            flow -= 1
        elif kind == "text":
            end = _block_end(text, at, end)
            piece = text[at:end]
        out.append(piece)
        at = end
    return "".join(out)


def _block_end(text: str, at: int, end: int) -> int:
    """Where the block scalar that starts at `at` ends: before the first line that is not indented more."""
    start = text.rfind("\n", 0, at) + 1
    head = text[start:at]
    found = _PREFIX.match(head)
    column = len(found[0]) if found else 0
    parent = column if column < len(head) else max(head.rfind(sign) for sign in "-?:")
    while (newline := text.find("\n", end)) >= 0:
        after = text.find("\n", newline + 1)
        line = text[newline + 1 :] if after < 0 else text[newline + 1 : after]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= parent:
            break
        end = len(text) if after < 0 else after
        if after < 0:
            break
    return end
