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


SENTENCES = ("why", "what", "reason")
LOOKED_AT = {
    "cli/render.py": 3,  # rules that do not apply are counted, not listed; so are many hooks with one reason
    "cli/verb_doctor.py": 1,  # a reason that was printed is not printed twice
    "cli/verb_status.py": 1,  # a reason that the agent's line repeats is not printed twice
    "engine/catalog.py": 1,  # the command in a package's reason names the package's folder
    "engine/interpret.py": 1,  # the same problem is reported once
    "cli/view/backtest_text.py": 1,  # indents lines
    "engine/turned_on.py": 1,  # a pack whose problem is reported is not reported twice
    "gates/gate.py": 1,  # the command is named at the end of the line, not after each reason
    "journal/record.py": 1,  # rules that do not apply are counted, not recorded
}
"""Where a text is still compared, and how often: to print or record less, never to decide about a gate. The list only
gets shorter."""


def test_no_decision_looks_at_a_sentence() -> None:
    """A state and its cause are words of closed sets (`model/words.py`); sentences are for people."""
    found: dict[str, int] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).as_posix()
        if room.split("/")[0] in ("agents", "extra"):
            continue
        looks = sum(_looks_at_sentence(node) for node in nodes_of(path))
        if looks:
            found[room] = looks
    assert {room: looks for room, looks in found.items() if looks > LOOKED_AT.get(room, 0)} == {}


def _looks_at_sentence(node: ast.AST) -> bool:
    def is_sentence(part: ast.AST) -> bool:
        return isinstance(part, ast.Attribute) and part.attr in SENTENCES

    if isinstance(node, ast.Compare):
        texts = (*map(is_sentence, (node.left, *node.comparators)),)
        plain = all(isinstance(op, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for op in node.ops)
        return any(texts) and plain and not isinstance(node.comparators[0], ast.Constant)
    cuts = ("startswith", "endswith", "removesuffix", "removeprefix", "replace", "partition", "rpartition")
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in cuts
        and any(is_sentence(part) for part in ast.walk(node.func.value))
    )
