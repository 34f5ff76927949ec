"""The engine with real processes: both ways to fire, in parallel, cancelled, in the background, and from inside a
hook."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from anyhook import Decision, Engine, Event, Outcome
from conftest import World
from living import lives

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from anyhook.model.json_types import Json


SHELL = Event.pre_tool("Bash", {"command": "ls", "n": 1})


def plain(decision: Decision) -> dict[str, Any]:
    """A decision without its timings."""
    made: dict[str, Any] = dict(decision.as_dict())
    for report in made["hooks"]:
        report.pop("duration_ms")
    return made


def until(true: Callable[[], object], limit_s: float = 120.0) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def pids_in(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()] if path.exists() else []


# -- both ways


def test_fire_and_fire_sync_agree(world: World) -> None:
    world.hook("kode", "tool_call_pre", """echo '{"annotation": "seen", "replace_tool_input": {"command": "pwd"}}'""")
    asks = """echo '{"decision": "ask", "reason": "sure?", "additional_context": "c"}'"""
    world.hook("agenthooks", "before_tool", asks)
    world.hook("kolega", "PreToolUse", "exit 7")
    world.hook("kodelet", "before_tool_call", """echo '{"blocked": true, "reason": "no"}'""")
    world.hook("kodelet", "user_message_send", "true", name="other")
    engine = world.engine(session="s")
    first = plain(engine.fire_sync(SHELL))
    assert (first["verdict"], first["reason"], first["tool_input"]) == ("block", "no", {"command": "pwd"})
    assert (first["context"], first["messages"]) == (["c"], ["seen"])

    async def both() -> list[Decision]:
        return [await engine.fire(SHELL), await engine.fire(Event.stop())]

    fired, quiet = asyncio.run(both())
    assert plain(fired) == first
    assert plain(quiet) == plain(engine.fire_sync(Event.stop()))


def test_the_loop_goes_on_while_a_hook_runs(world: World) -> None:
    """A hook that waits for a file which only the loop's other task writes."""
    flag = world.root / "flag"
    world.hook("kodik", "Stop", f"while [ ! -e '{flag}' ]; do sleep 0.02; done")
    engine = world.engine()

    async def both() -> Decision:
        fired = asyncio.create_task(engine.fire(Event.stop()))
        await asyncio.sleep(0.05)
        flag.touch()
        return await fired

    decision = asyncio.run(both())
    assert [(report.ending, report.exit_code) for report in decision.hooks] == [("exited", 0)]


# -- in parallel


NUMBER = r"""sed 's/.*"n": \([0-9]*\).*/{"additional_context": "\1"}/'"""


def test_two_hundred_tasks_on_one_engine(world: World) -> None:
    world.hook("kodik", "PreToolUse", NUMBER)
    engine = world.engine()

    async def one(number: int) -> tuple[str, ...]:
        decision = await engine.fire(Event.pre_tool("Bash", {"n": number}))
        return decision.context

    async def all_of_them() -> list[tuple[str, ...]]:
        return await asyncio.gather(*(one(number) for number in range(200)))

    assert asyncio.run(all_of_them()) == [(str(number),) for number in range(200)]
    engine.close_sync()
    lines = world.journal()
    assert sorted(line["data"]["input"]["n"] for line in lines) == list(range(200))


def test_many_engines_and_threads_at_once(tmp_path: Path) -> None:
    worlds = [World(tmp_path / str(number)) for number in range(6)]
    for number, world in enumerate(worlds):
        world.hook("kodik", "PreToolUse", f"""echo '{{"additional_context": "world {number}"}}'""")

    def use(number: int) -> set[tuple[str, ...]]:
        engine = worlds[number].engine()
        found: set[tuple[str, ...]] = {engine.fire_sync(SHELL).context for _ in range(4)}
        found.add(asyncio.run(engine.fire(SHELL)).context)
        engine.close_sync()
        return found

    with ThreadPoolExecutor(6) as threads:
        results = list(threads.map(use, range(6)))
    assert results == [{(f"world {number}",)} for number in range(6)]
    assert [len(world.journal()) for world in worlds] == [5] * 6


def test_one_engine_in_many_threads(world: World) -> None:
    world.hook("kodik", "PreToolUse", NUMBER)
    engine = world.engine()

    def one(number: int) -> tuple[str, ...]:
        engine.fire_sync(Event.stop(turns=number))
        return engine.fire_sync(Event.pre_tool("Bash", {"n": number})).context

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(one, range(40))) == [(str(number),) for number in range(40)]
    engine.close_sync()
    assert len(world.journal()) == 80


# -- cancelled


