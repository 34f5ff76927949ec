"""What one bridged event adds to an agent: CPU time of `anyhook bridge`, process start included, with the payload that
the agent really sent. No test asserts any of it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from anyhook.tables.registry import HOSTS, host
from bench.promises import Place, Row, cpu_of, high, quartile, ratio

if TYPE_CHECKING:
    from pathlib import Path

PAYLOADS = "tests/data/payloads"
AT_MOST = 2.0
"""The bound if nothing is hooked, as a multiple of a bare interpreter start."""


def bridged(folder: Path, rounds: int) -> list[Row]:
    """Before a tool, if nothing is hooked: what every call costs an agent."""
    found = dict(_payloads())
    if not found:
        return []
    place = Place(folder)
    silence = os.open(os.devnull, os.O_WRONLY)
    launcher = os.path.join(os.path.dirname(sys.executable), "anyhook")
    argvs = {agent: [launcher, "bridge", agent, event] for agent, (event, _) in found.items()}
    cases = {"pass": [sys.executable, "-c", "pass"], "no-op": ["/bin/sh", "-c", ":"], **argvs}
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(max(15, rounds // 10)):
        for name, argv in cases.items():
            payload = found[name][1] if name in found else os.devnull
            spent_s = cpu_of(argv, {**place.env, "PWD": str(place.project)}, silence, stdin=payload)
            if number:  # the first call stores a plan
                taken[name].append(spent_s)
    os.close(silence)
    ordered = {name: sorted(times) for name, times in taken.items()}
    idle = ordered["no-op"]
    return [
        *(
            ratio(
                f"anyhook bridge {agent} {found[agent][0]}",
                "python -c pass, CPU",
                ordered[agent],
                ordered["pass"],
                AT_MOST,
            )
            for agent in found
        ),
        Row("a no-op shell hook", "absolute, CPU", quartile(idle) * 1e3, high(idle) * 1e3, float("inf"), "ms"),
        *(
            Row(f"anyhook bridge {agent}, above it", "absolute, CPU", *_above(ordered[agent], idle), float("inf"), "ms")
            for agent in found
        ),
    ]


def _above(ours: list[float], idle: list[float]) -> tuple[float, float]:
    return (quartile(ours) - quartile(idle)) * 1e3, (high(ours) - high(idle)) * 1e3


def _payloads() -> list[tuple[str, tuple[str, str]]]:
    """Agent → its event before a tool, and a payload of that event."""
    rows = [
        (name, row.native)
        for name in HOSTS
        if host(name).entry is not None
        for row in host(name).events
        if "pre_tool" in row.canonical
    ]
    paths = [(name, native, f"{PAYLOADS}/{name}/{native}.json") for name, native in rows]
    return [(name, (native, path)) for name, native, path in paths if os.path.exists(path)]
