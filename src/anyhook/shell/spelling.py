"""Rewrites lines that tree-sitter's grammar parses wrongly into a spelling that it parses like every shell: `a$X/b$Y/c`
is two words to it, and so is ``a`b`c``."""

from __future__ import annotations

import re

from anyhook.shell.grammar import parse, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    Edit = tuple[int, int, bytes]

OTHERS = (
    (re.compile(r"<>"), ">"),  # opened for both: what counts is that it is written
    (re.compile(r"(<<-?\s*(['\"]?)\w+\2)[ \t]+(>{1,2}[ \t]*[^\s|;&]+)"), r"\3 \1"),  # `cat <<E > f | sh`
    (re.compile(r"\r\n"), "\n"),
    (re.compile(r"\s*\Z"), "\n"),
)
"""Texts that the grammar does not accept, and the same in a form that it does."""
DOUBTFUL = re.compile(r"\$(?<=[^\s\"'(=;&|\\]\$)[A-Za-z_0-9]|`(?<=[^\s(=]`)|`[^\s);|&]")
"""A variable or a backtick in the middle of a word. The sign stands first: long texts are searched faster."""
NAME = re.compile(rb"[0-9]|[A-Za-z_]\w*")
MAX_ROUNDS = 4


def understood(text: str) -> Node:
    """The tree of a line. What this grammar rejects although every shell accepts it is tried in another spelling."""
    root = parse(text)
    if DOUBTFUL.search(text):
        for _ in range(MAX_ROUNDS):
            edits = sorted(_edits(root, text.encode("utf-8", "replace")))
            if not edits:
                break
            text = _edited(text.encode("utf-8", "replace"), edits)
            root = parse(text)
    if root.has_error:
        for pattern, other in OTHERS:
            changed = parse(pattern.sub(other, text))
            if not changed.has_error:
                return changed
    return root


def _edited(text: bytes, edits: list[Edit]) -> str:
    for start, end, other in reversed(edits):
        text = text[:start] + other + text[end:]
    return text.decode("utf-8", "replace")


def _edits(root: Node, text: bytes) -> Iterator[Edit]:
    """`${X}` for each `$X` that was not seen as a variable, `$(…)` for each pair of backticks that ends a word."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command_substitution" and text_of(node).startswith("`") and _touches(node, text):
            inner = re.sub(r"\\([`$\\])", r"\1", text_of(node)[1:-1])
            yield node.start_byte, node.end_byte, f"$({inner})".encode()
        elif node.children:
            waiting.extend(node.children)
        elif (node.type == "word" and text_of(node).endswith("$")) or _is_lone(node):
            end = node.end_byte
            name = NAME.match(text, end)
            if name and text[end - 2 : end - 1] != b"\\":
                yield end - 1, name.end(), b"${" + name[0] + b"}"


def _is_lone(node: Node) -> bool:
    """A `$` that belongs to no expansion."""
    parent = node.parent
    return node.type == "$" and parent is not None and "expansion" not in parent.type and parent.type != "string"


def _touches(node: Node, text: bytes) -> bool:
    """Whether there is text right before or after it that the grammar sees as another word."""
    word = node.parent if node.parent is not None and node.parent.type == "concatenation" else node
    ends = (word.start_byte, word.end_byte)
    before, after = text[max(ends[0] - 1, 0) : ends[0]], text[ends[1] : ends[1] + 1]
    inside = node.parent is not None and node.parent.type in ("string", "heredoc_body")
    return not inside and bool(before.strip(b"(;&|={\"'<>") or after.strip(b");&|}\"'<>"))
