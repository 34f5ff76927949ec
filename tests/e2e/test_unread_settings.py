"""Settings that cannot be read count as the strictest, and the person is told."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from anyhook.engine.bridge_failure import failed
from anyhook.tables.registry import host

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import World

CALL = ("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')


def _folder(path: Path) -> None:
    path.mkdir()


def _nowhere(path: Path) -> None:
    path.symlink_to("nothing")


BROKEN: dict[str, Callable[[Path], object]] = {
    "not TOML": lambda path: path.write_text('off = "pass"\non_failure = "allow"\nx = [\n'),
    "not text": lambda path: path.write_bytes(b'off = "pass"\n# \xff\xfe\n'),
    "a pipe": os.mkfifo,
    "a folder": _folder,
    "a link to nothing": _nowhere,
}


def spoil(world: World, how: str) -> Path:
    path = world.home / "config" / "anyhook" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    BROKEN[how](path)
    return path


def ask(world: World, agent: str, event: str, session: str = "s") -> str:
    payload = {
        "session_id": session, "cwd": str(world.project), "source": "startup", "hook_event_name": event,
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
    }  # fmt: skip
    return world.command("bridge", agent, event, stdin=json.dumps(payload)).stdout


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_hook_and_a_hook_that_waits_refuse(world: World, how: str) -> None:
    world.hook("claude", "PreToolUse", "exit 1")
    spoil(world, how)
    assert world.fire(*CALL)["verdict"] == "block"
    assert '"deny"' in ask(world, "codex", "PreToolUse")


@pytest.mark.parametrize("how", BROKEN)
def test_a_hook_that_waits_refuses(world: World, how: str) -> None:
    world.hook("kodik", "PreToolUse", "exit 0", scope="project")
    spoil(world, how)
    assert world.fire(*CALL)["verdict"] == "block"


@pytest.mark.parametrize("how", BROKEN)
def test_the_person_is_told(world: World, how: str) -> None:
    """And hooks that work go on to decide: the settings' file alone refuses nothing."""
    world.hook("claude", "PreToolUse", "exit 0")
    path = spoil(world, how)
    assert world.fire(*CALL)["verdict"] == "none"
    for event in ("SessionStart", "PreToolUse"):
        told = json.loads(ask(world, "codex", event, session=event))["systemMessage"]
        assert "OFF" in told
        assert "config.toml" in told
    assert ask(world, "codex", "PreToolUse", session="PreToolUse") == "", "once"
    shown = world.command("status")
    assert shown.returncode == 1
    assert "NOT PROTECTED" in shown.stdout
    said = json.loads(world.command("status", "--json").stdout)
    assert said["protected"] is False
    assert (str(path), "unreadable") in [(gate["id"], gate["state"]) for gate in said["gates"]]


def test_no_settings_are_no_slip(world: World) -> None:
    world.hook("claude", "PreToolUse", "exit 1")
    assert world.fire(*CALL)["verdict"] == "none"
    assert ask(world, "codex", "PreToolUse") == ""


@pytest.mark.parametrize("how", BROKEN)
def test_our_own_failure_refuses(world: World, how: str) -> None:
    table = host("codex")
    row = next(row for row in table.events if row.native == "PreToolUse")
    assert '"deny"' not in failed(table, row, ValueError("x"), world.env).stdout
    spoil(world, how)
    assert '"deny"' in failed(table, row, ValueError("x"), world.env).stdout


@pytest.mark.parametrize("setting", ["off", "on_failure"])
@pytest.mark.parametrize("whose", ["user", "managed"])
def test_our_own_failure_refuses_if_settings_say_so(world: World, whose: str, setting: str) -> None:
    """All guards are off then. What only the organisation says counts too."""
    table = host("codex")
    row = next(row for row in table.events if row.native == "PreToolUse")
    world.env["ANYHOOK_MANAGED_DIR"] = str(world.root / "managed")
    place = world.home / "config/anyhook" if whose == "user" else world.root / "managed"
    world.write(place / "config.toml", f'{setting} = "deny"\n')
    assert '"deny"' in failed(table, row, ValueError("x"), world.env).stdout
    world.write(place / "config.toml", "")
    assert '"deny"' not in failed(table, row, ValueError("x"), world.env).stdout
