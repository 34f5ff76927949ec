"""What a test can hold of the table "Once" in docs/house.md."""

from __future__ import annotations

import ast

from sources import SOURCE, nodes_of


def _calls(*names: str) -> list[str]:
    """The modules that call one of these names."""
    return sorted(
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    )


def test_engines_are_built_in_one_place() -> None:
    assert _calls("Engine") == ["engine/engine.py"]
    assert _calls("Context") == ["engine/engine.py"]
