"""Approvals in a file, and the GitHub Action, which approves only what the base branch's file approves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

import anyhook
from command import SCRIPT

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

ACTION = Path(__file__).parents[2] / "action.yml"
GUARD = "#!/bin/sh\ngrep -q 'make release' && exit 2\nexit 0\n"


@pytest.fixture
def project(world: World) -> World:
    """A project with a guard that its user has approved, and the file with that approval."""
    group: Json = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}
    world.declare(world.project / ".codex" / "hooks.json", "PreToolUse", group)
    world.write(world.project / "guard.sh", GUARD, 0o755)
    assert world.command("trust", "--yes").returncode == 0
    assert world.command("trust", "--export", "approved.json").returncode == 0
    assert world.command("trust", "--revoke", "--yes").returncode == 0
    assert world.command("ci").returncode == 1
    return world


def test_a_file_approves_what_was_approved(project: World) -> None:
    done = project.command("trust", "--from", "approved.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert project.command("ci").returncode == 0


@pytest.mark.parametrize("change", ["script", "declaration", "added", "gone"])
def test_what_has_changed_is_not_approved(project: World, change: str) -> None:
    file = project.project / ".codex" / "hooks.json"
    if change == "script":
        project.write(project.project / "guard.sh", f"{GUARD}# more\n", 0o755)
    elif change == "declaration":
        file.write_text(file.read_text().replace("Bash", "Read"))
    elif change == "added":
        project.declare(file, "Stop", {"hooks": [{"type": "command", "command": "./guard.sh"}]})
    else:
        file.unlink()
    done = project.command("trust", "--from", "approved.json", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, len(told["not_approved"]), len(told["approved"])) == (1, 1, int(change == "added"))


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1}', '{"version": 2, "approved": {}}', "[]"])
def test_any_other_file_is_a_bad_call(project: World, text: str) -> None:
    project.write(project.project / "other.json", text)
    done = project.command("trust", "--from", "other.json")
    assert (done.returncode, done.stdout) == (3, "")
    assert project.command("trust", "--from", "missing.json").returncode == 3
    assert project.command("trust", "--from", "approved.json", "--yes").returncode == 3


def test_approvals_of_another_version_say_so(project: World) -> None:
    """Its own packs may have other rules, so that approvals of them do not count."""
    path = project.project / "approved.json"
    said = json.loads(path.read_text())
    assert said["anyhook"] == anyhook.__version__
    path.write_text(json.dumps({**said, "anyhook": "9.9"}))
    assert "9.9" not in project.command("trust", "--from", "approved.json").stderr, "all is as it was"
    path.write_text(json.dumps({**said, "anyhook": "9.9", "approved": dict.fromkeys(said["approved"], "0")}))
    done = project.command("trust", "--from", "approved.json")
    assert done.returncode == 1
    assert f"from anyhook 9.9, and this is {anyhook.__version__}" in done.stderr


def git(world: World, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    return subprocess.run(
        ["git", *identity, *words], cwd=world.project, check=True, capture_output=True, text=True
    ).stdout.strip()


def act(world: World, base: str) -> list[int]:
    """Run the steps of the action but the installation, as a job does, until one fails; returns their statuses."""
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    env = {
        **world.env, "PATH": f"{Path(SCRIPT).parent}:{world.env['PATH']}", "RUNNER_TEMP": str(world.root), "BASE": base,
        "PROJECT": ".", "APPROVALS": "approved.json", "REQUIRE": "",
    }  # fmt: skip
    ended: list[int] = []
    for step in steps[1:]:
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=env, cwd=world.project, check=False)
        ended.append(done.returncode)
        if done.returncode:
            break
    return ended


def test_the_action_approves_only_what_the_base_branch_approves(project: World) -> None:
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "base")
    base = git(project, "rev-parse", "HEAD")
    assert act(project, base) == [0, 0, 0, 0]
    project.write(project.project / "guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    approved = json.loads((project.project / "approved.json").read_text())
    assert project.command("trust", "--yes").returncode == 0  # the author's own approval, and file
    assert project.command("trust", "--export", "approved.json").returncode == 0
    assert json.loads((project.project / "approved.json").read_text()) != approved
    assert project.command("trust", "--revoke", "--yes").returncode == 0
    git(project, "commit", "-qam", "a pull request that takes the guard away")
    assert act(project, base) == [0, 1]
    assert act(project, git(project, "rev-parse", "HEAD")) == [0, 0, 0, 0]  # after a person has merged it


def test_the_action_names_a_version_and_approves_nothing_by_itself() -> None:
    action = yaml.safe_load(ACTION.read_text())
    assert action["inputs"]["version"]["required"] is True
    assert not any("--yes" in step["run"] or "--trust all" in step["run"] for step in action["runs"]["steps"])
