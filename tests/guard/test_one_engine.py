"""One engine for the calls of all agents gives each of them the answer of an engine of its own, in any order, and its
own events the same decisions as before: an engine keeps no state of any single event."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from anyhook import Event
from anyhook.tables.registry import HOSTS, host, sample
from anyhook.tables.sample_rows import COMMAND

if TYPE_CHECKING:
    from anyhook import Engine
    from anyhook.model.firing import Answer
    from conftest import World

AGENTS = [name for name in HOSTS if sample(name).calls]
ALL = {"off": "rm -rf ~/config/anyhook", "fine": "cat README.md"}


def lines_of(agent: str) -> dict[str, str]:
    """Lines that are refused in every agent, in none, and in this one only: a variable that turns its hooks off."""
    table = host(agent)
    found = dict(ALL)
    for variable in table.off_variables[:1]:
        for path in table.variable_files[:1]:
            found["own"] = f"echo {variable}=1 >> {path}"
    return found


def asked(engine: Engine, agent: str, line: str, number: int) -> Answer:
    shown = sample(agent)
    payload = json.dumps(shown.payload).replace(json.dumps(COMMAND)[1:-1], json.dumps(line)[1:-1])
    fields = {**json.loads(payload), "session_id": f"s{number}"}
    return engine.bridge(agent, shown.calls, json.dumps(fields).encode())


def calls() -> list[tuple[str, str]]:
    return [(agent, line) for agent in AGENTS for line in lines_of(agent).values()]


@pytest.mark.parametrize("seed", range(4))
def test_any_order(world: World, seed: int) -> None:
    chosen = random.Random(seed).sample(calls(), 30)
    shared = world.engine()
    for number, (agent, line) in enumerate(chosen):
        fresh = asked(world.engine(), agent, line, number)
        assert asked(shared, agent, line, number + 1000) == fresh, (agent, line)


def test_the_calls_differ(world: World) -> None:
    """Something is refused in every agent that can be told, and something in none."""
    engine = world.engine()
    answers = {agent: asked(engine, agent, ALL["off"], 1) for agent in AGENTS}
    assert all(answer.stdout or answer.stderr or answer.status for answer in answers.values())
    assert all("self-protection" not in asked(engine, agent, ALL["fine"], 2).stdout for agent in AGENTS)
    assert sum("own" in lines_of(agent) for agent in AGENTS) >= 1


def test_the_case_of_the_review(world: World) -> None:
    """After one refused call of Codex, Claude's settings are still protected as Claude's."""
    shared = world.engine()
    path, switched = world.project / ".claude/settings.json", '{"env": {"CLAUDE_CODE_SIMPLE": "1"}}'
    edit = {"file_path": str(path), "content": switched}
    write = {"tool_name": "Write", "tool_input": edit, "session_id": "s", "cwd": str(world.project)}
    asked(shared, "codex", ALL["off"], 1)
    assert shared.bridge("claude", "PreToolUse", json.dumps(write).encode()).stdout


def test_its_own_events(world: World) -> None:
    event = Event.pre_tool("shell", {"command": ALL["off"]})
    before = world.engine().fire_sync(event)
    shared = world.engine()
    for agent in AGENTS[:5]:
        asked(shared, agent, ALL["off"], 1)
    after = shared.fire_sync(event)
    assert (after.verdict, after.hooks) == (before.verdict, before.hooks)


def test_nobody_takes_its_name(world: World) -> None:
    engine = world.engine()
    with pytest.raises(ValueError, match="self-protection"):
        engine.on("pre_tool", lambda _: None, name="self-protection")
    assert asked(engine, "claude", ALL["off"], 1).stdout