def test_cancelling_ends_the_hooks_processes_and_nothing_else(world: World) -> None:
    pids = world.root / "pids"
    world.hook("kodik", "PreToolUse", f"sleep 300 & echo $$ $! > '{pids}'; wait")
    world.hook("kodik", "Stop", 'echo \'{"additional_context": "here"}\'')
    engine = world.engine()

    async def cancel() -> None:
        task = asyncio.create_task(engine.fire(SHELL))
        while len(pids_in(pids)) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await engine.fire(Event.stop())).context == ("here",)

    asyncio.run(cancel())
    until(lambda: not any(lives(pid) for pid in pids_in(pids)))
    assert engine.fire_sync(Event.stop()).context == ("here",)
    engine.close_sync()
    cancelled, *others = world.journal()
    assert [call["run"]["ending"] for call in cancelled["calls"]] == ["cancelled"]
    assert cancelled["event"] == "pre_tool"
    assert [line["event"] for line in others] == ["stop", "stop"]


def test_ctrl_c_ends_the_hook_of_a_waiting_caller(world: World) -> None:
    pids = world.root / "pids"
    world.hook("kodik", "PreToolUse", f"sleep 300 & echo $$ $! > '{pids}'; wait")
    engine = world.engine()

    def interrupt() -> None:
        until(lambda: len(pids_in(pids)) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        engine.fire_sync(SHELL)
    thread.join()
    until(lambda: not any(lives(pid) for pid in pids_in(pids)))
    engine.close_sync()
    assert [line["event"] for line in world.journal()] == ["pre_tool"]


def test_a_cancelled_event_starts_no_background_hook(world: World) -> None:
    flag, started = world.root / "flag", world.root / "started"
    world.hook("agenthooks", "after_tool", f"touch '{flag}'", name="late", async_=True)
    world.hook("agenthooks", "after_tool", f"touch '{started}'; sleep 300", name="slow")
    engine = world.engine()

    async def cancel() -> None:
        task = asyncio.create_task(engine.fire(Event.post_tool("Bash", {}, "out")))
        while not started.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancel())
    engine.close_sync()
    assert not flag.exists()


# -- in the background


def test_close_waits_for_background_hooks(world: World) -> None:
    done = world.root / "done"
    world.hook("agenthooks", "after_tool", f"sleep 0.3; echo over > '{done}'", async_=True)
    engine = world.engine()

    async def fire_and_close() -> Decision:
        decision = await engine.fire(Event.post_tool("Bash", {}, "out"))
        assert not done.exists()
        await engine.close(limit_s=30)
        return decision

    decision = asyncio.run(fire_and_close())
    assert done.read_text() == "over\n"
    assert [(report.status, report.ending) for report in decision.hooks] == [("background", None)]
    fired, ended = world.journal()
    assert fired["event"] == "post_tool"
    assert ended["background"] == decision.hooks[0].id
    assert ended["run"]["exit_code"] == 0


def test_close_ends_what_outlives_its_bound(world: World) -> None:
    pids = world.root / "pids"
    world.hook("agenthooks", "after_tool", f"sleep 300 & echo $$ $! > '{pids}'; wait", async_=True)
    engine = world.engine()
    engine.fire_sync(Event.post_tool("Bash", {}, "out"))
    until(lambda: len(pids_in(pids)) == 2)
    engine.close_sync(limit_s=0.05)
    until(lambda: not any(lives(pid) for pid in pids_in(pids)))
    assert world.journal()[-1]["run"]["ending"] == "cancelled"
    assert engine.fire_sync(Event.stop()).verdict == "none"


# -- the program's own callables


def context(_event: Event) -> Outcome:
    return Outcome(context=("from the program",))


def test_callables_come_first_and_count(world: World) -> None:
    world.hook("kodik", "PreToolUse", 'echo \'{"additional_context": "from a file"}\'')
    engine = world.engine()
    engine.on("PreToolUse", context)
    engine.on("pre_tool", lambda event: Outcome(tool_input={**event.get("input"), "safe": True}), name="rewrites")  # type: ignore[dict-item]
    engine.on("pre_tool", lambda event: Outcome(context=(str(event.get("input")),)), name="sees it")
    decision = engine.fire_sync(SHELL)
    assert decision.context == ("from the program", "{'command': 'ls', 'n': 1, 'safe': True}", "from a file")
    assert decision.tool_input == {"command": "ls", "n": 1, "safe": True}
    assert [report.scope for report in decision.hooks] == ["managed", "managed", "managed", "user"]
    assert asyncio.run(engine.fire(SHELL)).context == decision.context


