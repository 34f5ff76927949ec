"""All views of protection agree: `status` for programs and people, `list`, `log`, and the line on the web page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from anyhook.cli.standing import banner_of, standing_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import World

PASS = "exit 0"


def _shadow_of_one(world: World) -> None:
    [gate] = json.loads(world.command("list", "--json").stdout)["hooks"]
    world.hook("kolega", "PreToolUse", PASS)
    assert world.command("shadow", gate["id"]).returncode == 0


def _gone(world: World) -> None:
    world.hook("kode", "tool_call_pre", PASS, scope="project")
    world.approve()
    (world.project / ".kode/config.yaml").unlink()


def _disabled(world: World) -> None:
    world.hook("kolega", "PreToolUse", PASS)
    gates = json.loads(world.command("status", "--json").stdout)["gates"]
    assert world.command("disable", gates[0]["id"]).returncode == 0


def _switched_off_by_the_project(world: World) -> None:
    world.hook("claude", "PreToolUse", PASS, scope="project")
    path = world.project / ".claude/settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))
    assert world.command("trust", "--yes").returncode == 0


def _waiting(world: World) -> None:
    world.hook("kode", "tool_call_pre", PASS, scope="project")


def _waiting_and_closed(world: World) -> None:
    _waiting(world)
    world.config('off = "deny"\n')


def _misspelt(world: World) -> None:
    path = world.home / "Documents/Kodik/Hooks/hooks.json"
    path.write_text(path.read_text().replace('"hooks": [{', '"matcher": "Bsh", "hooks": [{', 1))


STATES: dict[str, tuple[Callable[[World], object], int, str]] = {
    "armed": (lambda world: None, 1, ""),
    "waiting": (_waiting, 1, "waiting"),
    "waiting, and closed": (_waiting_and_closed, 1, "waiting"),
    "gone": (_gone, 1, "changed"),
    "unreadable": (lambda world: world.write(world.project / ".kode/config.yaml", "a: [", 0o644), 1, "unreadable"),
    "broken": (lambda world: world.hook("kolega", "PreToolUse", "x", command="/no/such/program"), 1, "broken"),
    "shadow": (lambda world: world.config('mode = "shadow"\n'), 0, "shadow"),
    "shadow of one": (_shadow_of_one, 1, "shadow"),
    "disabled by its user": (_disabled, 1, ""),
    "disabled by the project": (_switched_off_by_the_project, 1, "disabled"),
    "misspelt": (_misspelt, 1, ""),
}


@pytest.mark.parametrize("name", STATES)
def test_all_views_agree(world: World, name: str) -> None:
    make, on, state = STATES[name]
    world.hook("kodik", "PreToolUse", PASS)
    assert world.command("install", "claude").returncode == 0
    make(world)
    done = world.command("status", "--json")
    told = json.loads(done.stdout)
    held = told["protected"]
    assert (done.returncode, held) == ((0, True) if not state else (1, False))
    assert sum(gate["state"] == "armed" for gate in told["gates"]) == on
    off = [gate for gate in told["gates"] if gate["state"] == state]
    assert len(off) == (1 if state else 0)

    screen = world.command("status").stdout
    assert screen.splitlines()[-1].startswith("PROTECTED: " if held else "NOT PROTECTED: ")
    short = world.command("status", "--short").stdout
    listed = world.command("list")
    log = world.command("log").stderr
    protected, line = standing_of(str(world.project), world.env)()
    banner = banner_of(str(world.project), world.env)()
    assert protected == held
    assert line.startswith("Protected. " if held else "Not protected. ")
    assert f"{on} guard" in short
    assert "no guard is on" not in line
    for view in (short, log, line, banner):
        assert ("OFF" in view) == bool(state), view
    if state:
        assert off[0]["why"].split("; see ")[0] in banner
        assert off[0]["id"] in listed.stdout + listed.stderr
    if name == "misspelt":
        assert "did you mean `Bash`?" in told["gates"][0]["why"]
        assert "did you mean `Bash`?" in listed.stdout
        assert "matcher-misspelt" in world.command("check").stdout


def test_a_guard_at_an_event_that_the_only_agent_never_has(world: World) -> None:
    """The guard is on, but no agent asks it. Every view says so."""
    world.hook("kodik", "PermissionRequest", PASS)
    assert world.command("install", "vibe").returncode == 0
    named = world.command("status", "vibe", "--json")
    [gate] = json.loads(named.stdout)["gates"]
    assert (named.returncode, gate["state"], gate["event"]) == (1, "uncovered", "permission_request")
    [doctor] = json.loads(world.command("doctor", "vibe", "--json").stdout).values()
    assert doctor["never"] == [gate["id"]]
    assert gate["why"] in doctor["guards"]

    screen = world.command("status").stdout
    assert screen.splitlines()[-1].startswith("GUARDS ON: ")
    protected, line = standing_of(str(world.project), world.env)()
    assert not protected
    views = (
        screen,
        world.command("status", "--short").stdout,
        world.command("log").stderr,
        line,
        banner_of(str(world.project), world.env)(),
    )
    for view in views:
        assert "vibe does not ask them" in view, view
        assert gate["why"] in view
    assert f"armed     {gate['id']}" in world.command("list").stdout, "without an agent's eyes it is on"


def test_a_name_of_somebodys_own_tool_is_not_called_misspelt(world: World) -> None:
    for number, matcher in enumerate(("deploy_to_moon", "mcp__bas__Bas", "Bash|Edit", "Bas.*")):
        world.hook("kodik", "PreToolUse", f"exit 0 # {number}")
        path = world.home / "Documents/Kodik/Hooks/hooks.json"
        told = json.loads(path.read_text())
        told["hooks"]["PreToolUse"][-1]["matcher"] = matcher
        path.write_text(json.dumps(told))
    assert [gate["why"] for gate in json.loads(world.command("status", "--json").stdout)["gates"]] == [""] * 4
    assert "misspelt" not in world.command("check").stdout


BELL = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}


@pytest.mark.parametrize("then", ["warn", "context"])
def test_a_rule_that_only_tells_is_not_a_guard(world: World, then: str) -> None:
    rule = f'[[rule]]\nname = "tell"\nwhen = "runs make"\nthen = "{then}"\nbecause = "A long enough reason."\n'
    world.write(world.home / "config/anyhook/hooks.toml", rule)
    assert world.command("install", "claude").returncode == 0
    assert world.command("status").stdout.splitlines()[-1] == "NOT PROTECTED: no guard is on"
    assert world.command("add", "git", "--yes").returncode == 0
    gates = json.loads(world.command("status", "--json").stdout)["gates"]
    verdict = world.command("status").stdout.splitlines()[-1]
    assert verdict == f"PROTECTED: {len(gates) - 1} guards on", "all gates but the one that tells"


def test_a_bell_at_the_end_is_not_a_guard(world: World) -> None:
    """It keeps the agent working at most, and refuses nothing."""
    world.write(world.home / ".claude/settings.json", json.dumps(BELL))
    done = world.command("status", "--short")
    assert (done.returncode, done.stdout) == (1, "anyhook: no guard is on\n")
    told = json.loads(world.command("status", "--json").stdout)
    assert (told["protected"], [gate["state"] for gate in told["gates"]]) == (False, ["armed"])
    assert "guards  no guard is on" in world.command().stdout
    assert standing_of(str(world.project), world.env)()[0] is False
    assert world.command("ci").returncode == 1
    assert world.command("install", "copilot").returncode == 0
    assert json.loads(world.command("status", "copilot", "--json").stdout)["agents"]["copilot"]["state"] == "off"


@pytest.mark.parametrize(("event", "held"), [("UserPromptSubmit", False), ("PermissionRequest", True)])
def test_protection_needs_a_guard_before_an_action(world: World, event: str, held: bool) -> None:
    world.hook("kodik", event, PASS)
    told = json.loads(world.command("status", "--json").stdout)
    assert told["protected"] is held
    assert world.command("status", "--short").stdout.startswith("anyhook: 1 guard on")


def test_every_view_counts_the_same_guards(world: World) -> None:
    world.write(world.home / ".claude/settings.json", json.dumps(BELL))
    planned = world.command("setup", "claude", "--yes").stdout
    [rules] = re.findall(r"\((\d+) rules\)", planned)
    on = f"{rules} guards on"
    assert f"guards  {on}" in world.command().stdout
    assert world.command("status", "--short").stdout == f"anyhook: {on}\n"
    assert world.command("status").stdout.endswith(f"\nPROTECTED: {on}\n")
    assert world.command("status", "claude").stdout.endswith(f"\nPROTECTED: {on}\n")
    assert on in standing_of(str(world.project), world.env)()[1]
    assert world.command("ci").stdout == f"{rules} required gates on\n", "the bell is none of them"
