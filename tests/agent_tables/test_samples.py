"""Every agent's sample: the hook blocks, and the agent gets the refusal in its own format."""

from __future__ import annotations

import json

import pytest

from anyhook.tables.registry import AGENTS, DIALECTS, HOSTS, dialect, host, sample
from anyhook.tables.sample_rows import REASON, Sample
from conftest import World
from each_of import each_of


def laid_out(world: World, shown: Sample) -> None:
    for path, value in shown.files.items():
        text = value if isinstance(value, str) else json.dumps(value)
        world.write(
            (world.project if shown.scope == "project" else world.home) / path,
            text,
            0o755 if text.startswith("#!") else 0o644,
        )


@each_of("agent", [name for name, _, _ in AGENTS])
def test_every_agent_has_one(agent: str) -> None:
    shown = sample(agent)
    assert bool(shown.event and shown.files and shown.tool) == (agent in DIALECTS)
    assert bool(shown.calls and shown.payload) == (agent in HOSTS)


@pytest.mark.parametrize("agent", DIALECTS)
def test_the_hook_blocks(world: World, agent: str) -> None:
    shown = sample(agent)
    row = dialect(agent).row(shown.event)
    assert row is not None
    assert row.canonical == ("pre_tool",)
    laid_out(world, shown)
    assert [problem.sentence() for problem in world.engine(dialects=[agent]).catalog.problems] == []
    words = (shown.event, "--tool", shown.tool, "--dialect", agent, "--trust", "all")
    decision = world.fire(*words, "--input", json.dumps(shown.input))
    assert decision["verdict"] == "block"
    assert str(decision["reason"]).startswith(REASON)  # a dialect may add who gave the reason
    assert world.fire(*words, "--input", '{"command": "ls"}')["verdict"] == "none"


@pytest.mark.parametrize("agent", DIALECTS)
def test_its_lines_refuse_by_themselves(world: World, agent: str) -> None:
    shown = sample(agent)
    world.hook(agent, shown.event, shown.script)
    decision = world.fire(shown.event, "--tool", shown.tool, "--input", "{}")
    assert (decision["verdict"], decision["reason"]) == ("block", REASON)


@pytest.mark.parametrize("agent", HOSTS)
def test_the_agent_is_told(world: World, agent: str) -> None:
    shown = sample(agent)
    row = host(agent).row(shown.calls)
    assert row is not None
    assert row.canonical == ("pre_tool",)
    guard = "kodik" if agent != "kodik" else "agenthooks"  # an agent runs its own hooks itself
    world.hook(guard, sample(guard).event, sample(guard).script)
    done = world.command("bridge", agent, shown.calls, stdin=json.dumps(dict(shown.payload)))
    told = json.loads(done.stdout) if done.stdout else {}
    assert (told, done.stderr.strip(), done.returncode) == (dict(shown.stdout), shown.stderr, shown.status)
