"""A rewrite that names some fields. Where the product merges, the others stay; where it replaces the whole input, no
field that the tool needs is lost without a word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook import Event
from anyhook.tables.registry import HOSTS, host
from anyhook.tables.translate import NEEDED, renamed
from satellite import satellite

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

VALUES: dict[str, Json] = {
    "command": "ls", "path": "/tmp/a", "content": "x", "old_text": "one", "new_text": "two",
}  # fmt: skip
CALLS = [
    (agent, native, tool.ours)
    for agent in HOSTS
    for native, tool in host(agent).tools.items()
    if tool.ours in NEEDED and tool.split is None
]


@pytest.mark.parametrize("agent", sorted({agent for agent, _, _ in CALLS}))
def test_no_needed_field_is_lost_in_any_agent(world: World, agent: str) -> None:
    """The hook replaces each input by one that has only a field of its own."""
    if agent == "kodik":  # it runs its own hooks itself
        world.hook("kodelet", "before_tool_call", """echo '{"input": {"note": "n"}}'""")
    else:
        world.hook("kodik", "PreToolUse", """echo '{"modified_input": {"note": "n"}}'""")
    engine = world.engine()
    row = next(row for row in host(agent).events if "pre_tool" in row.canonical)
    for _, native, ours in [each for each in CALLS if each[0] == agent]:
        given = {name: VALUES[name] for name in NEEDED[ours]}
        sent = renamed(given, host(agent).tools[native].inputs)
        engine.bridge(
            agent,
            row.native,
            satellite("testing.kit.events").payload_of_agent(host(agent), row, {"tool": native, "input": sent}, "/tmp"),
        )
        decision = world.journal()[-1]["decision"]
        assert {**decision["tool_input"], **sent} == decision["tool_input"], (native, decision["tool_input"])
        assert "partial-rewrite" in [problem["code"] for problem in decision["problems"]], native
    engine.close_sync()


REWRITES: dict[str, Json] = {
    "kodik": {"modified_input": {"content": "X"}},
    "claude": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"content": "X"}}},
    "codex": {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"content": "X"},
        },
    },
    "kolega": {"hookSpecificOutput": {"updatedInput": {"content": "X"}}},
}  # fmt: skip


@pytest.mark.parametrize("name", REWRITES)
def test_fire_takes_the_input_as_it_is(world: World, name: str) -> None:
    """Nothing is known about the tools of a caller who names one by hand: what a rewrite leaves out is said, and not
    put back."""
    world.hook(name, "PreToolUse", f"echo '{json.dumps(REWRITES[name])}'")
    decision = world.engine().fire_sync(Event.pre_tool("Write", {"file_path": "a", "content": "x"}))
    assert decision.tool_input == {"content": "X"}
    assert [problem.code for problem in decision.problems] == ["partial-rewrite"]
    assert "`file_path`" in decision.problems[0].what
    decision = world.engine().fire_sync(Event.pre_tool("Write", {"content": "x"}))
    assert (decision.tool_input, decision.problems) == ({"content": "X"}, ())


def test_a_whole_rewrite_is_no_problem(world: World) -> None:
    world.hook("kodik", "PreToolUse", """echo '{"modified_input": {"command": "ls -l"}}'""")
    event = Event("pre_tool", {"tool": "shell", "input": {"command": "ls", "timeout": 5}}, hosted=True, ours="shell")
    decision = world.engine().fire_sync(event)
    assert (decision.tool_input, decision.problems) == ({"command": "ls -l"}, ())
