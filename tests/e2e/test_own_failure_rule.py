"""A declaration that makes its own failures block: whatever fails, in every host, and whatever value the key has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.tables.registry import DIALECTS, dialect

if TYPE_CHECKING:
    from anyhook.tables.rows import Dialect
    from conftest import World

STRICT: dict[str, Dialect] = {name: dialect(name) for name in DIALECTS if dialect(name).failing.strict}
FAILURES = {
    "exit": "exit 7",
    "signal": "kill -9 $$",
    "limit": "exec sleep 20",
    "no program": "/nowhere/guard",
    "rubbish": "echo '{\"decision\": '",
}
CALL: dict[str, Any] = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}


def gate(name: str) -> str:
    return next(row.native for row in STRICT[name].events if "pre_tool" in row.canonical)


def verdict(world: World, *words: str) -> str:
    call = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json", *words)
    return str(json.loads(world.command(*call).stdout)["verdict"])


def test_claude_has_one() -> None:
    assert STRICT["claude"].failing.strict == ("onFailure", "continue", "block")


@pytest.mark.parametrize("name", STRICT)
@pytest.mark.parametrize("how", FAILURES)
def test_a_failure_blocks_in_every_dialect_that_has_the_key(world: World, name: str, how: str) -> None:
    key, _, blocks = STRICT[name].failing.strict or ("", None, None)
    more: dict[str, Any] = {key: blocks, "timeout": 1}
    world.hook(name, gate(name), FAILURES[how], **more)
    assert verdict(world) == "block"
    assert verdict(world, "--on-failure", "allow") == "none", "the caller's own word comes first"


@pytest.mark.parametrize("value", ["block", "blok", True, ["block"], "continue"])
def test_a_value_that_nobody_knows_is_said_and_read_strictly(world: World, value: Any) -> None:
    world.hook("claude", "PreToolUse", "exit 1", onFailure=value)
    assert verdict(world) == ("none" if value == "continue" else "block")
    done = world.command("check", "--format", "json")
    found = [each["what"] for each in json.loads(done.stdout)["problems"] if each["code"] == "wrong-value"]
    known = value in ("block", "continue")
    assert (done.returncode, len(found)) == ((0, 0) if known else (1, 1))
    assert known or ("onFailure" in found[0] and "block" in found[0])


@pytest.mark.parametrize("agent", ["codex", "gemini", "goose", "qwen", "copilot"])
def test_it_holds_in_every_host(world: World, agent: str) -> None:
    world.hook("claude", "PreToolUse", "exec sleep 20", onFailure="block", timeout=1)
    event, call = "PreToolUse", CALL
    if agent == "gemini":
        event, call = "BeforeTool", {**CALL, "tool_name": "run_shell_command"}
    if agent == "copilot":
        event, call = "preToolUse", {"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "ls"}}
    done = world.command("bridge", agent, event, stdin=json.dumps(call))
    assert "did not end within its limit" in done.stdout + done.stderr
    assert world.journal()[-1]["decision"]["verdict"] == "block"


def test_a_setting_of_the_user_for_this_hook_comes_first(world: World) -> None:
    world.hook("claude", "PreToolUse", "exit 1", onFailure="block")
    (hook,) = json.loads(world.command("list", "--json").stdout)["hooks"]
    world.config(f'[hooks."{hook["id"]}"]\non_failure = "allow"\n')
    assert verdict(world) == "none"
    world.config('on_failure = "allow"\n')
    assert verdict(world) == "none", "a person who lets all failures pass has said so"
    world.config('on_failure = "native"\n')
    assert verdict(world) == "block"


def test_a_closed_entry_of_claude_says_so(world: World) -> None:
    assert world.command("install", "claude", "--closed").returncode == 0
    groups = json.loads((world.home / ".claude/settings.json").read_text())["hooks"]["PreToolUse"]
    assert {handler["onFailure"] for group in groups for handler in group["hooks"]} == {"block"}
