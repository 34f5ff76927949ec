"""Crashes: many processes fire events and are killed at any time. Every acknowledged record is in the journal exactly
once and in order, across files, and the chain is intact."""

from __future__ import annotations

import json
import os
import random
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import pytest
from journal_box import made

from anyhook import Event, Outcome
from anyhook.journal.journal import Journal
from anyhook.journal.search import Wanted, newest, search
from anyhook.journal.verify import verify
from anyhook.journal.writer import full_paths
from conftest import World

FIRES = """
import os, sys
from anyhook import Engine, Event, Outcome
who, each, size = map(int, sys.argv[2:])
engine = Engine.open(sys.argv[1])
engine.on("pre_tool", lambda event: Outcome.block("no"), name="it")
for number in range(each):
    given = {"who": who, "number": number, "x": "y" * (size * (number % 3))}
    decision = engine.fire_sync(Event.pre_tool("Bash", given))
    if decision.problems:
        os.write(2, f"{decision.problems[0].why}\\n".encode())
    else:
        os.write(1, b"%d\\n" % number)
"""


class Fleet:
    """Processes that fire events and acknowledge them. Some are killed while they run."""

    def __init__(self, world: World, many: int, each: int, size: int) -> None:
        words = [sys.executable, "-c", FIRES, str(world.project)]
        self.children = [
            subprocess.Popen(
                [*words, str(who), str(each), str(size)],
                env=world.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for who in range(many)
        ]  # fmt: skip
        self.told: dict[int, list[int]] = {who: [] for who in range(many)}
        self.killed: set[int] = set()

    def run(self, kill_at: dict[int, int], pause: random.Random) -> None:
        """Read every acknowledgement. A process is killed at a random time after the acknowledgement given in
        `kill_at`."""
        hearing = selectors.DefaultSelector()
        rest: dict[int, bytes] = defaultdict(bytes)
        for who, child in enumerate(self.children):
            hearing.register(child.stdout, selectors.EVENT_READ, who)  # type: ignore[arg-type]
        while hearing.get_map():
            for key, _ in hearing.select():
                who = key.data
                data = os.read(key.fd, 65_536)
                if not data:
                    hearing.unregister(key.fileobj)
                    continue
                *lines, rest[who] = (rest[who] + data).split(b"\n")
                self.told[who] += map(int, lines)
                if len(self.told[who]) > kill_at.get(who, sys.maxsize) and who not in self.killed:
                    time.sleep(pause.random() * 0.001)
                    self.children[who].send_signal(signal.SIGKILL)
                    self.killed.add(who)

    def end(self) -> str:
        """Wait for all processes; returns their stderr."""
        said = [child.communicate(timeout=240)[1].decode() for child in self.children]
        return "".join(said)


SIZES = [
    pytest.param(10, 100, 3_000, 8, id="10 × 100"),
    pytest.param(100, 1_000, 100, 160, id="100 × 1,000", marks=[pytest.mark.slow, pytest.mark.timeout(1_800)]),
]


@pytest.mark.parametrize(("many", "each", "size", "keep_mb"), SIZES)
def test_killed_at_random(world: World, many: int, each: int, size: int, keep_mb: int) -> None:
    world.config(f"[journal]\nkeep_mb = {keep_mb}\n")
    chance = random.Random(many)
    kill_at = {who: chance.randrange(each * 9 // 10) for who in chance.sample(range(many), many // 2)}
    fleet = Fleet(world, many, each, size)
    fleet.run(kill_at, chance)
    assert fleet.end() == ""
    assert fleet.killed == set(kill_at)
    state = str(world.state)
    found: dict[int, list[int]] = {who: [] for who in range(many)}
    torn = 0
    for each_found in search(state, Wanted()):
        if each_found.record is None:
            torn += 1
            continue
        given: Any = each_found.record["data"]
        found[given["input"]["who"]].append(given["input"]["number"])
    for who, told in fleet.told.items():
        assert found[who][: len(told)] == told
        assert len(found[who]) <= len(told) + 1  # one may be written but not yet acknowledged
        assert found[who] == [*range(len(found[who]))]
        assert who in kill_at or len(told) == each
    proof = verify(state)
    assert (proof.damage, proof.records) == ((), sum(map(len, found.values())))
    assert full_paths(state), "the file was to be full while others wrote"
    figures = f"{proof.records} records, {len(fleet.killed)} killed, {torn} torn lines, all of them said"
    sys.stdout.write(f"{many} × {each}: {figures}\n")  # shown with -s


# -- a disk, a folder and a clock that misbehave

LIMITED = """
import resource, sys
from anyhook import Engine, Event, Outcome
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
engine = Engine.open(sys.argv[1])
engine.on("pre_tool", lambda event: Outcome.block("no"), name="it")
said = []
for number in range(100):
    decision = engine.fire_sync(Event.pre_tool("Bash", {"number": number, "x": "y" * 500}))
    assert decision.verdict == "block"
    said += [problem.why for problem in decision.problems]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
engine.close_sync()
Engine.open(sys.argv[1]).fire_sync(Event.stop())
print(said)
"""


def test_no_room_for_a_while(world: World) -> None:
    """With a real file-size limit, events still run and a problem says that they are no longer recorded. The next
    engine continues with an intact chain."""
    # -B: under this limit, Python would truncate the compiled modules that it caches for the next run.
    command = [sys.executable, "-B", "-c", LIMITED, str(world.project)]
    done = subprocess.run(command, env=world.env, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout in ("['File too large']\n", "['the disk is full']\n")
    *before, last = world.journal()
    numbers = [record["data"]["input"]["number"] for record in before]
    assert numbers == [*range(len(numbers))]
    assert 10 < len(numbers) < 60
    assert (last["event"], last["n"]) == ("stop", len(numbers) + 1)
    assert verify(str(world.state)).damage == ()


def test_a_journal_that_is_deleted_loses_nothing_that_comes_after(world: World) -> None:
    engine = world.engine()
    engine.on("pre_tool", lambda _: Outcome.block("no"))
    for number in range(3):
        engine.fire_sync(Event.pre_tool("Bash", {"number": number}))
        os.unlink(world.state / "journal.jsonl")
    shutil.rmtree(world.state)
    engine.fire_sync(Event.pre_tool("Bash", {"number": 3}))
    engine.close_sync()
    assert [record["data"]["input"]["number"] for record in world.journal()] == [3]
    assert verify(str(world.state)).damage == ()


def test_a_clock_that_goes_back(world: World) -> None:
    """Records stay in the order of writing, and keep the times that the clock gave."""
    journal = Journal(str(world.state))
    now, hour = time.time_ns(), 3_600 * 10**9
    for ago in (3, 2, 5, 1, 0):
        assert journal.put(json.dumps(made() | {"at": now - ago * hour}).encode() + b"\n")
    state = str(world.state)
    assert verify(state).damage == ()
    recent = Wanted(since_ns=now - 4 * hour)
    assert [found.record["n"] for found in search(state, recent) if found.record] == [1, 2, 4, 5]
    assert [found.record["n"] for found in newest(state, Wanted(), 3) if found.record] == [3, 4, 5]
    assert world.command("stats").returncode == 0


def read_only(world: World) -> list[str]:
    """A command prefix that makes the home read-only. Permissions do not stop root, so root needs a read-only mount."""
    if os.getuid() != 0:
        return []
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    inside = ["unshare", "--mount", "sh", "-c", script, str(world.home)]
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    return inside


def called(world: World, inside: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [*inside, sys.executable, "-m", "anyhook", *words]
    folders = [path for path in (world.state, world.home) if path.exists()]
    for folder in folders:
        folder.chmod(0o500)
    try:
        return subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
    finally:
        for folder in reversed(folders):
            folder.chmod(0o700)


def test_a_home_that_is_read_only(world: World) -> None:
    world.hook("kodik", "Stop", "echo no >&2; exit 2")
    done = called(world, read_only(world), "fire", "Stop", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["verdict"]) == (2, "block")
    assert [problem["code"] for problem in answer["problems"]] == ["journal-failed"]
    assert not world.state.exists()


READING = {
    "log": (0, "stop"), "log --search needle": (0, "stop"), "stats": (0, "kodik:"), "verify": (0, "1 records, none"),
    "explain last": (0, "record 1"), "replay": (0, "1 events judged again"), "export --format jsonl": (0, "needle"),
    "backtest Stop": (3, "cannot write"),
}  # fmt: skip


@pytest.mark.parametrize("indexed", [False, True])
def test_a_journal_that_can_only_be_read(world: World, indexed: bool) -> None:
    """Every query that does not have to write is answered, even if an index cannot be stored or updated."""
    world.hook("kodik", "Stop", "echo needle")
    world.command("fire", "Stop")
    if indexed:
        world.command("stats")
    inside = read_only(world)
    for words, (status, text) in READING.items():
        done = called(world, inside, *words.split())
        assert (done.returncode, text in done.stdout + done.stderr) == (status, True), (words, done)
    assert (world.state / "journal-index.sqlite").exists() == indexed
