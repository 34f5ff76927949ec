"""A long session with many tool calls and ten hooks per call. Nothing is lost, and memory stays bounded. These tests do
not measure time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from types import FrameType

import pytest
from agent_box import script
from pydantic_ai import Agent, UsageLimits

from anyhook.extra.agent.equipment import EXPLORE, GENERAL, Equipment
from anyhook.extra.agent.models import open_model
from anyhook.extra.agent.session import INSTRUCTIONS, Session
from anyhook.extra.agent.settings import AgentSettings, SessionOptions
from anyhook.extra.agent.tools import tools
from anyhook.model.event import Event
from conftest import World

CALLS, CALLABLES = 500, 8
MOST_GROWTH = 12_000_000
"""The most bytes that the second half of the session may add: its messages, and the allocator's overhead."""


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
    options = SessionOptions(project=str(world.project), env=world.env, model=model, permission="auto", max_turns=0)
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


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_same_by_the_command_with_real_processes(world: World) -> None:
    """Ten hooks of five dialects run at every call. Each process counts its run, and one logs the agent's memory."""
    world.write(world.project / "a.txt", "one line\n")
    size = "cut -d' ' -f2 /proc/$PPID/statm >> ../sizes"
    for number in range(2):
        count = f"cat >/dev/null; echo {number} >>"
        world.hook("kode", "tool_call_pre", f"{count} ../kode")
        world.hook("kodik", "PreToolUse", f"{count} ../kodik")
        world.hook("agenthooks", "before_tool", f"{count} ../agenthooks", name=f"it-{number}")
        world.hook("kolega", "PreToolUse", f"{count} ../kolega; {size if number else 'true'}")
        world.hook("kodelet", "before_tool_call", f"{count} ../kodelet", name=f"it-{number}")
    model = script(world, {"tools": [{"read_file": {"path": "a.txt"}}] * 10, "times": CALLS // 10}, "Done.")
    words = ["agent", "run", "Go.", "--model", model, "--max-turns", "0", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "anyhook", *words], env=world.env, cwd=world.project, capture_output=True, check=False
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["text"], len(report["tool_calls"])) == (0, "Done.", CALLS), done.stderr
    for name in ("kode", "kodik", "agenthooks", "kolega", "kodelet"):
        assert Counter((world.root / name).read_text().split()) == {"0": CALLS, "1": CALLS}, name
    lines = [line for line in world.journal() if line["event"] == "pre_tool"]
    runs = [call["run"]["exit_code"] for line in lines for call in line["calls"]]
    assert (len(lines), len(runs), set(runs)) == (CALLS, 10 * CALLS, {0})
    sizes = [int(pages) * os.sysconf("SC_PAGESIZE") for pages in (world.root / "sizes").read_text().split()]
    assert len(sizes) == CALLS
    assert sizes[-1] - sizes[CALLS // 2] < MOST_GROWTH


async def function_calls(turn: Callable[[], Awaitable[str]]) -> int:
    """How many functions a turn calls in this thread, including C functions."""
    count = 0

    def note(_frame: FrameType, what: str, _argument: object) -> None:
        nonlocal count
        count += what in ("call", "c_call")

    sys.setprofile(note)
    try:
        said = await turn()
    finally:
        sys.setprofile(None)
    assert said == "Done."
    return count


def test_without_a_hook_the_agent_is_little_more_than_the_framework(world: World) -> None:
    """Compares a turn of our session, engine included, with the framework alone, with the same model and tools. Counts
    function calls, which do not depend on how busy the machine is."""
    world.write(world.project / "a.txt", "one line\n")
    step = {"tools": [{"read_file": {"path": "a.txt"}}], "times": 30}
    model = script(world, step, "Done.", step, "Done.")
    session = Session(
        SessionOptions(project=str(world.project), env=world.env, model=model, permission="auto", max_turns=0)
    )
    session.open()
    given = tools(str(world.project), world.env, AgentSettings())
    same = Equipment(types=[EXPLORE, GENERAL]).capabilities(given, lambda name: session.model, print)
    alone = Agent(open_model(model, {}, world.env), instructions=INSTRUCTIONS, capabilities=same)

    async def by_session() -> str:
        session.history = []
        return (await session.turn("Go.")).text

    async def by_framework() -> str:
        return (await alone.run("Go.", usage_limits=UsageLimits(request_limit=None))).output

    async def ratio() -> float:
        await session.start()
        for turn in (by_session, by_framework):  # warm up: the first turn loads modules
            await turn()
        ours, theirs = await function_calls(by_session), await function_calls(by_framework)
        await session.end("completed")
        return ours / theirs

    assert asyncio.run(ratio()) < 1.05
