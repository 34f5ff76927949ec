"""A user can let one refused call pass: only at a terminal, only that exact call, and only once."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from person_box import at_a_terminal

from anyhook.state import approvals

if TYPE_CHECKING:
    from conftest import World

RULES = '[[rule]]\nname = "no ls"\nwhen = "runs ls"\n\n[[rule]]\nname = "no -a"\nwhen = "runs ls -a"\n'
ONCE = ("allow-once",)
INPUT = {"command": "ls -l", "description": "é"}


def call(world: World, given: dict[str, str]) -> dict[str, object]:
    return dict(world.fire("pre_tool", "--tool", "Bash", "--input", json.dumps(given)))


@pytest.fixture
def refused(world: World) -> World:
    world.write(world.home / "config" / "anyhook" / "hooks.toml", RULES)
    assert call(world, INPUT)["verdict"] == "block"
    return world


def test_exactly_this_call_passes_once(refused: World) -> None:
    status, said = at_a_terminal(refused, b"y\n", ONCE)
    assert (status, "ls -l" in said, "refused by anyhook:user:pre_tool:no-ls" in said) == (0, True, True), said
    assert call(refused, {**INPUT, "command": "ls -l x"})["verdict"] == "block"
    decision = call(refused, INPUT)
    assert decision["verdict"] == "none"
    assert [problem["code"] for problem in decision["problems"]] == ["allowed-once"]  # type: ignore[attr-defined]
    assert call(refused, INPUT)["verdict"] == "block", "once"
    record = json.loads(refused.command("log", "--json").stdout.splitlines()[-2])
    assert record["decision"]["problems"][0]["code"] == "allowed-once"


def test_other_hooks_are_still_asked(refused: World) -> None:
    call(refused, {"command": "ls -a"})
    assert at_a_terminal(refused, b"y\n", ONCE)[0] == 0
    decision = call(refused, {"command": "ls -a"})
    assert (decision["verdict"], decision["hook"]) == ("block", "anyhook:user:pre_tool:no-a")


def test_a_no_changes_nothing(refused: World) -> None:
    assert at_a_terminal(refused, b"n\n", ONCE)[0] == 1
    assert call(refused, INPUT)["verdict"] == "block"


def test_without_a_terminal_nobody_is_let_pass(refused: World) -> None:
    done = refused.command("allow-once", stdin="y\n")
    assert (done.returncode, "at a terminal" in done.stderr) == (3, True)
    assert call(refused, INPUT)["verdict"] == "block"


def test_a_permission_ends_with_its_time(refused: World, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, key = str(refused.state), approvals.key_of("hook", "/p", "pre_tool", {"tool": "Bash", "input": {}})
    approvals.allow(folder, key, 1)
    later = time.time() + approvals.HOLDS_S + 1
    monkeypatch.setattr(approvals, "time", lambda: later)
    assert not approvals.use(folder, key)
    monkeypatch.undo()
    approvals.allow(folder, key, 1)
    assert approvals.use(folder, key)
    assert not approvals.use(folder, key)
