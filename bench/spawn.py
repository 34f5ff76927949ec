"""What starting a hook costs above the floor: ratios inside one interleaved run, never wall-clock promises.

Contention only adds time, so ratios compare lower quartiles; p95 is shown as well. `python bench/spawn.py [rounds]`.
"""

from __future__ import annotations

import os
import random
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parent.parent))

from anyhook.model.call import Call, Run
from anyhook.platform.run import run, start
from anyhook.platform.spawn import here
from anyhook.platform.tree import Tree
from bench.floor import ANSWER_SIZE, build, floor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MARK = "ANYHOOK_BENCH"
KB = b"x" * 1024
MB = b"x" * (1024 * 1024)


class Ratio(NamedTuple):
    """One measured promise."""

    name: str
    base: str
    ratio: float
    p95: float
    aim: float
    """What it should stay below; for the sum with engine and journal see the promises in the docs."""

    @property
    def kept(self) -> bool:
        return self.ratio <= self.aim


def measure(cases: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """All cases once per round, in random order, so that other load on the machine affects them equally."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    names = list(cases)
    for _ in range(rounds):
        random.shuffle(names)
        for name in names:
            case = cases[name]
            before = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - before)
    return {name: sorted(taken) for name, taken in times.items()}


def compare(times: Mapping[str, list[float]], name: str, base: str, aim: float) -> Ratio:
    def at(which: str, share: float) -> float:
        return times[which][int(len(times[which]) * share)]

    return Ratio(name, base, at(name, 0.25) / at(base, 0.25), at(name, 0.95) / at(base, 0.95), aim)


def one_hook(rounds: int) -> tuple[list[Ratio], float]:
    """A static C hook with 1 KB and 1 MB on stdin, directory, environment, group, limit, both streams; and F itself in
    seconds. The environment is the same plain dict for all; F with `os.environ` is the usual way to write it."""
    program, how = build()
    if how == "dynamic":
        print("bench: floor.c is linked dynamically, ratios to F are too kind", file=sys.stderr)
    env = {**os.environ, MARK: "1"}
    there = Call((program,), KB, env, "/", 60.0, f"{MARK}=1")
    own = there.replace(cwd=os.getcwd())
    big = there.replace(stdin=MB)
    _check(floor(program, KB, env), run(there), run(big))

    def in_our_own_process() -> Run:
        with _ours():
            return run(own)

    times = measure(
        {
            "F": lambda: floor(program, KB, env),
            "F with os.environ": lambda: floor(program, KB, os.environ),  # type: ignore[arg-type]
            "run": lambda: run(there),
            "run, our own process": in_our_own_process,
            "run, 1 MB": lambda: run(big),
        },
        rounds,
    )
    ratios = [
        compare(times, "run", "F", 1.15),
        compare(times, "run", "F with os.environ", 1.10),
        compare(times, "run, our own process", "F", 1.10),
        compare(times, "run, 1 MB", "run", 4.0),
    ]
    return ratios, times["F"][len(times["F"]) // 4]


def background_child(rounds: int) -> list[Ratio]:
    """A shell hook that leaves a child with its stdout open, compared with one that does not."""
    env = {"PATH": os.environ["PATH"], MARK: str(os.getpid())}
    plain = Call(("/bin/sh", "-c", "echo {}"), KB, env, "/", 60.0, f"{MARK}={os.getpid()}")
    leaves = plain.replace(argv=("/bin/sh", "-c", "sleep 60 & echo {}"))
    try:
        times = measure({"shell hook": lambda: run(plain), "leaves a child": lambda: run(leaves)}, rounds)
    finally:
        Tree(0, plain.mark).end()
    return [compare(times, "leaves a child", "shell hook", 2.0)]


def eight_at_once(rounds: int) -> list[Ratio]:
    """Eight hooks of 50 ms each, started one after the other and then waited for, compared with one."""
    call = Call(("/bin/sleep", "0.05"), b"", {MARK: "1"}, "/", 60.0, f"{MARK}=1")

    def eight() -> None:
        for child in [start(call) for _ in range(8)]:
            if isinstance(child, Run):
                raise SystemExit(f"bench: {child.error}")
            child.wait()

    return [compare(measure({"one": lambda: run(call), "eight": eight}, rounds), "eight", "one", 1.25)]


def all_ratios(rounds: int = 300) -> list[Ratio]:
    """All ratios of this module."""
    return [*one_hook(rounds)[0], *background_child(max(5, rounds // 5)), *eight_at_once(max(5, rounds // 20))]


@contextmanager
def _ours() -> Iterator[None]:
    """As after `adopt_orphans`, which cannot be undone."""
    here.is_ours = True
    try:
        yield
    finally:
        here.is_ours = False
        here.marks.clear()


def _check(bare: bytes, *runs: Run) -> None:
    for got in runs:
        if (got.ending, got.exit_code, got.stdout) != ("exited", 0, bare) or len(bare) != ANSWER_SIZE:
            raise SystemExit(f"bench: the floor's hook did not answer as it should: {got}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for row in all_ratios(rounds):
        verdict = "" if row.kept else "  OVER"
        print(f"{row.name:28} / {row.base:18} {row.ratio:6.3f}   p95 {row.p95:6.3f}   (≤ {row.aim:g}){verdict}")


if __name__ == "__main__":
    main()
