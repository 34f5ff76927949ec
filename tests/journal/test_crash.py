"""Crashes: many processes that fire events and are killed at any moment. Whatever was acknowledged is in the journal,
once and in order, over changes of files, and the chain is whole."""

from __future__ import annotations

import os
import random
import selectors
import signal
import subprocess
import sys
import time
from collections import defaultdict

import pytest

from anyhook.journal.search import Wanted, search
from anyhook.journal.verify import verify
from anyhook.stores.journal_files import full_paths
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
    """Processes that fire, of which some are killed in the middle of it; and what they acknowledged."""

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
        """Hear every acknowledgement. A process is killed a random moment after the one that is its last."""
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
        """What they complained about."""
        said = [child.communicate(timeout=60)[1].decode() for child in self.children]
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
        given = each_found.record["data"]["input"]  # type: ignore[index, call-overload]
        found[given["who"]].append(given["number"])  # type: ignore[index, call-overload]
    for who, told in fleet.told.items():
        assert found[who][: len(told)] == told
        assert len(found[who]) <= len(told) + 1  # one may be written and not yet told
        assert found[who] == [*range(len(found[who]))]
        assert who in kill_at or len(told) == each
    proof = verify(state)
    assert (proof.damage, proof.records) == ((), sum(map(len, found.values())))
    assert full_paths(state), "the file was to be full while others wrote"
    figures = (
        f"{many} × {each}: {proof.records} records, {len(fleet.killed)} killed, {torn} torn lines, all of them said"
    )
    sys.stdout.write(f"{figures}\n")  # for who runs it with -s
