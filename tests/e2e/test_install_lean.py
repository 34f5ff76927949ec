"""A lean entry: every gate, and what some hook wants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.install.diagnosis import lean
from anyhook.tables.registry import INSTALLABLE, host

if TYPE_CHECKING:
    from anyhook.tables.host_rows import HostEvent
    from conftest import World


def is_kept(row: HostEvent) -> bool:
    """A gate, or where a person is told which gates are off."""
    return "block" in row.says or "session_start" in row.canonical


def called(world: World) -> set[str]:
    """The events at which Claude Code would call us."""
    settings = json.loads((world.home / ".claude/settings.json").read_text())
    return {name for name, groups in settings["hooks"].items() if "bridge claude" in json.dumps(groups)}


def diagnosed(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.command("doctor", "claude", "--json").stdout)["claude"]
    return found


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_no_gate_is_ever_left_out(agent: str) -> None:
    table = host(agent)
    gates = {row.native for row in table.events if row.installed and is_kept(row)}
    assert {row.native for row in lean(table, ()).events if row.installed} == gates
    everything = {event for row in table.events for event in row.canonical}
    named = {row.native for row in table.events if row.installed and (row.canonical or row.native in gates)}
    assert {row.native for row in lean(table, everything).events if row.installed} == named


def test_what_a_hook_wants_is_installed_and_doctor_says_when_it_is_not(world: World) -> None:
    program = world.write(world.root / "bin" / "claude", "#!/bin/sh\necho 1\n", 0o755)
    world.env["PATH"] = f"{program.parent}:{world.env['PATH']}"
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "claude").returncode == 0
    full = called(world)
    assert world.command("install", "claude", "--lean").returncode == 0
    left = full - called(world)
    assert "PreToolUse" in called(world)
    assert "SessionEnd" in left, "nobody wants it, and it refuses nothing"
    assert "which no hook here wants" in diagnosed(world)["reason"]

    world.hook("codex", "SessionEnd", "exit 0")
    found = diagnosed(world)
    assert found["status"] == "UNKNOWN"
    assert "the entry leaves out" in found["reason"]
    assert "install it again" in found["reason"]

    assert world.command("install", "claude", "--lean").returncode == 0
    assert "SessionEnd" in called(world)
    assert "which no hook here wants" in diagnosed(world)["reason"]
    assert world.command("install", "claude").returncode == 0
    assert called(world) == full


def test_an_agent_with_a_script_per_event(world: World) -> None:
    assert world.command("install", "cline").returncode == 0
    scripts = {path.name for path in world.home.rglob("PreToolUse")} and {
        path.name for path in next(world.home.rglob("PreToolUse")).parent.iterdir()
    }
    assert world.command("install", "cline", "--lean").returncode == 0
    left = {path.name for path in next(world.home.rglob("PreToolUse")).parent.iterdir()}
    gates = {row.native for row in host("cline").events if row.installed and is_kept(row)}
    assert left == gates
    assert left <= scripts
    assert world.command("uninstall", "cline").returncode == 0
    assert not list(world.home.rglob("PreToolUse"))


RULE = '[[rule]]\nname = "no-tasks"\nwhen = "event task_created and matches /secret/"\nbecause = "not here"\n'


def test_an_event_that_few_versions_know_is_hooked_up_where_a_hook_wants_it(world: World) -> None:
    """Claude Code has it since 2.1; what Claude runs itself asks for no entry of ours."""
    world.declare(
        world.home / ".claude/settings.json", "Elicitation", {"hooks": [{"type": "command", "command": "true"}]}
    )
    assert world.command("install", "claude").returncode == 0
    assert {"TaskCreated", "Elicitation"}.isdisjoint(called(world))

    world.write(world.home / "config" / "anyhook" / "hooks.toml", RULE)
    assert "there is no entry for TaskCreated" in diagnosed(world)["reason"]
    status = json.loads(world.command("status", "claude", "--json").stdout)
    assert (status["protected"], status["agents"]["claude"]["state"]) == (False, "off")

    assert world.command("install", "claude").returncode == 0
    assert called(world) & {"TaskCreated", "Elicitation"} == {"TaskCreated"}
    status = json.loads(world.command("status", "claude", "--json").stdout)
    assert (status["protected"], status["agents"]["claude"]["state"]) == (True, "on")
    payload = {"session_id": "s", "task_id": "1", "task_subject": "print the secret"}
    done = world.command("bridge", "claude", "TaskCreated", stdin=json.dumps(payload))
    assert (done.returncode, done.stdout, "not here" in done.stderr) == (2, "", True)

    (world.home / "config" / "anyhook" / "hooks.toml").unlink()
    assert world.command("install", "claude").returncode == 0
    assert "TaskCreated" in called(world), "the hook may be another project's"
