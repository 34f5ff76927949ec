"""The layout of the source checks itself: where product names appear, and how things are named. Nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from sources import nodes_of, tree_of

import anyhook
from anyhook.tables.registry import AGENTS

ROOT = Path(anyhook.__file__).parent
MODULES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py"))}


def nodes() -> dict[str, tuple[ast.AST, ...]]:
    """Parsed only when a test needs it: every worker loads this file, and few run these tests."""
    return {name: nodes_of(path) for name, path in MODULES.items()}


NAMES = sorted((name for name, _, _ in AGENTS if name != anyhook.__name__), key=len, reverse=True)
"""Other products; our own name is everywhere."""
ORDINARY = ("cursor", "pi", "crush", "amp")
"""Product names that are also ordinary words, or parts of them."""
SPECIAL = "|".join(name for name in NAMES if name not in ORDINARY)
PRODUCTS = re.compile(rf"(?<![a-z])({SPECIAL})(?![a-bd-z])", re.IGNORECASE)
PRODUCT_FOLDERS = ("agents/", "adapters/", "extra/frameworks/", "extra/testing/conformance/vectors/")
PRODUCT_LINES = {
    "tables/registry.py": r'    \("[a-z]+", [A-Z| ]+, \(',
    "cli/app.py": r"  anyhook ",
    "cli/verb_*.py": r"@verb\(|EXAMPLE = |TAKEN_OUT = ",
    "extra/*/verb_*.py": r"@verb\(|EXAMPLE = |TAKEN_OUT = ",
}
"""Everywhere else, a product is named only in its line of the registry and in the examples of the command's help."""


def is_named_in(line: str, name: str) -> bool:
    if PRODUCTS.search(line) is None:
        return False
    return not any(Path(name).match(pattern) and re.match(allowed, line) for pattern, allowed in PRODUCT_LINES.items())


def test_products_are_named_in_their_places_only() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, path in MODULES.items()
        if not name.startswith(PRODUCT_FOLDERS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if is_named_in(line, name)
    ]
    assert found == []


def agents_in(nodes: Sequence[ast.AST]) -> set[str]:
    """The agents that a module knows: it contains their names as separate words, or imports their tables. That one
    agent reads another's files is a fact about the first agent only."""
    facts = [node for node in nodes if isinstance(node, ast.keyword) and node.arg in ("reads", "misreads")]
    read = {id(inner) for fact in facts for inner in ast.walk(fact)}
    words: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in read:
            words.add(node.value)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            imported = [f"{base}{alias.name}" for alias in node.names]
            words.update(name.split(".")[2] for name in imported if name.startswith("anyhook.agents."))
    return words & set(NAMES)


def test_few_modules_know_an_agent() -> None:
    """An agent's own folder, the registry, and at most one other module. A folder counts as one place."""
    homes: dict[str, set[str]] = {agent: set() for agent in NAMES}
    for name, tree in nodes().items():
        for agent in agents_in(tree):
            homes[agent].add("/".join(name.split("/")[:2]).removesuffix(".py"))
    for agent, known in homes.items():
        assert {f"agents/{agent}", "tables/registry"} <= known
        known.discard("agents/_hook_places")  # it names every agent that has hook files
        assert len(known) <= 3, (agent, known)


def test_no_code_asks_which_dialect_it_is() -> None:
    """Dialects differ by their tables, never by an `if`."""
    found = [
        f"{name}:{node.lineno}"
        for name, tree in nodes().items()
        for node in tree
        if isinstance(node, ast.Compare)
        for part in (node.left, *node.comparators)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in anyhook_dialects()
    ]
    assert found == []


def anyhook_dialects() -> tuple[str, ...]:
    from anyhook.tables.registry import DIALECTS

    return tuple(name for name in DIALECTS if name != anyhook.__name__)  # our own name is everywhere


def test_one_place_prints() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, tree in nodes().items()
        if name != "cli/render.py"
        for node in tree
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []


def test_every_module_says_what_it_does() -> None:
    missing = [name for name, path in MODULES.items() if not ast.get_docstring(tree_of(path)) and name != "__main__.py"]
    assert missing == []


def test_names_say_what_things_are() -> None:
    vague = re.compile(r"manager|helper|utils?$", re.IGNORECASE)
    classes = [
        f"{name}:{node.name}"
        for name, tree in nodes().items()
        for node in tree
        if isinstance(node, ast.ClassDef) and vague.search(node.name)
    ]
    assert classes == []
    assert [name for name in MODULES if vague.search(Path(name).stem)] == []


def test_no_path_of_a_developers_machine() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*")
        if path.suffix in (".py", ".json", ".md", ".sh", ".yaml")
        if str(ROOT.parent.parent) in path.read_text()
    ]
    assert found == []


def test_the_checks_can_fail() -> None:
    assert is_named_in("if hook.dialect == 'kodik':", "engine.py")
    assert is_named_in("the goose hooks", "engine.py")
    assert agents_in([*ast.walk(ast.parse("from anyhook.agents.goose import HOST"))]) == {"goose"}
    assert agents_in([*ast.walk(ast.parse("from anyhook.agents import goose"))]) == {"goose"}
    assert agents_in([*ast.walk(ast.parse("x = 'goose'"))]) == {"goose"}
    assert not agents_in([*ast.walk(ast.parse("from anyhook.agents.gooseberry import HOST"))])
    assert not is_named_in("nobody has declined", "engine.py")
    assert is_named_in('    ("kode", DECLARES, ()),', "engine.py")
    assert not is_named_in('    ("kode", DECLARES, ()),', "tables/registry.py")


PER_FRAMEWORK = {"Hooked"}
"""Every adapter has a class of this name, which people use in their code."""


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = {}
    for name, tree in nodes().items():
        for node in tree:
            if isinstance(node, ast.ClassDef) and node.name not in PER_FRAMEWORK:
                homes.setdefault(node.name, []).append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