def test_a_callable_blocks_and_the_rest_is_skipped(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true")
    engine = world.engine()
    engine.on("pre_tool", lambda _: Outcome.block("not here"), name="guard")
    decision = engine.fire_sync(SHELL)
    assert (decision.verdict, decision.effect, decision.reason) == ("block", "deny_tool", "not here")
    assert decision.hook == "inprocess:managed:pre_tool:guard"
    assert [report.status for report in decision.hooks] == ["ran", "skipped"]


def test_a_callable_with_nothing_to_say(world: World) -> None:
    engine = world.engine()
    engine.on("pre_tool", lambda _: None)
    decision = engine.fire_sync(SHELL)
    assert (decision.verdict, decision.problems) == ("none", ())


def test_silent_callables_under_another_mode(world: World) -> None:
    engine = world.engine()
    engine.on("pre_tool", lambda _: None)
    decision = engine.fire_sync(SHELL, mode="shadow")
    assert (decision.verdict, decision.enforced, decision.problems) == ("none", False, ())
    assert [report.status for report in decision.hooks] == ["ran"]
    assert asyncio.run(engine.fire(SHELL, mode="shadow")) == decision


def test_callables_are_called_once_each(world: World) -> None:
    engine = world.engine()
    called: list[str] = []
    engine.on("pre_tool", lambda _: called.append("first"), name="first")

    def speaks(_event: Event) -> Outcome:
        called.append("second")
        return Outcome(context=("c",))

    engine.on("pre_tool", speaks)
    engine.on("pre_tool", lambda _: called.append("third"), name="third")
    assert engine.fire_sync(SHELL).context == ("c",)
    assert asyncio.run(engine.fire(SHELL)).context == ("c",)
    assert called == ["first", "second", "third"] * 2


def broken(_event: Event) -> Outcome:
    raise RuntimeError("oh no")


@pytest.mark.parametrize(
    ("callback", "says"), [(broken, "RuntimeError: oh no"), (lambda _: {"verdict": "block"}, "returned dict")]
)
def test_a_broken_callable_is_its_own_failure(world: World, callback: Callable[[Event], Outcome], says: str) -> None:
    engine = world.engine()
    engine.on("pre_tool", callback, name="broken")
    engine.on("pre_tool", context)
    decision = engine.fire_sync(SHELL)
    assert (decision.verdict, decision.context) == ("none", ("from the program",))
    assert [says in problem.what for problem in decision.problems] == [True]
    assert engine.fire_sync(SHELL, on_failure="deny").verdict == "block"


def test_a_callables_matcher(world: World) -> None:
    engine = world.engine()
    engine.on("pre_tool", context, matcher="Bash|Edit")
    assert engine.fire_sync(Event.pre_tool("Edit", {})).context == ("from the program",)
    other = engine.fire_sync(Event.pre_tool("Read", {}))
    assert (other.context, [report.status for report in other.hooks]) == ((), ["unmatched"])


def test_a_callable_added_later_counts_from_then_on(world: World) -> None:
    engine = world.engine()
    assert engine.fire_sync(SHELL).context == ()
    engine.on("pre_tool", context)
    assert engine.fire_sync(SHELL).context == ("from the program",)
    with pytest.raises(ValueError, match="already a callable"):
        engine.on("pre_tool", context)
    with pytest.raises(ValueError, match="unknown event"):
        engine.on("PreTolUse", context)


# -- from inside a hook


def nested(engine: Engine) -> Callable[[Event], Outcome]:
    def fire_again(event: Event) -> Outcome:
        inner = engine.fire_sync(event)
        return Outcome(context=(inner.verdict, *(problem.code for problem in inner.problems)))

    return fire_again


def test_a_callable_that_fires_reaches_no_hook(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 2")
    engine = world.engine()
    engine.on("pre_tool", nested(engine), name="nested")
    decision = engine.fire_sync(SHELL)
    assert decision.context == ("none", "nested-event")
    assert decision.verdict == "block", "the outer event goes on as ever"
    assert asyncio.run(engine.fire(SHELL)).context == decision.context
    engine.close_sync()
    assert len(world.journal()) == 4


def test_a_lone_callable_that_fires_does_not_call_itself(world: World) -> None:
    engine = world.engine()
    engine.on("pre_tool", nested(engine), name="nested")
    assert engine.fire_sync(SHELL).context == ("none", "nested-event")
    assert asyncio.run(engine.fire(SHELL)).context == ("none", "nested-event")


def test_quiet_events_from_inside_are_just_quiet(world: World) -> None:
    engine = world.engine()
    found: list[Decision] = []

    def fire_stop(_event: Event) -> None:
        found.append(engine.fire_sync(Event.stop()))

    engine.on("pre_tool", fire_stop)
    engine.fire_sync(SHELL)
    assert [(decision.verdict, decision.problems) for decision in found] == [("none", ())]


def test_another_thread_is_not_inside(world: World) -> None:
    """Only events that a hook itself causes are kept from hooks. The program's other threads are not affected."""
    engine = world.engine()
    engine.on("stop", context)
    found: list[tuple[str, ...]] = []

    def wait_for_a_thread(_event: Event) -> None:
        thread = threading.Thread(target=lambda: found.append(engine.fire_sync(Event.stop()).context))
        thread.start()
        thread.join()

    engine.on("pre_tool", wait_for_a_thread)
    engine.fire_sync(SHELL)
    assert found == [("from the program",)]


def test_an_engine_in_a_hooks_process_reaches_no_hook(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 2")
    world.env["ANYHOOK_RUN"] = "some-run"
    decision = world.engine().fire_sync(SHELL)
    assert (decision.verdict, [problem.code for problem in decision.problems]) == ("none", ["nested-event"])
    assert [(report.status, report.why) for report in decision.hooks] == [("skipped", "fired from inside a hook")]


@pytest.mark.parametrize(("table", "native"), [("kodik", "PreToolUse"), ("agenthooks", "before_tool")])
def test_the_command_inside_a_hook_reaches_no_hook(world: World, table: str, native: str) -> None:
    answer = world.root / "answer.json"
    world.hook(table, native, f"'{sys.executable}' -m anyhook fire pre_tool --tool Bash --json > '{answer}'")
    decision = world.engine().fire_sync(SHELL)
    assert [(report.status, report.exit_code) for report in decision.hooks] == [("ran", 0)]
    inner = json.loads(answer.read_text())
    assert (inner["verdict"], [report["status"] for report in inner["hooks"]]) == ("none", ["skipped"])
    assert [problem["code"] for problem in inner["problems"]] == ["nested-event"]


# -- the raw bytes


def test_raw_bytes_survive_and_rewrites_leave_the_event_alone(world: World) -> None:
    raw = bytes(range(256)) * 4
    world.hook("kode", "tool_call_pre", 'echo \'{"replace_tool_input": {"changed": true}}\'')
    engine = world.engine()
    seen: list[bytes] = []
    engine.on("pre_tool", lambda event: seen.append(event.raw))
    event = Event("pre_tool", {"tool": "Bash", "input": {"command": "ls"}}, raw)
    decision = engine.fire_sync(event)
    assert (event.raw, event.data["input"]) == (raw, {"command": "ls"})
    assert seen == [raw, raw], "it is asked again about the final form"
    assert decision.tool_input == {"changed": True}


def test_no_descriptor_is_left(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true")
    engine = world.engine()

    def open_descriptors() -> set[str]:
        """All descriptors except the journals of earlier tests' engines, which may be written at any time."""
        engine.fire_sync(SHELL)
        engine.flush()
        folder, found = "/proc/self/fd", set[str]()
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # the descriptor of the listing itself
                target = os.readlink(f"{folder}/{name}")
                if not target.startswith("/") or target.startswith(str(world.root)):
                    found.add(f"{name} {target}")
        return found

    before = open_descriptors()
    for _ in range(10):
        engine.fire_sync(SHELL)
    assert open_descriptors() - before == set()


def test_what_a_product_brings_along_costs_nothing_while_it_is_silent(world: World) -> None:
    """The answer is built once. The trigger is checked each time, and the event is walked only if it acts."""
    engine = world.engine()

    def step(tokens: int) -> Decision:
        usage: Json = {"current_context_window": tokens, "max_context_window": 1000}
        return engine.fire_sync(Event.step_end(usage=usage, auto_compact_enabled=True, auto_compact_threshold=0.8))

    silent = step(10)
    assert step(20) is silent
    assert silent.hooks == ()
    assert step(800).recipe == {"name": "compact", "args": {}}
    assert step(30) is silent


def test_a_silent_trigger_is_shown_to_those_who_use_its_dialect(world: World) -> None:
    world.hook("kodelet", "agent_stop", "exit 0")
    report = world.engine().fire_sync(Event.step_end(turn_number=1)).hooks[0]
    assert (report.scope, report.status, report.ending, report.exit_code) == ("builtin", "ran", "exited", 0)


def test_callables_and_a_trigger_together(world: World) -> None:
    """Each callable is called once, whether or not the trigger acts after it."""
    engine = world.engine()
    calls: list[str] = []
    engine.on("step_end", lambda event: calls.append(event.name))
    full: Json = {"current_context_window": 900, "max_context_window": 1000}
    engine.fire_sync(Event.step_end())
    decision = engine.fire_sync(Event.step_end(usage=full, auto_compact_enabled=True))
    assert (calls, decision.recipe) == (["step_end"] * 2, {"name": "compact", "args": {}})


def test_without_a_thread_to_write_later_it_is_written_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("anyhook.journal.journal.start_new_thread", none_left)
    world.engine().fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    assert [line["event"] for line in world.journal()] == ["pre_tool"]
