"""`anyhook new --with-test`: a new hook comes with cases that pass, and no dialect reads its case file."""

from __future__ import annotations

import json

import pytest

from anyhook.tables.registry import DIALECTS, dialect
from conftest import World

NEW = [name for name in DIALECTS if dialect(name).scaffold]
IN_PROJECTS = [name for name in NEW if "project" in dict(dialect(name).files)]
PAIRS = [(name, row.native) for name in IN_PROJECTS for row in dialect(name).events]


def gates(names: list[str]) -> list[tuple[str, str]]:
    return [(name, row.native) for name in names if (row := dialect(name).row_for("pre_tool"))]


@pytest.mark.parametrize(("name", "native"), gates(IN_PROJECTS))
def test_the_first_cases_of_a_gate_hold(world: World, name: str, native: str) -> None:
    done = world.command("new", "guard", "--dialect", name, "--event", native, "--with-test")
    assert done.returncode == 0, done.stderr
    assert "anyhook test " in done.stdout
    done = world.command("test", "--trust", "all", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["passed"], found["failed"]) == (2, 0)
    assert json.loads(world.command("check", "--format", "json").stdout) == {"problems": []}


@pytest.mark.parametrize(("name", "native"), gates([name for name in NEW if name not in IN_PROJECTS]))
def test_a_dialect_without_project_hooks_gets_one_of_the_user(world: World, name: str, native: str) -> None:
    words = ["new", "guard", "--dialect", name, "--event", native]
    done = world.command(*words, "--with-test")
    assert (done.returncode, "cases run in a project" in done.stderr) == (3, True)
    done = world.command(*words, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["id"].split(":")[:2] == [name, "user"]


def test_every_event_gets_cases_that_can_be_read(world: World) -> None:
    from anyhook.documents.parse import parse_yaml
    from anyhook.extra.testing.kit.cases import cases_in
    from anyhook.extra.testing.new_hook import Order, find_row, write
    from anyhook.extra.testing.verb_new import first_cases

    for number, (name, native) in enumerate(PAIRS):
        table = dialect(name)
        row, canonical = find_row(table, native)
        order = Order(f"h{number}", table, row, "project", "bash", "", world.setup().roots(()))
        _, hook = write(order)
        text = first_cases(order, canonical, hook)
        assert len(cases_in(parse_yaml(text), "x.hooktest.yaml", text)) == 2


def test_bad_calls(world: World) -> None:
    words = ["new", "guard", "--dialect", "kodik", "--event", "Stop", "--with-test"]
    done = world.command(*words, "--scope", "user")
    assert (done.returncode, "--scope project" in done.stderr) == (3, True)
    path = world.write(world.project / ".kodik/guard.hooktest.yaml", "mine")
    done = world.command(*words)
    assert (done.returncode, "is there already" in done.stderr) == (3, True)
    assert sorted(found.name for found in path.parent.iterdir()) == [path.name], "nothing else was written"
