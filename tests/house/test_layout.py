"""The house checks itself: who may import whom, where product names stand, how long things are. It runs nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import anyhook

ROOT = Path(anyhook.__file__).parent
MODULES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}

PRODUCTS = re.compile(r"kode|kodik|agenthooks|kimi|kolega|kodelet|claude|codex|gemini|opencode|copilot", re.IGNORECASE)
PRODUCT_FOLDERS = ("dialects/", "hosts/", "adapters/", "conformance/vectors/")
PRODUCT_LINES = {
    "grammar/registry.py": r'(DIALECTS|VARIABLES) = |    "[A-Z_]+",$',
    "cli/app.py": r"  anyhook ",
    "cli/verb_*.py": r"@verb\(|EXAMPLE = |TAKEN_OUT = ",
}
"""Elsewhere a product is named only in the registry's two tables and in the examples of the command's help."""

LAYERS: dict[str, tuple[str, ...]] = {
    "model": ("model",),
    "grammar": ("model", "grammar"),
    "dialects": ("model", "grammar", "dialects", "hosts"),
    "hosts": ("model", "grammar", "hosts"),
    "install": ("model", "grammar", "hosts", "stores", "install"),
    "live": ("model", "grammar", "hosts", "install", "steps", "live"),
    "stores": ("model", "grammar", "stores"),
    "steps": ("model", "grammar"),
    "adapters": ("model", "grammar", "adapters"),
    "agent": ("model", "grammar", "stores", "engine", "runners", "adapters", "agent"),
    "journal": ("model", "grammar", "stores", "steps", "journal"),
    "runners": ("model", "grammar", "stores", "steps", "runners"),
}
"""What the modules of a folder may import, inside functions included; imports for type checkers alone are free."""

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("model/catalog.py", "grammar.registry"): "a Setup is checked against the names of the dialects",
    ("model/catalog.py", "grammar.rows"): "a Setup becomes the Roots that tables are asked with",
    ("model/catalog.py", "grammar.files"): "lines are looked up when somebody is going to see them",
    ("model/catalog.py", "stores.config"): "the user's settings travel with the catalog they shaped",
    ("model/event.py", "grammar.registry"): "Event.of takes any dialect's own name",
    ("grammar/registry.py", "dialects"): "the one place that knows the dialects",
    ("steps/trust.py", "stores.ledger"): "what is pinned is what the ledger keeps",
    ("steps/trust.py", "stores.places"): "a user's folder that lies in the project needs approval",
    ("steps/review.py", "steps.trust"): "what a person is shown is what trust pins",
    ("steps/review.py", "stores.ledger"): "what is approved is what the ledger keeps",
    ("steps/explain.py", "steps.match"): "explain is the corridor up to the door: match",
    ("steps/explain.py", "steps.present"): "explain is the corridor up to the door: present",
    ("journal/replay.py", "hosts"): "an agent's events are recorded in the agent's words",
    ("journal/warm_worker.py", "runners.python"): "a callable is called as its runner calls it",
    ("steps/run.py", "steps.child"): "one step in several files: starting and waiting",
    ("steps/run.py", "steps.start_failure"): "one step in several files: why it could not be started",
    ("steps/record.py", "steps.suspect"): "one step in several files: what may hold a secret",
    ("steps/record.py", "steps.redact"): "one step in several files: what is never written down",
    ("steps/redact.py", "steps.suspect"): "one step in several files: what a secret looks like",
    ("steps/child.py", "steps.spawn"): "one step in several files: the start itself",
    ("steps/child.py", "steps.process_tree"): "one step in several files: ending",
}


def imports(name: str) -> Iterator[tuple[str, int]]:
    """The modules of ours that a module imports, without those for type checkers alone."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            skipped.update(inner for part in node.body for inner in ast.walk(part))
    for node in ast.walk(TREES[name]):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "anyhook":
            module = node.module.partition(".")[2]
            for alias in node.names:
                inner = f"{module}.{alias.name}".strip(".")
                is_module = inner.replace(".", "/") + ".py" in MODULES
                yield (inner if is_module else module), node.lineno
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "anyhook":
                    yield alias.name.partition(".")[2], node.lineno


def is_named_in(line: str, name: str) -> bool:
    for pattern, allowed in PRODUCT_LINES.items():
        if Path(name).match(pattern) and re.match(allowed, line):
            return False
    return PRODUCTS.search(line) is not None


def test_products_are_named_in_their_places_only() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, path in MODULES.items()
        if not name.startswith(PRODUCT_FOLDERS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if is_named_in(line, name)
    ]
    assert found == []


def test_no_code_asks_which_dialect_it_is() -> None:
    """A dialect differs by its table, never by an `if`."""
    found = [
        f"{name}:{node.lineno}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for part in (node.left, *node.comparators)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in anyhook_dialects()
    ]
    assert found == []


def anyhook_dialects() -> tuple[str, ...]:
    from anyhook.grammar.registry import DIALECTS

    return DIALECTS


@pytest.mark.parametrize("folder", LAYERS)
def test_a_folder_imports_what_it_may(folder: str) -> None:
    names = [name for name in MODULES if name.startswith(f"{folder}/")]
    assert names
    found = [
        f"{name}:{line} imports {module}"
        for name in names
        for module, line in imports(name)
        if module.split(".")[0] not in LAYERS[folder] and (name, module) not in EXCEPTIONS
    ]
    assert found == []


def test_every_exception_is_used() -> None:
    used = {(name, module) for name in MODULES for module, _ in imports(name)}
    dynamic = {("grammar/registry.py", "dialects")}
    assert set(EXCEPTIONS) - used - dynamic == set()


def test_only_the_command_line_imports_the_command_line() -> None:
    found = [
        f"{name}:{line} imports {module}"
        for name in MODULES
        if not name.startswith("cli/") and name not in ("entry.py", "__main__.py")
        for module, line in imports(name)
        if module.split(".")[0] == "cli"
    ]
    assert [entry for entry in found if not entry.startswith("conformance/")] == []


def test_one_place_prints() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, tree in TREES.items()
        if name != "cli/render.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []


def test_functions_fit_a_screen() -> None:
    found = [
        f"{name}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if node.end_lineno is not None and node.end_lineno - node.lineno + 1 > 50
    ]
    assert found == []


def test_files_are_short() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_every_module_says_what_it_does() -> None:
    missing = [name for name, tree in TREES.items() if not ast.get_docstring(tree) and name != "__main__.py"]
    assert missing == []


def test_names_say_what_things_are() -> None:
    vague = re.compile(r"manager|helper|utils?$", re.IGNORECASE)
    classes = [
        f"{name}:{node.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
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
    assert is_named_in('DIALECTS = ("kode",)', "engine.py")
    assert not is_named_in('DIALECTS = ("kode",)', "grammar/registry.py")
    assert "steps.child" in {module for module, _ in imports("steps/run.py")}
    assert "corridor" not in {module for module, _ in imports("grammar/rows.py")}
