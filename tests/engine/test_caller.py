"""Who is really calling: agents that run hook entries from another agent's files get answers in their own format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.engine.receive import caller_of, row_of
from anyhook.tables.registry import HOSTS, host
from each_of import each_of

if TYPE_CHECKING:
    from conftest import World

DATA = Path(__file__).parents[1] / "data"
THROUGH = {"cursor": "claude", "grok": "claude", "devin": "claude", "copilot": "claude", "vscode": "claude"}
VARIABLES = {"devin": {"DEVIN_PROJECT_DIR": "/home/user/project"}}
FOLDERS = {"copilot": "callers", "vscode": "callers"}
FOREIGN = [
    (agent, path)
    for agent in THROUGH
    for path in sorted((DATA / FOLDERS.get(agent, "payloads") / agent).glob("*.json"))
]
OWN = [
    (agent, path) for agent in HOSTS for path in sorted((DATA / "payloads" / agent).glob("*.json")) if host(agent).lent
]


def shows(agent: str, payload: dict[str, Any]) -> bool:
    """The check that the command makes for every payload."""
    return any(key in payload and own not in payload for key, own in host(agent).lent)


def named(part: object) -> str:
    return part.stem if isinstance(part, Path) else str(part)


@each_of(("agent", "path"), FOREIGN, ids=named)
def test_a_foreign_call_is_recognised(agent: str, path: Path) -> None:
    payload = json.loads(path.read_text())
    assert shows(THROUGH[agent], payload)
    assert caller_of(host(THROUGH[agent]), payload, VARIABLES.get(agent, {})) is host(agent)


@each_of(("agent", "path"), OWN, ids=named)
def test_an_own_call_shows_nothing(agent: str, path: Path) -> None:
    assert not shows(agent, json.loads(path.read_text()))


@pytest.mark.parametrize("entry", ["claude", "copilot"])
def test_the_editor_is_told_from_the_command_line(entry: str) -> None:
    payload = json.loads((DATA / "callers" / "vscode" / "PreToolUse.json").read_text())
    assert shows(entry, payload)
    assert caller_of(host(entry), payload, {}) is host("vscode")


def test_variables_are_inherited_and_do_not_count_alone() -> None:
    payload = json.loads((DATA / "payloads" / "claude" / "PreToolUse.Bash.json").read_text())
    inherited = {"DEVIN_PROJECT_DIR": "/p", "CURSOR_VERSION": "1", "GROK_HOOK_EVENT": "pre_tool_use"}
    assert caller_of(host("claude"), payload, inherited) is host("claude")


def test_a_key_that_comes_later_makes_nobody_a_stranger() -> None:
    payload = json.loads((DATA / "payloads" / "claude" / "PreToolUse.Bash.json").read_text())
    assert caller_of(host("cursor"), {**payload, "hookEventName": "x"}, {}) is None
    assert caller_of(host("claude"), {**payload, "conversation_id": "x"}, {}) is None


def test_every_event_of_an_entry_has_one_of_the_callers() -> None:
    """This must hold at least for gates, because people rely on them."""
    for agent, entry in THROUGH.items():
        row = host(entry).row("PreToolUse")
        assert row is not None
        found = row_of(host(agent), row)
        assert found is not None
        assert found.canonical[0] == "pre_tool"


REMOVE: dict[str, Any] = {"tool_input": {"command": "rm -rf x"}}
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "cursor": ("payloads/cursor/preToolUse.json", {"tool_name": "Shell", **REMOVE}, '"permission":"deny"'),
    "grok": ("payloads/grok/PreToolUse.run_terminal_command.json", REMOVE, '"decision":"deny"'),
    "copilot": ("callers/copilot/PreToolUse.Bash.json", REMOVE, '{"permissionDecision":"deny"'),
    "vscode": ("callers/vscode/PreToolUse.json", REMOVE, '"hookSpecificOutput":'),
}


@pytest.mark.parametrize("way", ["command", "library"])
@pytest.mark.parametrize("agent", CALLS)
def test_a_guard_refuses_in_the_callers_words(world: World, agent: str, way: str) -> None:
    """Each agent has its own name for the shell tool."""
    file, given, answer = CALLS[agent]
    payload = {**json.loads((DATA / file).read_text()), **given}
    world.write(
        world.home / "config" / "anyhook" / "hooks.toml",
        '[[rule]]\nname = "no-rm"\nwhen = "runs rm"\nbecause = "not here"\n',
    )
    if way == "command":
        done = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
        stdout, stderr = done.stdout, done.stderr
    else:
        told = world.engine().bridge("claude", "PreToolUse", payload)
        stdout, stderr = told.stdout, told.stderr
    assert answer in stdout.replace(": ", ":"), (stdout, stderr)
    assert "not here" in stdout + stderr
    shown = json.loads(world.command("log", "--json").stdout.splitlines()[-1])
    assert shown["host"] == agent


def test_a_stranger_is_a_doubt(world: World) -> None:
    payload = {"hook_event_name": "PreToolUse", "conversation_id": "c", "tool_name": "sh", "cwd": str(world.project)}
    done = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload))
    assert "an unknown agent" in json.loads(done.stdout)["systemMessage"]
    assert "an unknown agent" in world.command("log", "--json").stdout
    done = world.command("bridge", "claude", "PreToolUse", "--on-failure", "deny", stdin=json.dumps(payload))
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_event_that_the_caller_does_not_have(world: World) -> None:
    payload = json.loads((DATA / "payloads" / "cursor" / "preToolUse.json").read_text())
    done = world.command("bridge", "claude", "PermissionRequest", stdin=json.dumps(payload))
    assert "has no such event" in json.loads(done.stdout)["systemMessage"]
