"""Fresh at every call: after any change to any file that an answer depends on, warm and cold calls answer the same.
The server and its workers keep what they have made of these files, so a change that they do not notice would be a wrong
answer."""

from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.platform.places import SETTLED_NS
from anyhook.state.plans import read_plan
from command import run
from warm_box import eventually, plain, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import World
    from warm_box import Door

    Change = Callable[[Path, bytes], object]

RULES = """
[[rule]]
name = "no-forbidden"
when = "runs forbidden"
then = "deny"
because = "no"

[[rule]]
name = "no-secrets"
when = "reads secret/**"
then = "warn"
because = "look"
"""
SETTINGS = 'on_failure = "deny"\nmode = "enforce"\noff = "tell"\n'
CALLS = (("PreToolUse", "ls"), ("PreToolUse", "forbidden"), ("PreToolUse", "cat secret/a"), ("PostToolUse", "ls"))
SWAPS = (
    (b'"deny"', b'"warn"'), (b'"warn"', b'"deny"'), (b"exit 2", b"exit 0"), (b"exit 0", b"exit 2"),
    (b"forbidden", b"permitted"), (b"PreToolUse", b"PreToolUsx"), (b"enforce", b"shadow "), (b'"tell"', b'"deny"'),
    (b"secret", b"public"), (b"true", b"null"), (b"rule", b"role"), (b"guard", b"gaurd"),
)  # fmt: skip
"""Bytes that change an answer, or break a file, and as many others."""


def in_place(path: Path, data: bytes) -> None:
    """As many bytes, the same modification time."""
    seen = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def mapped(path: Path, data: bytes) -> None:
    """Through a memory map, which need not change any time stamp."""
    if len(data) != path.stat().st_size or not data:
        return in_place(path, data)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = data
    return None


def renamed(path: Path, data: bytes) -> None:
    other = path.with_name(f".{path.name}.new")
    shutil.copy2(path, other)
    in_place(other, data)
    other.replace(path)


def linked(path: Path, data: bytes) -> None:
    """Behind a link."""
    other = path.parent / f".{path.name}.{random.randrange(10**9)}"
    shutil.copy2(path, other)
    other.write_bytes(data)
    path.unlink()
    path.symlink_to(other)


def removed(path: Path, _: bytes) -> None:
    path.unlink()


def appended(path: Path, _: bytes) -> None:
    with path.open("ab") as file:
        file.write(b"\n#\n")


def readable(path: Path, _: bytes) -> None:
    path.chmod(0)


HOW: dict[str, Change] = {
    "in place": in_place,
    "by a map": mapped,
    "renamed": renamed,
    "linked": linked,
    "removed": removed,
    "longer": appended,
    "no rights": readable,
}


class Scene:
    """A home and a project with rules, an approved hook of the project, a hook of the user, and settings."""

    def __init__(self, door: Door, world: World) -> None:
        self.door, self.world, self.number, self.kinds = door, world, 0, dict[str, int]()
        world.write(world.home / "config/anyhook/hooks.toml", RULES)
        world.config(SETTINGS)
        guard = world.write(world.project / "guard.sh", "#!/bin/sh\ngrep -q forbidden && exit 2\nexit 0\n", 0o755)
        world.hook("claude", "PreToolUse", f"sh {guard}", "project")
        world.hook("kodik", "PostToolUse", "exit 0")
        world.approve()
        door.start()
        settle(world)
        self.answers()
        self.files = [Path(path) for path in settle(world).contents if Path(path).is_file()]
        names = {path.name for path in self.files}
        assert {"hooks.toml", "config.toml", "guard.sh", "settings.json", "hooks.json", "trust.json"} <= names

    def answers(self) -> list[tuple[int, str, str]]:
        """Ask warm and cold, about one of the calls each time; they must agree."""
        self.number += 1
        native, line = CALLS[self.number % len(CALLS)]
        sent = {"session_id": "SESSION", "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t"}
        found = []
        (self.world.state / "journal.jsonl").unlink(missing_ok=True)  # it would be read from its beginning each time
        for way in ("warm", "cold"):
            data = json.dumps(sent).replace("SESSION", f"{way}-{self.number}").encode()
            if way == "warm":
                done = self.door.call("bridge", "claude", native, stdin=data)
            else:  # from the files themselves
                shutil.rmtree(self.world.state / "plans", ignore_errors=True)
                env = {**self.door.env, "ANYHOOK_WARM": "off"}
                done = run(("bridge", "claude", native), env=env, cwd=self.world.project, stdin=data)
            reports = self.world.journal()[-1]["decision"]["hooks"] if done.returncode != 70 else []
            told = json.dumps([[report["id"], report["status"], report.get("verdict")] for report in reports])
            found.append((done.returncode, plain(done.stdout), plain(done.stderr), told))
        assert found[0] == found[1], (native, line)
        self.kinds[found[0][1][:200]] = self.kinds.get(found[0][1][:200], 0) + 1
        return [each[:3] for each in found]

    def keep(self) -> None:
        """Answer until the plan is kept: its files must not be brand new."""
        time.sleep(2 * SETTLED_NS / 1e9)
        eventually(lambda: bool(self.answers()) and read_plan(self.world.setup()) is not None, "no plan is kept")
        self.answers()

    def change(self, chance: random.Random) -> None:
        """One change to one file, and back."""
        path, how = chance.choice(self.files), chance.choice(sorted(HOW))
        before, seen = path.read_bytes(), path.stat()
        swaps = [swap for swap in SWAPS if swap[0] in before]
        if swaps and chance.random() < 0.8:
            data = before.replace(*chance.choice(swaps))
        else:
            place = chance.randrange(max(len(before), 1))
            data = before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :] if before else b"x"
        HOW[how](path, data)
        for _ in range(2):
            self.answers()
        if path.is_symlink() or not path.exists():
            path.unlink(missing_ok=True)
            path.write_bytes(before)
        path.chmod(seen.st_mode & 0o777)
        mapped(path, before)
        self.answers()


def changes(door: Door, world: World, count: int) -> None:
    scene, chance = Scene(door, world), random.Random(28)
    for number in range(count // 2):  # each is a change, and a change back
        if number % 4 == 0:
            scene.keep()
        scene.change(chance)
    assert len(scene.kinds) > 4, "the answers hardly differ, so nothing could be missed"
    assert door.state()["running"]


def test_a_changed_file_is_noticed(door: Door, world: World) -> None:
    changes(door, world, int(os.environ.get("FRESH", "240")))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_changes_are_noticed(door: Door, world: World) -> None:
    changes(door, world, 10_000)


def test_a_file_that_is_mounted_over_is_noticed(door: Door, world: World) -> None:
    scene = Scene(door, world)
    scene.keep()
    rules = world.home / "config/anyhook/hooks.toml"
    other = world.write(world.root / "other.toml", RULES.replace('"deny"', '"warn"'))
    shutil.copystat(rules, other)
    try:
        subprocess.run(["mount", "--bind", str(other), str(rules)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing can be mounted here")
    try:
        for _ in CALLS:
            scene.answers()
    finally:
        subprocess.run(["umount", str(rules)], check=True)
    for _ in CALLS:
        scene.answers()
