"""`python -m bench.scale [records]`: the journal's verbs over a million records and over a tenth of them, each in a
separate process: seconds, CPU time and peak memory. It prints a table and writes bench/out/scale.json; no test asserts
any of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench import past
from bench.promises import Place

ANYHOOK = str(Path(sys.executable).parent / "anyhook")
LAUNCHER = str(Path(__file__).with_name("launcher.py"))
QUICK_S = 2.0
"""Anything faster is measured three times, and the best counts, because the machine may be busy."""


class Spent(NamedTuple):
    """One process."""

    seconds: float
    cpu_s: float
    peak_mb: float
    """The peak of the largest process, if several share the work."""
    said: str
    """The end of its output."""


def run(words: list[str], place: Place) -> Spent:
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as told:
        streams = [(os.POSIX_SPAWN_DUP2, each.fileno(), number) for each, number in ((said, 1), (said, 2), (told, 3))]
        command = [sys.executable, "-I", "-S", LAUNCHER, ANYHOOK, *words]
        os.waitpid(os.posix_spawn(sys.executable, command, place.env, file_actions=streams), 0)
        said.seek(max(0, said.seek(0, os.SEEK_END) - 200))
        end = said.read().decode("utf-8", "replace")
        told.seek(0)
        status, seconds, cpu_s, peak_mb = map(float, told.read().split())
    if status != 0:
        raise SystemExit(f"bench: anyhook {' '.join(words)}: {end}")
    return Spent(seconds, cpu_s, peak_mb, end)


def best(words: list[str], place: Place) -> Spent:
    tries = [run(words, place)]
    while tries[-1].seconds < QUICK_S and len(tries) < 3:
        tries.append(run(words, place))
    return min(tries)


def cases(count: int) -> dict[str, list[str]]:
    """The calls that a person makes. The order matters, because the first calls fill the index."""
    middle = count // 2
    return {
        "log -n 20": ["log", "-n", "20"],
        "log -n 20 --verdict block": ["log", "-n", "20", "--verdict", "block"],
        "log --since 1h": ["log", "--since", "1h"],
        "log --session, one in the middle": ["log", "--session", f"session-{middle // 200}"],
        "log --text, found once": ["log", "--text", f"-{middle}"],
        "log --tool Bash --verdict block, 100,000 found": ["log", "--tool", "Bash", "--verdict", "block"],
        "explain, the first": ["explain", "1"],
        "explain, one in the middle": ["explain", str(middle)],
        "explain last": ["explain", "last"],
        "stats, for the first time": ["stats"],
        "stats": ["stats"],
        "stats --since 60d, for the first time": ["stats", "--since", "60d"],
        "stats --since 60d": ["stats", "--since", "60d"],
        "stats --since 60d --session": ["stats", "--since", "60d", "--session", f"session-{middle // 200}"],
        "log --search, a common word": ["log", "-n", "20", "--search", "journal"],
        "log --search, two words": ["log", "--search", f"parser {middle + 4}"],
        "log --search, a rare word": ["log", "--search", str(middle)],
        "verify": ["verify"],
        "replay": ["replay"],
        "replay --since 1d": ["replay", "--since", "1d"],
        "replay --on-failure deny": ["replay", "--on-failure", "deny"],
        "export": ["export", "--format", "jsonl", "-o", os.devnull],
    }


def measured(folder: Path, count: int) -> dict[str, Spent]:
    place = Place(folder)
    past.hooks(place)
    begun = time.perf_counter()
    past.write(place, count, time.time_ns())
    size = sum(path.stat().st_size for path in past.state_of(place).glob("journal*.jsonl"))
    print(f"{count:,} records, {size / 1e6:,.0f} MB, written in {time.perf_counter() - begun:.1f} s", flush=True)
    found: dict[str, Spent] = {}
    for name, words in cases(count).items():
        found[name] = run(words, place) if name.endswith("first time") else best(words, place)
        seconds, cpu_s, peak_mb, _ = found[name]
        print(f"  {name:48} {seconds:8.2f} s {cpu_s:8.2f} s of processor time {peak_mb:7.1f} MB", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Measures the journal's verbs.")
    parser.add_argument("records", type=int, nargs="?", default=1_000_000, help="default: a million")
    count: int = parser.parse_args().records
    with tempfile.TemporaryDirectory() as name:
        small, large = measured(Path(name) / "small", count // 10), measured(Path(name) / "large", count)
    print(f"\n| | {count // 10:,} records | | | {count:,} records | | |\n| --- |{' ---: |' * 6}")
    for name, spent in large.items():
        less = small[name]
        sizes = (f"{each.seconds:.2f} s | {each.cpu_s:.2f} s | {each.peak_mb:.0f} MB" for each in (less, spent))
        print(f"| `{name}` | {' | '.join(sizes)} |")
    out = Path(__file__).parent / "out" / "scale.json"
    out.parent.mkdir(exist_ok=True)
    kept = {
        size: {name: spent._asdict() for name, spent in found.items()}
        for size, found in ((count // 10, small), (count, large))
    }
    out.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
