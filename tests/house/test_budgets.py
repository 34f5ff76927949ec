"""No function is too complex, and booleans are given by name. Names of constants and fields of rows above the budget
are listed in `budgets.json`, and the lists only get shorter: `python tests/house/budgets.py` drops what improved."""

from __future__ import annotations

import ast
import re
from datetime import date

import pytest
from budgets import (
    COUNTED,
    MAX_COMPLEXITY,
    _functions,
    _is_bool,
    boolean_parameters,
    complex_functions,
    listed,
    lonely_fields,
    modules,
    shrunk,
    users_of_fields,
)
from radon.complexity import cc_visit
from sources import nodes_of

from anyhook.tables.registry import DIALECTS, HOSTS, dialect, special

MAX_LONELY = 10
"""Fields of row types that one agent alone uses; more become values of that agent's module (`special`)."""


@pytest.mark.parametrize("name", COUNTED)
def test_nothing_is_added(name: str) -> None:
    known = listed()[name]
    now = COUNTED[name]()
    assert {each: (known.get(each, 0), value) for each, value in now.items() if value > known.get(each, 0)} == {}


@pytest.mark.parametrize("name", COUNTED)
def test_what_improved_leaves_the_list(name: str) -> None:
    known = listed()[name]
    assert shrunk(known, COUNTED[name]()) == known, "run `python tests/house/budgets.py`"


def test_no_function_is_too_complex() -> None:
    assert complex_functions() == {}


def test_booleans_are_given_by_name_across_modules() -> None:
    assert boolean_parameters() == {}


def test_few_fields_have_one_user() -> None:
    assert len(lonely_fields()) <= MAX_LONELY
    unused = [field for field, users in users_of_fields().items() if not users]
    assert unused == [], "no agent's table sets these"


def test_what_is_special_has_a_meaning_and_a_user() -> None:
    asked = {
        str(node.args[1].value)
        for _, path in modules()
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "special"
        if isinstance(node.args[1], ast.Constant)
    }
    assert asked == set(re.findall(r"^ *`([A-Z_]+)`: ", special.__doc__ or "", re.MULTILINE))
    assert {word for word in asked if not any(special(name, word) for name in (*DIALECTS, *HOSTS))} == set()


@pytest.mark.parametrize("name", DIALECTS)
def test_every_difference_has_version_source_and_date(name: str) -> None:
    for each in dialect(name).differences:
        assert each.version.strip(), each
        assert len(each.source.strip()) > len("run"), each
        assert date(2025, 6, 1) <= date.fromisoformat(each.date) <= date.today(), each
        assert re.fullmatch(r"[A-Z0-9][A-Za-z0-9.-]*", each.row), each


def test_the_lists_only_shrink() -> None:
    assert shrunk({"NAME": 3, "GONE": 2}, {"NAME": 2, "OTHER": 2}) == {"NAME": 2}


def test_the_counts_see() -> None:
    branches = "\n".join(f"    if x == {number}:\n        return {number}" for number in range(MAX_COMPLEXITY))
    (found,) = cc_visit(f"def f(x):\n{branches}\n")
    assert found.complexity > MAX_COMPLEXITY
    text = "class A:\n    def f(self, a: bool | None, *, b: bool): ...\ndef g(a: int): ...\n"
    functions = dict(_functions(ast.parse(text)))
    assert [_is_bool(each.annotation) for each in functions["A.f"].args.args] == [False, True]
    assert not any(_is_bool(each.annotation) for each in functions["g"].args.args)
