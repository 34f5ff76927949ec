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


def test_only_the_walk_changes_a_walk() -> None:
    """The special cases take and return values: besides the module itself, only the engine and the bridge know the
    class, and they only drive it."""
    users: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        named = {node.id for node in nodes_of(path) if isinstance(node, ast.Name)}
        if "Walk" in named:
            users[path.relative_to(SOURCE).as_posix()] = {
                f"{node.value.id}.{node.attr}"
                for node in nodes_of(path)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "begun"
            }
    assert users.pop("engine/walk.py", None) is not None
    assert users.pop("engine/engine.py") == {"begun.run_async", "begun.run_to_end", "begun.part", "begun.context"}
    assert users.pop("engine/bridge.py") == {"begun.run_to_end"}
    assert not users
