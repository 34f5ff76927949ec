"""The runner of handlers that ask a model, in process: its entry point, its limit, its end, and the question that it
asks."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from anyhook import Engine, Event
from anyhook.agents.kolega import ASKING
from anyhook.handlers.model import indented, question
from anyhook.handlers.tools import MAX_MATCHES, MAX_TEXT, Workplace, clipped
from conftest import World
from each_of import each_of
from living import lives

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


def engine(world: World, answer: str, *commands: str) -> Engine:
    """An engine whose model runs these commands in turn, then gives the answer."""

    async def reply(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        turn = len(messages) // 2
        if turn < len(commands):
            return ModelResponse(parts=[ToolCallPart("shell", {"command": commands[turn]})])
        return ModelResponse(parts=[TextPart(answer)])

    return Engine.open(world.project, env=world.env, model=FunctionModel(reply))


def test_a_programs_own_model(world: World) -> None:
    world.kolega("Stop", {"type": "prompt", "prompt": "p"})
    decision = engine(world, '{"ok": false, "reason": "no"}').fire_sync(Event.stop())
    assert (decision.verdict, decision.reason) == ("block", "no")


def test_another_model_for_one_event(world: World) -> None:
    world.kolega("Stop", {"type": "prompt", "prompt": "p"})
    plain = Engine.open(world.project, env=world.env)
    assert plain.fire_sync(Event.stop()).hooks[0].status == "broken"
    other = engine(world, '{"ok": false, "reason": "no"}').context.model
    assert plain.fire_sync(Event.stop(), model=other).reason == "no"


def test_without_the_extra(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.kolega("Stop", {"type": "prompt", "prompt": "p"})
    monkeypatch.delitem(sys.modules, "anyhook.handlers.model_client", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    decision = Engine.open(world.project, env=world.env, model="openai:x").fire_sync(Event.stop())
    assert (decision.verdict, decision.hooks[0].status) == ("none", "broken")
    assert "pip install 'anyhook[llm]'" in (decision.hooks[0].why or "")


def test_an_event_fired_by_a_tool_reaches_no_hook(world: World) -> None:
    """The model belongs to the program here: whatever it does while it is asked happens inside a hook."""
    world.kolega("Stop", {"type": "agent", "prompt": "p"})
    world.hook("kolega", "PreToolUse", "touch fired")
    inner: list[str] = []

    async def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        decision = await opened.fire(Event.pre_tool("Shell", {"command": "ls"}))
        inner.extend(problem.code for problem in decision.problems)
        return ModelResponse(parts=[TextPart('{"ok": true}')])

    opened = Engine.open(world.project, env=world.env, model=FunctionModel(reply))
    assert opened.fire_sync(Event.stop()).hooks[0].status == "ran"
    assert inner == ["nested-event"]
    assert not (world.project / "fired").exists()


def is_gone(pid: int) -> bool:
    """Wait until the process is gone: another thread ends it and may be late. The test's own timeout limits the
    wait."""
    while lives(pid):
        time.sleep(0.05)
    return True


STAYS = "(setsid sleep 300 & echo $! > far) ; sleep 300 & echo $! > near; wait"


@needs_proc
def test_at_the_limit_its_commands_end(world: World) -> None:
    world.kolega("Stop", {"type": "agent", "prompt": "p", "timeout": 2})
    decision = engine(world, "never", STAYS).fire_sync(Event.stop())
    report = decision.hooks[0]
    assert (decision.verdict, report.ending) == ("none", "timed_out")
    assert all(is_gone(int((world.project / name).read_text())) for name in ("near", "far"))


@needs_proc
def test_cancelled_its_commands_end(world: World) -> None:
    world.kolega("Stop", {"type": "agent", "prompt": "p", "timeout": 60})

    async def give_up() -> None:
        firing = asyncio.ensure_future(engine(world, "never", STAYS).fire(Event.stop()))
        while not (world.project / "near").exists() or not (world.project / "near").read_text():
            assert not firing.done()
            await asyncio.sleep(0.05)
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    asyncio.run(give_up())
    assert all(is_gone(int((world.project / name).read_text())) for name in ("near", "far"))
    (line,) = world.journal()
    assert line["calls"][0]["run"]["ending"] == "cancelled"


def test_the_loop_is_not_held_and_many_ask_at_once(world: World) -> None:
    world.kolega("Stop", {"type": "prompt", "prompt": "p"})
    waiting = 0

    async def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        nonlocal waiting
        waiting += 1
        while waiting < 3:  # each answers only after all have been asked
            await asyncio.sleep(0.01)
        return ModelResponse(parts=[TextPart('{"ok": false, "reason": "no"}')])

    opened = Engine.open(world.project, env=world.env, model=FunctionModel(reply))

    async def fire_all() -> list[str | None]:
        return [made.reason for made in await asyncio.gather(*(opened.fire(Event.stop()) for _ in range(3)))]

    assert asyncio.run(fire_all()) == ["no"] * 3


def test_too_long_an_answer(world: World) -> None:
    world.kolega("Stop", {"type": "prompt", "prompt": "p"})
    report = engine(world, "x" * (11 * 1024 * 1024)).fire_sync(Event.stop()).hooks[0]
    assert (report.ending, len(report.stdout or "")) == ("overflowed", 10 * 1024 * 1024)


# The question.


@each_of(
    ("prompt", "ends"),
    [
        ("Fine?", 'Event:\n{\n  "a": "$EVENT é"\n}'),
        ("$EVENT", '{\n  "a": "$EVENT é"\n}'),
        ("1 $ARGUMENTS 2 $EVENT 3", '1 {\n  "a": "$EVENT é"\n} 2 {\n  "a": "$EVENT é"\n} 3'),
        (r"\1 \g<0> $EVENT", r"\1 \g<0> " + '{\n  "a": "$EVENT é"\n}'),
    ],
)
def test_the_event_takes_its_place(prompt: str, ends: str) -> None:
    asked = question(prompt, '{"a": "$EVENT é"}'.encode(), ASKING, "m1", with_tools=False)
    assert f"]\n{ends}\n\n[m1 END]" in asked.text
    assert asked.text.endswith(f"Answer with one JSON object: {ASKING.reply}.")
    assert '"ok"' in asked.system


def test_half_a_character_can_be_sent() -> None:
    assert indented({"a": "\ud800"}).encode() == b'{\n  "a": "\\ud800"\n}'


# The tools.


@pytest.fixture
def place(world: World) -> Workplace:
    world.write(world.project / "a.txt", "one\ntwo\nthree\n")
    world.write(world.project / "sub" / "b.txt", "two\n" * (MAX_MATCHES + 5))
    world.write(world.project / ".git" / "config", "two\n")
    (world.project / "c.bin").write_bytes(b"two\0")
    return Workplace(str(world.project), {"PATH": os.environ["PATH"]}, "n1", time.monotonic() + 120)


def test_reading(place: Workplace) -> None:
    assert asyncio.run(place.read_file("a.txt", 2, 1)) == "two\n"
    assert asyncio.run(place.read_file("a.txt", 9)) == "(nothing there)"
    assert "No such file" in asyncio.run(place.read_file("none"))
    assert asyncio.run(place.read_file("a\0b")).startswith("error:")
    assert place.notes().splitlines()[0] == "read_file a.txt"


def test_listing(place: Workplace) -> None:
    assert asyncio.run(place.list_files()).splitlines() == ["a.txt", "c.bin", "sub/b.txt"]
    assert asyncio.run(place.list_files("nowhere")) == "(no files)"


def test_searching(place: Workplace) -> None:
    found = asyncio.run(place.grep("^tw")).splitlines()
    assert found[0] == "a.txt:2: two"
    assert (len(found), found[-1]) == (MAX_MATCHES + 1, "(and more)")
    assert asyncio.run(place.grep("thr", "a.txt")) == "a.txt:3: three"
    assert asyncio.run(place.grep("zzz")) == "(no match)"
    assert asyncio.run(place.grep("(")).startswith("error:")


def test_running(place: Workplace, world: World) -> None:
    said = asyncio.run(place.shell("pwd; echo bad >&2; echo $ANYHOOK_RUN; exit 4"))
    assert said == f"exit status 4\nstdout:\n{world.project.resolve()}\nn1\n\nstderr:\nbad\n"
    assert asyncio.run(place.shell("sleep 60", 0.1)).startswith("it was ended: timed_out")


def test_long_texts_lose_their_middle() -> None:
    text = clipped("a" * MAX_TEXT + "b" * MAX_TEXT)
    assert len(text) < MAX_TEXT + 100
    assert (text[0], text[-1]) == ("a", "b")
