"""Every payload that real agents sent, cold and warm: the same answer and the same journal lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from captured import BY_FOLDER, each_folder, table_of
from conftest import World
from warm_box import PARENT, Door, eventually, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warm_box import Done

HOOKS = (
    ("kodik", "PreToolUse", f"{PARENT} >> $HOME/parents; echo no >&2; exit 2"),
    ("codex", "UserPromptSubmit", "echo more to know"),
    ("kodik", "Stop", "exit 1"),
)
"""A hook that blocks, one that adds something and one that fails. Other events have no hooks."""


@pytest.fixture
def doors(launcher: Path, tmp_path: Path) -> Iterator[tuple[Door, Door]]:
    """Two users with the same hooks, so that neither gets an answer that was stored for the other."""
    made = []
    for name in ("one", "two"):
        world = World(tmp_path / name)
        for hook in HOOKS:
            world.hook(*hook)
        made.append(Door(launcher, world))
    yield made[0], made[1]
    for door in made:
        door.stop()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@each_folder
def test_answers_and_records_are_the_same(doors: tuple[Door, Door], folder: str) -> None:
    cold, warm = doors
    server = warm.start()
    cold.cold("fire", "turn_end")  # the start of the server did the same
    before = len(cold.world.journal())
    eventually(lambda: len(warm.world.journal()) == before, "a line is missing")
    for path in BY_FOLDER[folder]:
        table, row = table_of(path)
        words, payload = ("bridge", table.name, row.native), path.read_bytes()
        done = cold.cold(*words, stdin=payload)
        after = len(cold.world.journal())
        first = account(cold, done, before, after)
        assert account(warm, warm.call(*words, stdin=payload), before, after) == first, path
        before = after
    assert str(server) not in parents(cold)
    assert parents(warm) <= {str(server)}, "a call was not served"


def parents(door: Door) -> set[str]:
    """The processes that started commands that ran a hook."""
    noted = door.world.home / "parents"
    return set(noted.read_text().split()) if noted.exists() else set()


def account(door: Door, done: Done, before: int, after: int) -> str:
    """The result of a call with its journal lines, of which there are `after` in all."""
    assert len(door.world.journal()) == after, "a line is missing"
    lines = door.world.journal()[before:]
    told = plain(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode(), lines]))
    return told.replace(str(door.world.root), "{root}")
