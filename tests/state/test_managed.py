"""The organisation's tier: written by root, first in order, and only root can turn it off."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conftest import World

RULE = '[[rule]]\nname = "no echo"\nwhen = "runs echo"\nthen = "deny"\nbecause = "The organisation says so."\n'
ID = "anyhook:managed:pre_tool:no-echo"
FIRE = ("pre_tool", "--tool", "Bash", "--input", '{"command": "echo hi"}')

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can write files of root's")


@pytest.fixture
def managed(world: World) -> Path:
    if os.path.isdir("/etc/anyhook"):
        pytest.skip("this machine has a tier of its own")
    folder = world.root / "managed"
    world.write(folder / "hooks.toml", RULE)
    world.env["ANYHOOK_MANAGED_DIR"] = str(folder)
    return folder


def verdict(world: World, *words: str) -> str:
    return str(world.fire(*FIRE, *words)["verdict"])


def test_a_rule_of_the_organisation_needs_no_approval_and_comes_first(world: World, managed: Path) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    listed = json.loads(world.command("list", "--json").stdout)["hooks"]
    assert [(hook["scope"], hook["status"]) for hook in listed] == [("managed", "armed"), ("user", "armed")]
    assert listed[0]["id"] == ID
    assert verdict(world) == "block"


@pytest.mark.parametrize(
    "config",
    ['mode = "shadow"', f'[hooks."{ID}"]\nmode = "shadow"', f'[hooks."{ID}"]\noff = "pass"\non_failure = "allow"'],
)
def test_no_setting_of_the_user_turns_it_off(world: World, managed: Path, config: str) -> None:
    world.config(config)
    assert verdict(world) == "block"
    assert verdict(world, "--mode", "shadow") == "block"
    decision = world.fire(*FIRE, "--mode", "shadow")
    assert decision["enforced"] is True


@pytest.mark.parametrize("verb", ["disable", "shadow"])
def test_no_verb_of_the_user_turns_it_off(world: World, managed: Path, verb: str) -> None:
    ended = world.command(verb, ID)
    assert ended.returncode == 3
    assert "only root" in ended.stderr.lower()
    assert verdict(world) == "block"


@pytest.mark.parametrize("sabotage", ["owner", "writable", "folder"])
def test_what_others_could_have_written_is_reported_and_ignored(world: World, managed: Path, sabotage: str) -> None:
    path = managed / "hooks.toml"
    if sabotage == "owner":
        os.chown(path, 12345, -1)
    elif sabotage == "writable":
        path.chmod(0o666)
    else:
        managed.chmod(0o777)
    decision = world.fire(*FIRE)
    assert decision["verdict"] == "none"
    assert [problem["code"] for problem in decision["problems"]] == ["managed-not-root"]
    assert world.command("status").returncode == 1


def test_settings_of_the_organisation_win(world: World, managed: Path) -> None:
    world.config('on_failure = "allow"\nprotect = false')
    world.hook("kodik", "PreToolUse", "exit 7")
    world.write(managed / "config.toml", 'on_failure = "deny"\n')
    words = ("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    assert world.fire(*words)["verdict"] == "block"
    world.write(managed / "config.toml", "")
    assert world.fire(*words)["verdict"] == "none"


def test_gates_that_the_organisation_requires_decide_the_job(world: World, managed: Path) -> None:
    wanted = "kodik:project:PreToolUse:exit"
    world.write(managed / "config.toml", f'require = ["{wanted}"]\n')
    assert world.command("ci").returncode == 1
    world.hook("kodik", "PreToolUse", "exit 2", scope="project")
    assert world.command("trust", "--yes").returncode == 0
    assert world.command("ci").returncode == 0
