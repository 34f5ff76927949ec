"""The states of a gate as a table: every state and its cause, in every agent and without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from anyhook.engine.catalog import build
from anyhook.gates.gate import GateStatus, protected
from anyhook.gates.status import gates
from anyhook.model.outcome import STOPPING
from anyhook.tables.registry import HOSTS, dialect, host

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

FILE = ".kodik/hooks/hooks.json"
AGENTS = [None, *HOSTS]


def declared(world: World, native: str = "PreToolUse", matcher: str = "", command: str = "exit 0") -> None:
    """Declare and approve one gate of a project, in a dialect that only its own agent reads natively."""
    group: Json = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    world.write(world.project / FILE, json.dumps({"hooks": {native: [group]}}))
    world.approve()


def disabled(world: World) -> None:
    declared(world)
    (gate,) = state_of(world, None)
    assert world.command("disable", gate.id).returncode == 0


def unreadable(world: World) -> None:
    declared(world)
    (world.project / FILE).write_text("{")


def waiting(world: World) -> None:
    group: Json = {"hooks": [{"type": "command", "command": "exit 0"}]}
    world.write(world.project / FILE, json.dumps({"hooks": {"PreToolUse": [group]}}))


def changed(world: World) -> None:
    declared(world)
    text = (world.project / FILE).read_text()
    (world.project / FILE).write_text(text.replace("exit 0", "exit 1"))


def gone(world: World) -> None:
    declared(world)
    (world.project / FILE).unlink()


def broken(world: World) -> None:
    world.hook("kodik", "PreToolUse", "/no/such/program")


def unmatched(world: World) -> None:
    declared(world, matcher="Edit, Write")


def shadow(world: World) -> None:
    declared(world)
    world.config('mode = "shadow"\n')


STATES: dict[str, tuple[str, Callable[[World], None]]] = {
    "disabled": ("disabled", disabled),
    "unreadable": ("unreadable", unreadable),
    "waiting": ("waiting", waiting),
    "changed": ("changed", changed),
    "gone": ("changed", gone),
    "broken": ("broken", broken),
    "unmatched": ("unmatched", unmatched),
    "shadow": ("shadow", shadow),
    "armed": ("armed", declared),
}


BEHIND_NATIVE = ("unmatched", "shadow", "armed")
"""States that do not count if the agent runs the hook itself."""


def state_of(world: World, agent: str | None) -> list[GateStatus]:
    catalog = build(world.setup(), may_start=True).with_lines()
    return gates(world.setup(), catalog, host(agent) if agent else None)


@pytest.mark.parametrize("name", STATES)
def test_every_state_in_every_agent(world: World, name: str) -> None:
    """A fault in the gate itself shows in every agent, with the reason and the fix."""
    state, make = STATES[name]
    make(world)
    for agent in AGENTS:
        (gate,) = state_of(world, agent)
        runs_it = agent is not None and "project" in host(agent).reads.get("kodik", ())
        expected = "native" if runs_it and state in BEHIND_NATIVE else state
        assert (gate.state, gate.agent) == (expected, agent), gate
        assert bool(gate.why) is (expected != "armed"), gate
        assert bool(gate.fix) or expected in ("armed", "unmatched", "native"), gate
        assert protected([gate]) is (expected == "armed")
    world.hook("claude", "PreToolUse", "exit 0", scope="user")
    assert protected(state_of(world, None)) is (name in ("disabled", "unmatched", "armed"))


@pytest.mark.parametrize("agent", HOSTS)
def test_what_depends_on_the_agent(world: World, agent: str) -> None:
    """`native`, `uncovered` and a matcher for other agents' tools occur only if an agent is named."""
    table = host(agent)
    asked = {event for row in table.events if row.installed for event in row.canonical}
    made: dict[str, str] = {}
    for name, scopes in table.reads.items():
        row = dialect(name).row_for("pre_tool")
        if "user" in scopes and row is not None and name not in table.misreads:
            world.hook(name, row.native, "exit 0")
            made[name] = "native" if "" in (table.own_files or ("",)) else "armed"  # `world.hook` has the first file
    world.hook("kodik", "PreToolUse", "exit 0")
    for row in dialect("kodik").events:
        if row.block in STOPPING and not asked.intersection(row.canonical):
            world.hook("kodik", row.native, "exit 0")
            made[row.native] = "uncovered"
    found = state_of(world, agent)
    assert {gate.dialect: gate.state for gate in found if gate.dialect in made} == {
        name: state for name, state in made.items() if state != "uncovered"
    }
    uncovered = [gate for gate in found if gate.state == "uncovered"]
    assert len(uncovered) == list(made.values()).count("uncovered")
    assert all(gate.why and gate.fix for gate in uncovered)
    assert protected(found) is (not uncovered and any(gate.state == "armed" for gate in found))
    assert {gate.state for gate in state_of(world, None)} == {"armed"}


def test_the_first_that_applies_counts(world: World) -> None:
    """Start with a gate that has every fault, and fix one at a time."""
    world.config('mode = "shadow"\n')
    declared(world, matcher="Edit, Write", command="/no/such/program")
    (gate,) = state_of(world, None)
    assert world.command("disable", gate.id).returncode == 0
    assert [gate.state for gate in state_of(world, None)] == ["disabled"]
    assert world.command("enable", gate.id).returncode == 0
    assert [gate.state for gate in state_of(world, None)] == ["broken"]
    world.write(
        world.project / FILE, (world.project / FILE).read_text().replace("/no/such/program", "/no/such/program -x")
    )
    assert [gate.state for gate in state_of(world, None)] == ["changed"]
    assert world.command("trust", "--revoke", "--yes").returncode == 0
    assert [gate.state for gate in state_of(world, None)] == ["waiting"]
    declared(world, matcher="Edit, Write")
    assert [gate.state for gate in state_of(world, None)] == ["unmatched"]
    declared(world)
    assert [gate.state for gate in state_of(world, None)] == ["shadow"]
    world.config("")
    assert [gate.state for gate in state_of(world, None)] == ["armed"]
