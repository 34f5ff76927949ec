"""`anyhook explain --agent`: what a hook sees in an agent, and which of its answers the agent honours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.cli.verb_explain import agent_lines as lines
from anyhook.cli.verb_explain import in_agent
from anyhook.model.event import Event
from anyhook.tables.registry import HOSTS, host

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

CALL = ("--tool", "Bash", "--input", '{"command": "ls"}')


def explained(world: World, *words: str) -> dict[str, Any]:
    done = world.command("explain", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def guarded(world: World) -> None:
    group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    world.declare(world.home / ".claude" / "settings.json", "PreToolUse", group)


def test_a_hook_for_one_agents_tool_sees_the_same_tool_in_another(world: World) -> None:
    guarded(world)
    found = explained(world, "PreToolUse", "--agent", "antigravity", *CALL)
    agent = found["agent"]
    assert (agent["event"], agent["tool"], agent["input"]) == ("PreToolUse", "run_command", {"CommandLine": "ls"})
    assert agent["honours"] == {
        "block": "works", "end_turn": "block", "ask": "works", "allow": "lost", "input": "works", "context": "lost",
        "message": "lost",
    }  # fmt: skip
    (hook,) = found["hooks"]
    seen = json.loads(hook["stdin"])
    assert hook["would_run"]
    assert (seen["tool_name"], seen["tool_input"]) == ("Bash", {"command": "ls"})


@pytest.mark.parametrize(
    ("agent", "would_run"), [("claude", False), ("cursor", True), ("grok", True), ("devin", True), ("codex", True)]
)
def test_what_the_agent_runs_itself_is_left_to_it(world: World, agent: str, would_run: bool) -> None:
    guarded(world)
    (hook,) = explained(world, "pre_tool", "--agent", agent, *CALL)["hooks"]
    assert hook["would_run"] is would_run
    assert ("runs it itself" in (hook["why"] or "")) is not would_run


def test_an_event_that_an_agent_does_not_have(world: World) -> None:
    guarded(world)
    done = world.command("explain", "PermissionRequest", "--agent", "cursor", *CALL)
    assert done.stdout == "Cursor has no event for permission_request, so no hook is asked there.\n"


def test_any_other_word_is_a_sub_agents_type(world: World) -> None:
    world.hook("kodik", "SubagentStart", "exit 0")
    (hook,) = explained(world, "SubagentStart", "--agent", "reviewer")["hooks"]
    assert "reviewer" in hook["stdin"]


def test_it_knows_every_agent(world: World) -> None:
    words = world.command("explain", "pre_tool", "--agent", HOSTS[0], *CALL).stdout
    assert words.startswith(f"{host(HOSTS[0]).title} calls this ")
    for agent in HOSTS:
        table = host(agent)
        native = next(row.native for row in table.events if row.canonical[:1] == ("pre_tool",))
        seen = in_agent(agent, Event.pre_tool("Bash", {"command": "ls"}), str(world.home), str(world.project), {})
        assert seen.row is not None
        assert seen.row.native == native
        assert seen.event.ours in ("shell", "") or seen.event.data["tool"] == "Bash"
        assert any(line.startswith("   honours block") for line in lines(seen)), agent
