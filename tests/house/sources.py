"""The source as syntax trees, parsed once for all tests in this folder."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "anyhook"


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """A module and all nodes in it. The garbage collector need not scan them, because they stay."""
    gc.disable()
    try:
        return (*ast.walk(ast.parse(path.read_text(encoding="utf-8"))),)
    finally:
        gc.freeze()
        gc.enable()


def tree_of(path: Path) -> ast.Module:
    tree = nodes_of(path)[0]
    assert isinstance(tree, ast.Module)
    return tree
