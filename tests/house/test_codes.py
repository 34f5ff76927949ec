"""Every problem code in the source is in the table, every code in the table is used, and the error page is current."""

from __future__ import annotations

import ast
from functools import cache

from sources import ROOT, SOURCE, nodes_of

from anyhook.engine.merge import CODE_OF_ENDING
from anyhook.model.codes import CODES, CORRECTED, GROUPS
from anyhook.model.problem import ERROR, WARNING
from anyhook.tables.cell_names import CAUSES
from anyhook.tables.registry import DIALECTS, dialect

MAKERS = {"Problem", "problem", "problem_at", "complain", "Fault"}
"""Functions whose first argument is a code. `say` is one too, unless it prints."""


@cache
def used_codes() -> dict[str, str]:
    """Codes in the source, with one place each. A code with a variable part ends in `*`."""
    found: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and node.args and _makes_a_problem(node.func):
                for code in _texts(node.args[0]):
                    found.setdefault(code, f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def _makes_a_problem(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in MAKERS
    if not isinstance(function, ast.Attribute):
        return False
    printing = isinstance(function.value, ast.Name) and function.value.id == "render"
    return function.attr in MAKERS or (function.attr == "say" and not printing)


def _texts(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        first = node.values[0]
        return [f"{first.value}*"] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body), *_texts(node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in _texts(value)]
    return []


def test_every_code_in_the_source_is_in_the_table() -> None:
    unknown = {
        code: place
        for code, place in used_codes().items()
        if (not any(known.startswith(code[:-1]) for known in CODES) if code.endswith("*") else code not in CODES)
    }
    assert unknown == {}


def test_every_code_in_the_table_is_used() -> None:
    used = used_codes()
    stems = tuple(code[:-1] for code in used if code.endswith("*"))
    made = {*used, *CODE_OF_ENDING.values()}
    assert [code for code in CODES if code not in made and not code.startswith(stems)] == []


def test_the_search_finds_codes_at_all() -> None:
    """If the search found nothing, the tests above would prove nothing."""
    used = used_codes()
    assert len(used) > 40
    assert {"unknown-event", "async-gate", "cannot-block", "overridden", "invalid-*"} <= used.keys()


def test_every_failure_of_a_hook_has_a_code() -> None:
    assert set(CODE_OF_ENDING.values()) <= CODES.keys()


def test_dialects_own_ids_stand_for_known_causes() -> None:
    for name in DIALECTS:
        assert dialect(name).failing.codes.keys() <= CAUSES.keys(), name
    own = {code for name in DIALECTS for code in dialect(name).failing.codes.values()}
    assert own
    assert own.isdisjoint(CODES)


def test_every_row_is_complete() -> None:
    for name, code in CODES.items():
        assert code.group in GROUPS, name
        assert code.severity in (ERROR, WARNING), name
        assert code.meaning.endswith("."), name
        assert code.fix.endswith((".", "FILE.")), name
        assert name == name.lower(), name
    assert set(CORRECTED) <= CODES.keys()
