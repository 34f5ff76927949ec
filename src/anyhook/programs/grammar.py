"""The grammar of shell lines: tree-sitter's, loaded on first use and only where a line has to be read."""

from __future__ import annotations

import sys
from _frozen_importlib_external import PathFinder  # `importlib.machinery` would be more files to load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tree_sitter import Node, Parser

SUBSTITUTIONS = ("command_substitution", "process_substitution")
_parsers: list[Parser] = []


def parse(text: str) -> Node:
    """The root of a line's tree. A text that is not a line has a tree as well, with errors in it."""
    if not _parsers:
        grammar, library = _binding("tree_sitter_bash"), _binding("tree_sitter")
        _parsers.append(library.Parser(library.Language(grammar.language())))
    return _parsers[0].parse(text.encode("utf-8", "replace")).root_node


def _binding(package: str) -> ModuleType:
    """The C module in a package, without the package: that imports 40 modules for what we do not use, and takes longer
    than the start of Python."""
    name = f"{package}._binding"
    if name not in sys.modules:
        outer = PathFinder.find_spec(package)
        inner = PathFinder.find_spec(name, outer.submodule_search_locations) if outer is not None else None
        if inner is None or inner.loader is None or (made := inner.loader.create_module(inner)) is None:
            from importlib import import_module

            return import_module(name)
        inner.loader.exec_module(made)
        sys.modules[name] = made
    return sys.modules[name]


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
