"""The grammar of shell lines: tree-sitter's, loaded on first use and only where a line has to be read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_parsers: list[Parser] = []


def parse(text: str) -> Node:
    """The root of a line's tree. A text that is not a line has a tree as well, with errors in it."""
    if not _parsers:
        import tree_sitter_bash
        from tree_sitter import Language, Parser

        _parsers.append(Parser(Language(tree_sitter_bash.language())))
    return _parsers[0].parse(text.encode("utf-8", "replace")).root_node


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
