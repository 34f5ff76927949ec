"""What the code may still have of what it should not have: lists of exceptions, counted from the source. They only get
shorter. A new entry, or one that grew, is a failure; so is one that improved or is gone and is still listed.

    python tests/house/budgets.py      takes improvements off the lists; it never adds to them
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit_ast
from radon.visitors import Function
from sources import ROOT, SOURCE, nodes_of, tree_of

LISTS = Path(__file__).with_name("budgets.json")
MAX_COMPLEXITY = 15
ROW_TYPES = ("tables/rows.py", "tables/host_rows.py", "tables/drive_rows.py", "tables/shapes.py")
MADE_BY_US = {"Roots", "Scene", "Launch", "EntryFault"}
"""Records in these files that no agent's table is made of."""
PER_MODULE = {
    "TYPE_CHECKING", "EXAMPLE", "VERSION", "CHANGES", "PAST", "DIALECT", "HOST", "EVENTS", "TOOLS", "BASE", "LIMITS",
    "REPLY", "HOST_EVENTS", "REPLIES", "WORDS", "SHAPE", "LAYOUT", "DRIVE", "PAYLOADS", "FILES", "OFFERED", "SERVERS",
    "OWN_FOLDERS", "WORKING_FOLDERS",
}  # fmt: skip
"""The names by which agents' modules, and verbs, are read: one meaning in each of them."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), path


def complex_functions() -> dict[str, int]:
    """Function → its complexity, as `radon cc` counts it, if it is above the limit."""
    return {
        f"{module}:{block.fullname}": block.complexity
        for module, path in modules()
        for block in cc_visit_ast(tree_of(path))
        if isinstance(block, Function) and block.complexity > MAX_COMPLEXITY
    }


def _is_bool(note: ast.expr | None) -> bool:
    return note is not None and "bool" in ast.unparse(note).replace(" ", "").split("|")


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _functions(node, prefix)


def boolean_parameters() -> dict[str, int]:
    """Function that other modules can call → its boolean parameters that can be given without their name."""
    found: dict[str, int] = {}
    for module, path in modules():
        for name, node in _functions(tree_of(path)):
            if any(part.startswith("_") for part in name.split(".")):
                continue
            given = (*node.args.posonlyargs, *node.args.args)
            if number := sum(_is_bool(each.annotation) for each in given):
                found[f"{module}:{name}"] = number
    return found


def shared_constants() -> dict[str, int]:
    """Constant → the number of modules that define it, if more than one does."""
    homes: dict[str, set[str]] = {}
    for module, path in modules():
        for node in tree_of(path).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name) and target.id.isupper() and target.id not in PER_MODULE:
                    homes.setdefault(target.id, set()).add(module)
    return {name: len(found) for name, found in sorted(homes.items()) if len(found) > 1}


def _name(field: ast.AnnAssign) -> str:
    return ast.unparse(field.target)


def row_types() -> dict[str, list[str]]:
    """Row type → its fields."""
    return {
        node.name: [_name(each) for each in node.body if isinstance(each, ast.AnnAssign)]
        for name in ROW_TYPES
        for node in tree_of(SOURCE / name).body
        if isinstance(node, ast.ClassDef) and "Record" in [getattr(base, "id", "") for base in node.bases]
        if node.name not in MADE_BY_US
    }


def users_of_fields() -> dict[str, set[str]]:
    """`Row.field` → the agents whose tables set it. What several agents share (`_family`) counts as several."""
    rows = row_types()
    users: dict[str, set[str]] = {f"{row}.{field}": set() for row, fields in rows.items() for field in fields}
    for path in (*sorted((SOURCE / "agents").rglob("*.py")), *sorted((SOURCE / "tables").glob("*.py"))):
        is_agent = (SOURCE / "agents") in path.parents
        agent = path.relative_to(SOURCE / "agents").parts[0].removesuffix(".py") if is_agent else "_tables"
        several = {agent, f"{agent}+"} if agent.startswith("_") else {agent}
        for node in nodes_of(path):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = [each.arg for each in node.keywords]
            if name in rows:
                for field in (*rows[name][: len(node.args)], *given):
                    if f"{name}.{field}" in users:
                        users[f"{name}.{field}"] |= several
            elif name in ("fields", "taken"):  # what they are given is a payload's
                continue
            elif is_agent or path.name == "found_agents.py":  # `extend`, `replace`, functions that fill in a row
                for row in rows:
                    for field in given:
                        if f"{row}.{field}" in users:
                            users[f"{row}.{field}"] |= several
    return users


def lonely_fields() -> dict[str, int]:
    """Fields of row types that one agent uses."""
    return {field: 1 for field, users in sorted(users_of_fields().items()) if len(users) == 1}


COUNTED = {
    "shared constants": shared_constants,
    "fields with one user": lonely_fields,
}


def listed() -> dict[str, dict[str, int]]:
    lists: dict[str, dict[str, int]] = json.loads(LISTS.read_text())
    return lists


def shrunk(known: dict[str, int], now: dict[str, int]) -> dict[str, int]:
    """The list with what improved, and without what is gone."""
    return {name: min(value, now[name]) for name, value in sorted(known.items()) if name in now}


def shrink() -> None:
    lists = listed()
    for name, count in COUNTED.items():
        lists[name] = shrunk(lists.get(name, {}), count())
    LISTS.write_text(json.dumps(lists, indent=1) + "\n")


if __name__ == "__main__":
    shrink()
    assert LISTS.is_relative_to(ROOT)
