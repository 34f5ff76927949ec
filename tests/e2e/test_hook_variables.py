"""`env` of a rule or of a hook's settings: the command gets those variables, and what its dialect adds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import World

PRINTS = "env | grep -E '^(TOKEN|SPECIAL)=' | sort | tr '\\\\n' ' '"
EVENT = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json")


@pytest.fixture(autouse=True)
def _variables(world: World) -> None:
    world.env.update(TOKEN="t", SPECIAL="s")


def rule(world: World, more: str = "") -> None:
    text = f'[[rule]]\nname = "vars"\nwhen = "runs ls"\nthen = "context"\nrun = "{PRINTS}"\n{more}'
    world.write(world.home / "config/anyhook/hooks.toml", text)


def settings(world: World, text: str) -> None:
    world.write(world.home / "config/anyhook/config.toml", f'[hooks."anyhook:user:pre_tool:vars"]\n{text}\n')


def seen(world: World) -> list[str]:
    found: list[str] = json.loads(world.command(*EVENT).stdout)["context"]
    return found


def test_a_rule_lists_its_variables(world: World) -> None:
    rule(world)
    assert seen(world) == ["SPECIAL=s TOKEN=t"]
    rule(world, 'env = ["PATH", "SPECIAL"]\n')
    assert seen(world) == ["SPECIAL=s"]


def test_the_users_settings_list_them_for_any_hook(world: World) -> None:
    rule(world, 'env = ["PATH", "SPECIAL", "TOKEN"]\n')
    settings(world, 'env = ["PATH", "TOKEN"]')
    assert seen(world) == ["TOKEN=t"]
    explained = json.loads(world.command("explain", *EVENT[1:]).stdout)["hooks"][0]["env"]
    assert "TOKEN" in explained
    assert "SPECIAL" not in explained


def test_a_slip_leaves_the_guard_its_variables_and_is_said(world: World) -> None:
    rule(world)
    settings(world, 'env = "PATH"')
    assert seen(world) == ["SPECIAL=s TOKEN=t"]
    assert "must be a list of names of variables" in world.command("check").stdout
    settings(world, "")
    rule(world, 'env = "PATH"\n')
    assert world.command("check").returncode == 1


def test_an_approval_shows_them(world: World) -> None:
    text = f'[[rule]]\nname = "vars"\nwhen = "runs ls"\nrun = "{PRINTS}"\nenv = ["PATH", "SPECIAL"]\n'
    world.write(world.project / ".anyhook/hooks.toml", text)
    assert "env      PATH SPECIAL" in world.command("trust").stdout
    assert world.command("trust", "--yes").returncode == 0
    world.write(world.project / ".anyhook/hooks.toml", text.replace('"SPECIAL"', '"SPECIAL", "TOKEN"'))
    assert "SPECIAL TOKEN" in world.command("trust").stdout


SECRETS = {
    "SERVICE_TOKEN": "t0psecret-9x2k", "DATABASE_URL": "postgres://app:hunter2xyz@db/shop",
    "DEPLOY": "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "STORAGE_SECRET_KEY": "/Kf8/q2LmZ0xW9aTnC4vB7yR1sUe3",
}  # fmt: skip
"""Secrets by their name, and by their value alone."""
PLAIN = {"SPECIAL": "s", "MODE": "test", "SSH_ASKPASS": "/bin/sh", "OLDPWD": "/srv"}
HOOKS = {
    ".anyhook/hooks.toml": '[[rule]]\nname = "vars"\nwhen = "runs ls"\nthen = "context"\nrun = "env"\n',
    ".claude/settings.json": json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "env >&2; exit 2"}]}]}}
    ),
    ".kodik/hooks/hooks.json": json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "env >&2; exit 2"}]}]}}
    ),
}


@pytest.mark.parametrize("trust", ["all", "native", "ask"])
@pytest.mark.parametrize("place", HOOKS)
def test_a_projects_hook_without_an_approval_gets_no_secrets(world: World, place: str, trust: str) -> None:
    """Kodik's document gives hooks the environment, so theirs get all of it; and so does one that was approved."""
    world.env.update(SECRETS | PLAIN)
    world.write(world.project / place, HOOKS[place])
    if trust == "ask":
        assert world.command("trust", "--yes").returncode == 0
    [hook] = json.loads(world.command(*EVENT, "--trust", trust).stdout)["hooks"]
    if hook["status"] == "untrusted":
        return  # the dialect's own rule
    lines = (hook["stdout"] + hook["stderr"]).splitlines()
    got = {name for name in (*SECRETS, *PLAIN) if any(line.startswith(f"{name}=") for line in lines)}
    withheld = set() if trust == "ask" or ".kodik" in place else {*SECRETS}
    assert got == {*SECRETS, *PLAIN} - withheld


def test_the_settings_give_them_to_a_hook(world: World) -> None:
    world.env.update(SECRETS)
    world.write(world.project / ".anyhook/hooks.toml", HOOKS[".anyhook/hooks.toml"])
    world.write(
        world.home / "config/anyhook/config.toml",
        '[hooks."anyhook:project:pre_tool:vars"]\nenv = ["PATH", "DEPLOY"]\n',
    )
    [hook] = json.loads(world.command(*EVENT, "--trust", "all").stdout)["hooks"]
    assert hook["id"] == "anyhook:project:pre_tool:vars"
    assert "DEPLOY=" in hook["stdout"]
    assert "DATABASE_URL=" not in hook["stdout"]
