"""A long session: many tool calls, ten hooks at each, nothing lost and memory that does not run away. It asserts no
time."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter

import pytest
from agent_box import script

from anyhook.agent.options import Options
from anyhook.agent.session import Session
from anyhook.model.event import Event
from conftest import World

CALLS, CALLABLES = 500, 8
MOST_GROWTH = 40_000_000
"""Bytes in the second half of the session: its messages, and what the allocator makes of them."""


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_five_hundred_calls_with_ten_hooks_each(world: World) -> None:
    world.write(world.project / "a.txt", "one line\n")
    world.hook("kode", "tool_call_pre", "exit 0")
    world.hook("agenthooks", "before_tool", "exit 0")
    model = script(world, {"tools": [{"read_file": {"path": "a.txt"}}] * 25, "times": CALLS // 25}, "Done.")
    sizes: list[int] = []
    options = Options(project=str(world.project), env=world.env, model=model, permission="auto", max_turns=0)
    session = Session(options, log=lambda record: sizes.append(resident()))
    session.open()
    seen: Counter[str] = Counter()

    def count(name: str) -> None:
        def hook(event: Event) -> None:
            seen[name] += 1

        session.engine.on("pre_tool", hook, name=name)

    for number in range(CALLABLES):
        count(f"hook-{number}")

    async def whole() -> str:
        await session.start()
        turn = await session.turn("Go.")
        await session.end("completed")
        return f"{turn.stop}: {turn.text}{turn.why}"

    assert asyncio.run(whole()) == "done: Done."
    assert seen == {f"hook-{number}": CALLS for number in range(CALLABLES)}
    lines = [line for line in world.journal() if line["event"] == "pre_tool"]
    assert len(lines) == CALLS
    assert {len(line["decision"]["hooks"]) for line in lines} == {CALLABLES + 2}
    assert {call["run"]["exit_code"] for line in lines for call in line["calls"]} == {0}
    assert len({line["data"]["call_id"] for line in lines}) == CALLS
    assert sizes[-1] - sizes[CALLS // 2] < MOST_GROWTH
