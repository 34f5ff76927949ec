"""A tool name that the entry's table does not know. A gate that names tools cannot tell whether the call is meant: that
is said, and under `deny` it closes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anyhook.tables.registry import HOSTS, host
from satellite import satellite

if TYPE_CHECKING:
    from anyhook import Engine
    from anyhook.model.json_types import Json
    from conftest import World

SHELLS = sorted({name for agent in HOSTS for name, tool in host(agent).tools.items() if tool.ours == "shell"})
RUNS: dict[str, Json] = {"tool_input": {"command": "rm x"}}
CALL: dict[str, Json] = {"tool_use_id": "t", "tool_name": "run_in_terminal", **RUNS}
DOCUMENTED: dict[str, Json] = {
    "timestamp": "2026-06-01T00:00:00Z", "sessionId": "s", "hookEventName": "PreToolUse", "transcript_path": "/tmp/t",
    **CALL,
}  # fmt: skip
"""What VS Code sends before a tool call, as its documents show it."""


def gate(world: World) -> None:
    group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
    world.declare(world.home / "Documents/Kodik/Hooks/hooks.json", "PreToolUse", group)


def ask(engine: Engine, agent: str, tool: str, given: dict[str, Json]) -> None:
    row = next(row for row in host(agent).events if "pre_tool" in row.canonical)
    engine.bridge(
        agent,
        row.native,
        satellite("testing.kit.events").payload_of_agent(host(agent), row, {"tool": tool, "input": given}, "/tmp"),
    )


@pytest.mark.parametrize("agent", [name for name in HOSTS if name != "kodik"])
def test_another_agents_name_for_a_shell_never_passes_in_silence(world: World, agent: str) -> None:
    gate(world)
    for posture in ("native", "deny"):
        engine = world.engine(on_failure=posture)
        for name in SHELLS:
            ask(engine, agent, name, {"command": "rm x"})
        engine.close_sync()
    asked = [(line["data"]["tool"], line["decision"]) for line in world.journal()]
    assert len(asked) >= 2 * len(SHELLS)
    for number, (name, decision) in enumerate(asked):
        if host(agent).tools.get(name) is not None and host(agent).tools[name].ours != "shell":
            continue  # in this agent it is something else
        said = [problem["code"] for problem in decision.get("problems", ())]
        assert decision["verdict"] == "block" or (number < len(SHELLS) and "bridge-failed" in said), (name, decision)


SHAPES: dict[str, dict[str, Json]] = {
    "documented": DOCUMENTED,
    "in between": {key: value for key, value in DOCUMENTED.items() if key not in ("sessionId", "hookEventName")}
    | {"hook_event_name": "PreToolUse", "session_id": "s"},
    "without a session": {"hook_event_name": "PreToolUse", **CALL},
    "without a time": {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/tmp/t", **CALL},
}


@pytest.mark.parametrize("posture", ["native", "deny"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_of_vs_code_through_copilots_entry(world: World, shape: str, posture: str) -> None:
    """Its documents and its source differ, and a payload may change: the name of the tool is enough. Claude never runs
    this entry, so a payload that looks like Claude's is not taken for it."""
    gate(world)
    given = json.dumps({**SHAPES[shape], "cwd": str(world.project)})
    done = world.command("bridge", "copilot", "preToolUse", "--on-failure", posture, stdin=given)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    (line,) = world.journal()
    assert (line["host"], line["decision"]["reason"]) == ("vscode", "no")


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("TodoWrite", {"todos": ["rm x"]}),
        ("WebFetch", {"url": "https://example.com", "prompt": "read"}),
        ("mcp__files__write", {"path": "a", "content": "b"}),
        ("Peek", {"file_path": "a"}),
    ],
)
def test_what_runs_and_changes_nothing_is_no_doubt(world: World, tool: str, given: dict[str, Json]) -> None:
    gate(world)
    engine = world.engine(on_failure="deny")
    ask(engine, "codex", tool, given)
    engine.close_sync()
    (line,) = world.journal()
    assert (line["decision"]["verdict"], line["decision"].get("problems", [])) == ("none", [])


@pytest.mark.parametrize("given", [{"steps": [{"command": "rm x"}]}, {"request": {"command": ["rm", "x"]}}])
def test_a_command_inside_other_fields_is_a_doubt(world: World, given: dict[str, Json]) -> None:
    gate(world)
    engine = world.engine(on_failure="deny")
    ask(engine, "codex", "frobnicate", given)
    engine.close_sync()
    (line,) = world.journal()
    assert line["decision"]["verdict"] == "block"


def test_a_call_that_looks_like_claudes_is_a_doubt_in_an_entry_that_claude_does_not_run(world: World) -> None:
    gate(world)
    payload = {"hook_event_name": "PreToolUse", "transcript_path": "/tmp/t", "tool_name": "frob", **RUNS}
    given = json.dumps({**payload, "cwd": str(world.project)})
    done = world.command("bridge", "copilot", "preToolUse", "--on-failure", "deny", stdin=given)
    assert "`frob` is not known in Copilot CLI" in json.loads(done.stdout)["permissionDecisionReason"]


def test_it_is_said_once_a_session(world: World) -> None:
    gate(world)
    call = json.dumps({"sessionId": "s", "toolName": "frobnicate", "toolArgs": {"command": "rm x"}, "cwd": "/tmp"})
    said = [world.command("bridge", "copilot", "preToolUse", stdin=call).stderr for _ in range(2)]
    assert "`frobnicate` is not known in Copilot CLI" in said[0]
    assert said[1] == ""
    assert all("bridge-failed" in json.dumps(line["decision"]) for line in world.journal())


def test_a_rule_sees_the_input_of_any_tool(world: World) -> None:
    rules = '[[rule]]\nname = "no rm"\nwhen = "runs rm"\nthen = "deny"\nbecause = "no"\n'
    world.write(world.home / "config/anyhook/hooks.toml", rules)
    call = json.dumps({"sessionId": "s", "toolName": "frobnicate", "toolArgs": {"command": "rm x"}, "cwd": "/tmp"})
    assert "deny" in world.command("bridge", "copilot", "preToolUse", stdin=call).stdout
