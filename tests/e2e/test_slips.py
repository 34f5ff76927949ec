"""A slip in our own files never weakens a guard: what cannot be understood is ignored and reported where it stands, and
the stricter reading counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import World

PUSH = ("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": "git push --force"}))
CALL = ("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": "xx"}))


def problems(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(world.command("check", "--format", "json").stdout)["problems"]
    return found


def relaxed(world: World, text: str) -> str:
    """The user's rules with the git pack and one relaxation, which begins in line 3."""
    path = world.write(world.home / "config/anyhook/hooks.toml", f'use = ["git"]\n\n[[relax]]\n{text}\n')
    return str(path)


SAME = ["git/forced push", "git/forced-push", "git/forced  push", "forced-push", "forced push", "git/forced*", "git/*"]
NONE = ["git/force push", "git/forced-pushes", "push", "gti/forced push", "", "outside/write outside"]


@pytest.mark.parametrize("name", SAME)
def test_blanks_and_hyphens_are_the_same(world: World, name: str) -> None:
    relaxed(world, f'rule = "{name}"\nenabled = false')
    assert world.fire(*PUSH)["verdict"] == "none"
    assert problems(world) == []
    if "*" not in name:
        relaxed(world, 'rule = "git/hard reset"\nthen = "ask"')
        assert world.command("shadow", name).returncode == 0
        assert world.command("report", name).returncode == 0
        assert world.fire(*PUSH)["verdict"] == "none"


@pytest.mark.parametrize("name", NONE)
def test_a_relaxation_that_names_no_rule_is_an_error(world: World, name: str) -> None:
    path = relaxed(world, f'rule = "{name}"\nenabled = false')
    done = world.command("check")
    [problem] = problems(world)
    outside = name.startswith("outside/")
    assert problem["severity"] == ("warning" if outside else "error")
    assert done.returncode == (0 if outside else 1)
    assert problem["where"] in (f"{path}:4", f"{path}:3")
    assert world.fire(*PUSH)["verdict"] == "block"
    if name == "git/force push":
        assert "Did you mean `git/forced-push`?" in problem["fix"]


def test_the_fix_works(world: World) -> None:
    """The name that the message proposes is one that counts."""
    relaxed(world, 'rule = "git/force-push"\nenabled = false')
    [problem] = problems(world)
    proposed = problem["fix"].partition("Did you mean `")[2].partition("`")[0]
    relaxed(world, f'rule = "{proposed}"\nenabled = false')
    assert problems(world) == []
    assert world.fire(*PUSH)["verdict"] == "none"


@pytest.mark.parametrize("text", ['use = "git"\n', 'use = ["git", 7]\n'])
def test_packs_in_a_slip_are_used(world: World, text: str) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", text)
    assert world.fire(*PUSH)["verdict"] == "block"
    assert [problem["code"] for problem in problems(world)] == ["ignored-value"]


def test_single_brackets(world: World) -> None:
    """A rule in them guards; a relaxation in them does not count."""
    path = world.home / "config/anyhook/hooks.toml"
    world.write(path, '[rule]\nname = "mine"\nwhen = "runs xx"\n')
    assert world.fire(*CALL)["verdict"] == "block"
    assert world.command("check").returncode == 1
    world.write(path, 'use = ["git"]\n[relax]\nrule = "git/forced push"\nenabled = false\n')
    assert world.fire(*PUSH)["verdict"] == "block"
    assert world.command("check").returncode == 1
