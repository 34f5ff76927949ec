"""Undo without a terminal: what is restored, with or without git, and what is reported about the rest."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from anyhook.extra.agent.undo import NoSnapshot, Snapshots

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import World


def opened(world: World, **env: str) -> Snapshots:
    return Snapshots(str(world.project), str(world.root / "undo"), {**world.env, **env})


def turn(kept: Snapshots, tool: str, path: str | None, change: Callable[[], object]) -> None:
    async def run() -> None:
        kept.turn_begins()
        await kept.before_tool(tool, {"path": path} if path is not None else {"command": "it"})
        change()
        await kept.turn_ends()

    asyncio.run(run())


def test_a_file_that_git_ignores_comes_back(world: World) -> None:
    world.write(world.project / ".gitignore", ".env\nbuild/\n")
    secret = world.write(world.project / ".env", "A=1\r\n", 0o600)
    kept = opened(world)
    turn(kept, "edit_file", ".env", lambda: world.write(secret, "A=2\n", 0o644))
    undone = kept.undo()
    assert (undone.restored, undone.left, undone.commands, undone.unkept) == ([".env"], [], False, "")
    assert (secret.read_bytes(), secret.stat().st_mode & 0o777) == (b"A=1\r\n", 0o600)
    made = world.project / "build/made.txt"
    turn(kept, "write_file", "build/made.txt", lambda: world.write(made, "made"))
    assert (kept.undo().restored, made.exists()) == (["build/made.txt"], False)
    with pytest.raises(NoSnapshot, match="undone already"):
        kept.undo()


def test_an_ignored_file_that_was_changed_afterwards_is_left_alone(world: World) -> None:
    world.write(world.project / ".gitignore", ".env\n")
    secret = world.write(world.project / ".env", "A=1\n")
    kept = opened(world)
    turn(kept, "write_file", "./.env", lambda: secret.write_text("A=2\n"))
    secret.write_text("mine\n")
    undone = kept.undo()
    assert (undone.restored, undone.left, secret.read_text()) == ([], [".env"], "mine\n")


def test_a_file_that_both_keep_is_put_back_once(world: World) -> None:
    """A path through a link names the same file."""
    world.write(world.project / "real/a.txt", "one\n")
    os.symlink("real", world.project / "link")
    kept = opened(world)
    turn(kept, "write_file", "link/a.txt", lambda: world.write(world.project / "link/a.txt", "two\n"))
    undone = kept.undo()
    assert (undone.restored, undone.left) == (["real/a.txt"], [])
    assert (world.project / "real/a.txt").read_text() == "one\n"


def test_without_git_the_file_tools_are_undone_and_the_rest_is_named(world: World) -> None:
    mine = world.write(world.project / "a.txt", "one\n")
    kept = opened(world, PATH=str(world.root / "nothing"))
    turn(kept, "write_file", "a.txt", lambda: mine.write_text("two\n"))
    undone = kept.undo()
    assert (undone.restored, mine.read_text()) == (["a.txt"], "one\n")
    assert undone.unkept.startswith("git is not installed")
    turn(kept, "shell", None, lambda: mine.write_text("three\n"))
    with pytest.raises(NoSnapshot, match="git is not installed"):
        kept.undo()


def test_commands_may_have_changed_what_is_not_kept(world: World) -> None:
    world.write(world.project / ".gitignore", ".env\n")
    kept = opened(world)
    turn(kept, "shell", None, lambda: world.write(world.project / ".env", "A=2\n"))
    undone = kept.undo()
    assert (undone.restored, undone.commands) == ([], True)
    assert (world.project / ".env").exists()


def test_a_tool_that_changed_nothing_leaves_nothing_to_undo(world: World) -> None:
    mine = world.write(world.project / "a.txt", "one\n")
    kept = opened(world, PATH=str(world.root / "nothing"))
    turn(kept, "edit_file", "a.txt", lambda: None)
    assert kept.undo().restored == []
    assert mine.read_text() == "one\n"
