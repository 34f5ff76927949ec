"""`python -m bench.fleet [machines] [records]`: the journal's verbs over a directory of many machines, as `ship` fills
it, and over a tenth of the machines. It prints seconds, CPU time and peak memory; no test asserts any of it."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from anyhook.journal.machines import MACHINE
from bench import past
from bench.promises import Place
from bench.scale import Spent, run

VERBS = {
    "log -n 20": ["log", "-n", "20"],
    "log --verdict block --since 1h": ["log", "--verdict", "block", "--since", "1h"],
    "stats --since 60d, for the first time": ["stats", "--since", "60d"],
    "stats --since 60d": ["stats", "--since", "60d"],
    "verify": ["verify"],
    "report git/forced-push": ["report", "git/forced-push"],
    "backtest guard": ["backtest", "guard"],
}

MOST_JUDGED = 20_000
"""More calls are not judged again by 144 rules: that takes minutes, and grows with the calls."""


def filled(fleet: Path, machines: int, records: int) -> None:
    """Machines with records of the shapes that real hooks leave, each with its own times."""
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name))
        past.hooks(place)
        kinds = past.templates(place)
    for number in range(machines):
        folder = fleet / f"{MACHINE}{number * 0x9E3779B97F4A7C15 % 2**64:016x}"
        folder.mkdir(parents=True)
        past.write_of(kinds, str(folder), records, time.time_ns() - number * 10**9)


def measured(root: Path, machines: int, records: int) -> dict[str, Spent]:
    place, fleet = Place(root), root / "fleet"
    filled(fleet, machines, records)
    run(["add", "guard", "--yes"], place)
    size = sum(path.stat().st_size for path in fleet.rglob("*.jsonl"))
    print(f"{machines:,} machines with {records:,} records each, {size / 1e6:,.0f} MB", flush=True)
    found: dict[str, Spent] = {}
    for name, words in VERBS.items():
        if words[0] == "backtest" and machines * records > MOST_JUDGED:
            continue
        found[name] = spent = run([*words, "--from", str(fleet)], place)
        print(f"  {name:40} {spent.seconds:8.1f} s {spent.cpu_s:8.1f} s of CPU {spent.peak_mb:7.0f} MB", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description="Measures many machines.")
    parser.add_argument("machines", type=int, nargs="?", default=1_000)
    parser.add_argument("records", type=int, nargs="?", default=1_000)
    given = parser.parse_args()
    for machines in (max(1, given.machines // 10), given.machines):
        with tempfile.TemporaryDirectory() as name:
            measured(Path(name), machines, given.records)


if __name__ == "__main__":
    main()
