"""A journal that is there and cannot be read: every verb says so in one sentence, and none takes it for damage."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import World


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_loop(path: Path) -> None:
    path.symlink_to(path)


VERBS = (
    "log", "log --json", "log -n 3", "log -f", "log --search x", "stats", "verify", "explain last", "explain 1",
    "replay", "export", "export -o there", "record",
)  # fmt: skip


@pytest.mark.parametrize("name", ["journal.jsonl", "journal-000000000007.jsonl"])
@pytest.mark.parametrize("what", [a_folder, a_pipe, a_device, a_loop])
def test_something_else_in_the_place_of_a_file(world: World, what: Callable[[Path], None], name: str) -> None:
    world.state.mkdir(parents=True)
    what(world.state / name)
    for verb in VERBS:
        done = world.command(*verb.split())
        assert (done.returncode, done.stdout) == (3, ""), (verb, done.stderr)
        assert done.stderr.startswith(f"anyhook {verb.split()[0]}: the journal cannot be read: {world.state / name} (")
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(world: World) -> None:
    world.command("fire", "stop")
    (world.state / "journal.jsonl").chmod(0)
    assert "(Permission denied)" in world.command("verify").stderr
