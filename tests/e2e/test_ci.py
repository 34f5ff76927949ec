"""`anyhook ci`: its exit status passes or fails a CI job."""

from __future__ import annotations

import json

from anyhook.rules.pack_list import read_pack
from conftest import World

GATE = "exit 2"
ID = "kodik:project:PreToolUse:exit"


def test_a_gate_that_waits_fails_the_job_and_an_approved_one_passes(world: World) -> None:
    world.hook("kodik", "PreToolUse", GATE, scope="project")
    before = world.command("ci", "--require", ID)
    assert before.returncode == 1
    assert ID in before.stderr
    assert "waiting" in before.stderr
    assert "anyhook trust" in before.stderr
    assert world.command("ci", "--require", ID, "--trust", "all").returncode == 0
    assert world.command("trust", "--yes").returncode == 0
    assert world.command("ci", "--require", ID).returncode == 0
    assert world.command("ci").returncode == 0


def test_an_unknown_gate_fails_the_job_and_is_guessed(world: World) -> None:
    world.hook("kodik", "PreToolUse", GATE)
    ended = world.command("ci", "--require", "kodik:user:PreToolUse:exits")
    assert ended.returncode == 1
    assert "kodik:user:PreToolUse:exit`" in ended.stderr


def test_a_project_without_gates_is_not_guarded(world: World) -> None:
    ended = world.command("ci", "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout) == {"passed": False, "missing": ["this project has no gates"], "gates": []}


def test_many_gates_of_one_pack_are_one_line(world: World) -> None:
    world.write(world.project / ".anyhook/hooks.toml", 'use = ["git"]\n')
    ended = world.command("ci")
    rules = len(read_pack("git").rules)
    lines = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert [line.partition(":")[2] for line in lines][-1] == f" {rules} required gates off, 0 on"
    assert lines[0].startswith(f"anyhook ci: {rules} required gates of `anyhook:project:git` are waiting: ")
    assert len(lines) == 2
    assert len(json.loads(world.command("ci", "--json").stdout)["missing"]) == rules
    world.approve()
    assert world.command("ci").stdout == f"{rules} required gates on\n"


def test_an_agent_that_does_not_ask_the_gates_fails_the_job(world: World) -> None:
    """A gate that is on, and that the agent of the job does not ask, guards nothing there."""
    assert world.command("add", "git", "--yes").returncode == 0
    assert world.command("ci", "--require", "git/forced-push").returncode == 0, "without an agent, the gate counts"
    assert world.command("install", "claude").returncode == 0
    assert world.command("ci", "--require", "git/forced-push").returncode == 0
    path = world.home / ".claude/settings.json"
    settings = json.loads(path.read_text())
    for entry in settings["hooks"]["PreToolUse"]:
        entry["matcher"] = "Read"
    path.write_text(json.dumps(settings))
    for words in ([], ["--require", "git/forced-push"]):
        ended = world.command("ci", *words)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "claude does not ask the gates" in ended.stderr
        assert "anyhook install claude" in ended.stderr
        assert json.loads(world.command("ci", *words, "--json").stdout)["passed"] is False
    assert world.command("install", "claude").returncode == 0
    assert world.command("ci").returncode == 0, "the advice works"
