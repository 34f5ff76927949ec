"""Hooks of one event that run in parallel: with or without an event loop, they are ended together and judged in the
order of declaration, whichever ends first."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from pathlib import Path

import pytest

from anyhook import Decision, Event
from conftest import World

CALL = Event.pre_tool("Bash", {"command": "ls"})
MEET = """cat > /dev/null; touch {me}; i=0
while [ ! -f {other} ]; do sleep 0.05; i=$((i+1)); [ $i -lt 400 ] || exit 1; done"""


def fire(world: World, way: str) -> Decision:
    engine = world.engine()
    return engine.fire_sync(CALL) if way == "sync" else asyncio.run(engine.fire(CALL))


@pytest.mark.parametrize("way", ["sync", "async"])
def test_they_meet(world: World, way: str) -> None:
    """Each waits for the other, so neither would end if they ran one after the other."""
    for me, other in (("a", "b"), ("b", "a")):
        world.hook("claude", "PreToolUse", f"{MEET.format(me=me, other=other)}; echo {me} >&2; exit 2")
    decision = fire(world, way)
    assert [report.exit_code for report in decision.hooks] == [2, 2]
    assert (decision.verdict, decision.reason) == ("block", "a")
    (record,) = world.journal() or [{}]
    assert [call["failed"] for call in record["calls"]] == [None, None]


@pytest.mark.parametrize("last", ["0", "1", "2"])
def test_the_order_in_which_they_end_does_not_matter(world: World, last: str) -> None:
    """Whichever ends last, the answers are merged in the order of declaration."""
    for me in "012":
        others = [f"[ -f {other} ]" for other in "012" if other != me]
        wait = f"i=0; until {' && '.join(others)}; do sleep 0.05; i=$((i+1)); [ $i -lt 400 ] || exit 1; done"
        answer = f"""echo '{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "additionalContext": "{me}",
            "updatedInput": {{"command": "{me}"}}}}}}'"""
        script = f"cat > /dev/null; {wait if me == last else 'true'}; {answer}; touch {me}"
        world.hook("claude", "PreToolUse", script)
    decision = fire(world, "sync")
    assert decision.context == ("0", "1", "2")
    assert decision.tool_input == {"command": "2"}


def test_each_limit_is_its_own(world: World) -> None:
    for number in range(3):
        world.hook("claude", "PreToolUse", f"sleep 60{number}", timeout=1)
    decision = fire(world, "sync")
    assert [report.ending for report in decision.hooks] == ["timed_out"] * 3


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_a_cancelled_caller_ends_all_of_them(world: World) -> None:
    for number in range(3):
        world.hook("claude", "PreToolUse", f"echo $$ > pid{number}; exec sleep 30{number}")

    async def cancelled() -> None:
        firing = asyncio.create_task(world.engine().fire(CALL))
        for _ in itertools.repeat(None, 2400):
            if all((world.project / f"pid{number}").exists() for number in range(3)):
                break
            await asyncio.sleep(0.05)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    asyncio.run(cancelled())
    for number in range(3):
        pid = int((world.project / f"pid{number}").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    (record,) = world.journal()
    assert [call["failed"] for call in record["calls"]] == ["cancelled"] * 3


def test_nothing_stays_behind(world: World) -> None:
    for number in range(4):
        world.hook("claude", "PreToolUse", f"true # {number}")
    engine = world.engine()
    before = threading.active_count()
    for _ in range(5):
        engine.fire_sync(CALL)
    watching = [thread for thread in threading.enumerate() if thread.name == "anyhook-watch"]
    for thread in watching:
        thread.join(120)
    assert threading.active_count() <= before + 1, "the journal's writer may be one"
