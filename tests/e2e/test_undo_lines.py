"""Every verb that says how to undo what it did is right: the command that it prints leaves the files as they were, byte
for byte, and touches no other scope."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from anyhook.tables.registry import INSTALLABLE, host

if TYPE_CHECKING:
    from conftest import World

OF_PROJECTS = [name for name in INSTALLABLE if (entry := host(name).entry) is not None and "project" in entry.files]
OWN_RULES = """\
# mine
use = [
    "git",  # the first
]

[[rule]]
name = "mine"
when = "runs xx"
"""
SETTINGS = '# mine\noff = "tell"\n\n[hooks."a:b"]\nmode = "enforce" # stays\n'
CLAUDE = '{\n\t"model": "x",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}'
DONE = [
    ("add", "guard", "--yes"),
    ("add", "git", "--yes"),
    ("add", "files", "--yes"),
    ("add", "guard", "--scope", "project", "--yes"),
    ("add", "files", "--scope", "project", "--yes"),
    ("setup", "claude", "--yes"),
    ("setup", "claude", "codex", "--yes"),
    ("shadow", "kodik:user:PreToolUse:exit"),
    ("shadow", "kodik:user:PreToolUse:exit", "--for", "7d"),
    ("disable", "kodik:user:PreToolUse:exit"),
    ("disable", "audit"),
    ("shadow", "kodik:project:PreToolUse:exit"),
    ("disable", "kodik:project:PreToolUse:exit"),
    ("disable", "theirs"),
    ("disable", "kodik:plugin:p:PreToolUse:exit", "--plugin-dir", "plugins/p"),
    ("shadow", "kodik:plugin:p:PreToolUse:exit", "--plugin-dir", "plugins/p"),
    ("relax", "mine", "--off"),
    ("relax", "git/forced-push", "--path", "./sandbox", "--project-only"),
]


def snapshot(world: World) -> dict[str, bytes]:
    """Every file of the user and the project, but for our own state."""
    found: dict[str, bytes] = {}
    for folder in (world.home, world.project):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and world.state not in path.parents and path.suffix != ".lock":
                found[str(path)] = path.read_bytes()
    return found


def undo_lines(said: str) -> list[list[str]]:
    """The commands that a verb printed below or behind `Undo it:`."""
    lines = said.partition("Undo it:")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines if line.strip().startswith("anyhook ")]


def prepared(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    folder = world.home / ".kodelet/hooks"
    world.write(folder / "audit", "#!/bin/sh\necho before_tool_call\n", 0o755)
    world.hook("kodik", "PreToolUse", "exit 0", "project")
    world.hook("kodelet", "before_tool_call", "exit 0", "project", "theirs")
    plugin = world.project / "plugins/p"
    world.write(
        plugin / "hooks/hooks.json",
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}',
    )


def own_files(world: World) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", OWN_RULES)
    world.write(world.project / ".anyhook/hooks.toml", OWN_RULES)
    world.config(SETTINGS)
    for folder in (world.home, world.project):
        world.write(folder / ".claude/settings.json", CLAUDE)


def check_undo(world: World, words: tuple[str, ...], elsewhere: bool = False) -> None:
    cwd = world.root / "else where" if elsewhere else None
    if cwd is not None:
        cwd.mkdir()
    before = snapshot(world)
    done = world.command(*words)
    assert done.returncode == 0, done.stderr
    after = snapshot(world)
    commands = undo_lines(done.stderr)
    assert bool(commands) == (after != before or words[0] == "disable"), done.stderr
    for command in commands:
        taken = world.command(*command, cwd=cwd)
        assert taken.returncode == 0, taken.stderr
    assert snapshot(world) == before
    assert cwd is None or [*cwd.iterdir()] == []


@pytest.mark.parametrize("words", DONE, ids=" ".join)
@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("with_own", [False, True])
def test_what_a_verb_prints_restores_every_file(
    world: World, words: tuple[str, ...], with_own: bool, elsewhere: bool
) -> None:
    prepared(world)
    if with_own or words[0] == "relax":
        own_files(world)
    check_undo(world, words, elsewhere)


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("agent", INSTALLABLE)
def test_the_undo_of_an_entry_names_its_scope(world: World, agent: str, scope: str) -> None:
    if scope == "project" and agent not in OF_PROJECTS:
        pytest.skip("it has no hooks of a project")
    if scope == "project":
        assert world.command("install", agent).returncode == 0
    check_undo(world, ("install", agent, "--scope", scope), elsewhere=True)


def test_the_printed_undo_of_a_project_leaves_the_user_s_protection(world: World) -> None:
    """The way of a newcomer: first the machine, then one project, then the project back."""
    assert world.command("setup", "claude", "--yes").returncode == 0
    before = snapshot(world)
    first = world.command("install", "claude", "--scope", "project")
    second = world.command("add", "guard", "--scope", "project", "--yes")
    for command in (*undo_lines(first.stderr), *undo_lines(second.stderr)):
        assert "--scope" in command
        assert world.command(*command).returncode == 0
    assert snapshot(world) == before
    assert world.command("status", "--short").returncode == 0


def test_a_project_that_was_named_is_named_again(world: World) -> None:
    other = world.root / "other one"
    other.mkdir()
    for words in (("install", "claude"), ("add", "guard", "--yes")):
        done = world.command(*words, "--scope", "project", "--project", str(other))
        [command] = undo_lines(done.stderr)
        assert command[-2:] == ["--project", str(other)]
        assert world.command(*command).returncode == 0
        assert [path for path in other.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("verb", ["install", "add", "shadow", "disable"])
def test_json_has_the_same_commands(world: World, verb: str) -> None:
    prepared(world)
    words = {"install": ["claude"], "add": ["git", "--yes"]}.get(verb, ["kodik:user:PreToolUse:exit"])
    [command] = json.loads(world.command(verb, *words, "--json").stdout)["undo"]
    before = snapshot(world)
    assert world.command(*shlex.split(command)[1:]).returncode == 0
    assert snapshot(world) != before or verb == "disable"


def test_remove_changes_one_scope_and_says_which(world: World) -> None:
    for scope in ("user", "project"):
        assert world.command("add", "guard", "--scope", scope, "--yes").returncode == 0
    mine, theirs = world.home / "config/anyhook/hooks.toml", world.project / ".anyhook/hooks.toml"
    done = world.command("remove", "guard")
    assert (done.returncode, mine.exists(), theirs.exists()) == (0, False, True)
    assert "removed" in done.stdout
    assert "still on in this project's rules: anyhook remove guard --scope project" in done.stderr
    done = world.command("remove", "guard")
    assert (done.returncode, theirs.exists()) == (0, False)
    assert ".anyhook/hooks.toml" in done.stdout
    assert world.command("remove", "guard").returncode == 1
    assert world.command("remove", "guard", "--scope", "project").returncode == 1
    assert world.command("remove", "nonsense").returncode == 3


def test_several_packs_are_removed_at_once(world: World) -> None:
    assert world.command("add", "guard", "--yes").returncode == 0
    done = world.command("remove", "git", "files")
    assert (done.returncode, "git, files are off" in done.stdout) == (0, True)
    assert "nonsense" in world.command("remove", "git", "nonsense").stderr


def test_an_entry_in_the_other_scope_is_told(world: World) -> None:
    assert world.command("install", "claude", "--scope", "project").returncode == 0
    done = world.command("uninstall", "claude")
    assert (done.returncode, "anyhook uninstall claude --scope project" in done.stderr) == (0, True)
