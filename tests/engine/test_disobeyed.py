"""A call that was refused and ran anyway: a problem in its record, and told, in every agent that tells us of calls that
ran. The same call that is let through later is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook.tables.registry import HOSTS, host
from satellite import satellite

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent
    from conftest import World


def rows_of(agent: str) -> tuple[Host, HostEvent, HostEvent] | None:
    table = host(agent)
    before = next((row for row in table.events if "pre_tool" in row.canonical and "block" in row.says), None)
    after = next((row for row in table.events if row.canonical[:1] == ("post_tool",)), None)
    named = any(taken.field == "session" for row in (before, after) if row for taken in (*table.base, *row.takes))
    return (table, before, after) if before is not None and after is not None and named else None


AGENTS = [agent for agent in HOSTS if rows_of(agent) is not None]
IN_PROJECT = "/tmp"


class Session:
    """One agent's calls to us."""

    def __init__(self, world: World, agent: str) -> None:
        self.world = world
        found = rows_of(agent)
        assert found is not None
        self.table, self.before, self.after = found
        self.shell = next(name for name, tool in self.table.tools.items() if tool.ours == "shell" and not tool.split)
        world.hook("kodelet", "before_tool_call", "! grep -q forbidden || { echo '{\"blocked\": true}'; exit 0; }")

    def send(self, row: HostEvent, command: str, call: str, **more: Json) -> None:
        field = self.table.tools[self.shell].inputs.get("command", "command")
        data: dict[str, Json] = {
            "tool": self.shell, "input": {field: command}, "session": "s", "call_id": call, **more,
        }  # fmt: skip
        engine = self.world.engine()
        engine.bridge(
            self.table.name,
            row.native,
            satellite("testing.kit.events").payload_of_agent(self.table, row, data, IN_PROJECT),
        )
        engine.close_sync()

    def last(self) -> tuple[str, list[str]]:
        line = self.world.journal()[-1]
        return line["decision"]["verdict"], [each["code"] for each in line["decision"].get("problems", ())]

    @property
    def has_ids(self) -> bool:
        return all(any(each.field == "call_id" for each in row.takes) for row in (self.before, self.after))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_refused_call_that_ran_is_said(world: World, agent: str) -> None:
    session = Session(world, agent)
    session.send(session.before, "forbidden", "1")
    assert session.last()[0] == "block"
    session.send(session.after, "fine", "2", output="done")
    assert "disobeyed" not in session.last()[1]
    session.send(session.after, "forbidden", "1", output="done")
    assert "disobeyed" in session.last()[1]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_call_that_was_let_through_is_none(world: World, agent: str) -> None:
    session = Session(world, agent)
    session.send(session.before, "forbidden", "1")
    (world.home / ".kodelet/hooks/it").unlink()
    session.send(session.before, "forbidden", "2")
    assert session.last()[0] == "none"
    session.send(session.after, "forbidden", "2", output="done")
    assert "disobeyed" not in session.last()[1]
    if session.has_ids:
        session.send(session.after, "forbidden", "1", output="done")
        assert "disobeyed" in session.last()[1], "the first call was not let through"


CALL: dict[str, Json] = {
    "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "forbidden"}, "tool_use_id": "t1",
}  # fmt: skip
RULE = '[[rule]]\nname = "no"\nwhen = "runs forbidden"\nthen = "deny"\nbecause = "A long enough reason."\n'


def bridge(world: World, event: str, **more: Json) -> str:
    return world.command("bridge", "claude", event, stdin=json.dumps({**CALL, **more})).stdout


def test_it_is_told_and_in_the_log_though_nothing_is_hooked_after_a_call(world: World) -> None:
    """Only a rule before calls: an event after a call reaches no hook, and is answered on the short way."""
    world.write(world.home / "config/anyhook/hooks.toml", RULE)
    for _ in range(2):  # the second reads a plan
        assert bridge(world, "PostToolUse", tool_use_id="t0", tool_response="x") == ""
    assert '"deny"' in bridge(world, "PreToolUse")
    assert bridge(world, "PostToolUse", tool_use_id="t0", tool_response="x") == ""
    assert (
        "ran a call of `Bash` that was refused"
        in json.loads(bridge(world, "PostToolUse", tool_response="x"))["systemMessage"]
    )
    assert [each["code"] for each in world.journal()[-1]["decision"]["problems"]] == ["disobeyed"]
    assert bridge(world, "PostToolUse", session_id="other", tool_response="x") == "", "another session"


def test_a_refusal_that_comes_back_as_output_is_none(world: World) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", RULE)
    said = json.loads(bridge(world, "PreToolUse"))["hookSpecificOutput"]["permissionDecisionReason"]
    assert bridge(world, "PostToolUse", tool_response=f"Error: {said}") == ""


@pytest.mark.parametrize("error", ["Exit code 1", "", "no such file"])
def test_a_refused_call_that_failed_ran_as_well(world: World, error: str) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", RULE)
    for _ in range(2):
        assert bridge(world, "PostToolUseFailure", tool_use_id="t0", error="x") == ""
    assert '"deny"' in bridge(world, "PreToolUse")
    assert bridge(world, "PostToolUseFailure", tool_use_id="t0", error=error) == ""
    assert "ran a call of `Bash` that was refused" in bridge(world, "PostToolUseFailure", error=error)
    assert [each["code"] for each in world.journal()[-1]["decision"]["problems"]] == ["disobeyed"]
    told = world.command("log").stdout.splitlines()
    breach = [line for line in told if "disobeyed" in line]
    assert len(breach) == 1
    assert "· none" not in breach[0]
    assert "that was refused" in breach[0]


def test_a_refusal_that_comes_back_as_a_failure_is_none(world: World) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", RULE)
    said = json.loads(bridge(world, "PreToolUse"))["hookSpecificOutput"]["permissionDecisionReason"]
    assert bridge(world, "PostToolUseFailure", error=f"PreToolUse:Bash hook error: {said}") == ""


def failure_row(agent: str) -> HostEvent | None:
    return next((row for row in host(agent).events if row.canonical[:1] == ("post_tool_failure",)), None)


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if failure_row(agent) is not None])
def test_in_every_agent_that_tells_of_failed_calls(world: World, agent: str) -> None:
    session, row = Session(world, agent), failure_row(agent)
    assert row is not None
    session.send(session.before, "forbidden", "1")
    session.send(row, "fine", "2", tool_error="failed")
    assert "disobeyed" not in session.last()[1]
    session.send(row, "forbidden", "1", tool_error="failed")
    assert "disobeyed" in session.last()[1]


def test_what_was_only_asked_or_shadowed_was_not_refused(world: World) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", RULE.replace('"deny"', '"ask"'))
    assert '"ask"' in bridge(world, "PreToolUse")
    assert bridge(world, "PostToolUse", tool_response="x") == ""
    world.write(world.home / "config/anyhook/hooks.toml", RULE)
    world.config('mode = "shadow"\n')
    assert bridge(world, "PreToolUse", tool_use_id="t2") == ""
    assert bridge(world, "PostToolUse", tool_use_id="t2", tool_response="x") == ""


def test_nothing_of_the_call_is_kept_in_clear(world: World) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", RULE)
    bridge(world, "PreToolUse")
    kept = [path.read_text() for path in (world.state / "refused").iterdir()]
    assert any(kept)
    assert not any("forbidden" in text or "reason" in text for text in kept)
