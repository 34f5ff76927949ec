"""Checks the table of rows that need a running agent. Each row names an existing test, and no row that the vectors
leave to the agent is missing. It runs no agent."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from anyhook.extra.testing.conformance import vectors

HERE = Path(__file__).parent
ROWS: dict[str, str] = json.loads((HERE / "agent_rows.json").read_text())
NOWHERE = {"L-43"}
"""This row forbids hooks for a kind of command that the agent does not have."""


def functions_of(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_row_names_a_test_that_is_there() -> None:
    files = {place.partition("::")[0] for place in ROWS.values()}
    known = {f"{file}::{name}" for file in files for name in functions_of(file)}
    assert {row: place for row, place in ROWS.items() if place not in known} == {}


def test_every_row_is_one_of_the_specification() -> None:
    suite = vectors.load_suite()
    known = {row for rows in suite.rows.values() for row in rows}
    assert set(ROWS) - known == set()
    deferred = [json.loads(path.read_text()) for path in (vectors.HERE / "vectors").glob(f"*/{vectors.DEFERRED_FILE}")]
    left = {row for table in deferred for row in table} - NOWHERE
    assert left - set(ROWS) == set(), "the vectors leave these rows to the agent"
