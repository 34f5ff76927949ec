"""SIGKILL in every phase of the agent. No process that it started outlives it, even one that left its process group,
session, parent, environment or streams. The session can be resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from agent_box import LS, UNTIL_TOLD, agent, appears, record, recorded, script
from chat_box import chat
from live.troubled import ModelReply, ModelServer, text_of
from test_agent_command import left_behind
from test_agent_ends import FULL, started, wait_for

from anyhook.state.conversations import Conversations
from conftest import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
DELEGATE: dict[str, Any] = {"delegate_task": {"agent_name": "self", "task": "Count."}}


def busy(mark: str) -> str:
    """A long-running shell line with a fully detached child. It creates the files `busy` and `away` as it starts."""
    away = f"env -i setsid sh -c 'sleep {mark} & echo $! > ../away' </dev/null >/dev/null 2>&1 &"
    return f"cat >/dev/null; {away} touch ../busy; sleep {mark}"


def mark_of(world: World) -> str:
    """A sleep time in seconds that no other process uses."""
    return f"7{os.getpid()}.{abs(hash(world.root)) % 10_000_000}"


def is_gone(mark: str) -> bool:
    """Wait until the marked processes are gone. Another process ends them, so it may take a moment."""
    deadline = time.monotonic() + 120
    while left_behind(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=240)  # also shows that nothing holds its streams open
    assert process.returncode == -signal.SIGKILL


def is_resumable(world: World) -> None:
    """Every saved session is complete, and the latest can be resumed."""
    kept = Conversations(str(world.state), str(world.project))
    for _, identity in kept.by_time():
        assert kept.load(identity) is not None
    again = agent(world, {"expect": "And?", "text": "Fine."}, prompt="And?", follow=True, hooks=False)
    assert again.text == "Fine.", again.why


PHASES: dict[str, tuple[tuple[str, str], list[Any]]] = {
    "session start": (("kode", "session_start"), ["Never said."]),
    "prompt": (("kodelet", "user_message_send"), ["Never said."]),
    "before a tool": (("kode", "tool_call_pre"), [{"tools": [LS]}, "Never said."]),
    "after a tool": (("kolega", "PostToolUse"), [{"tools": [LS]}, "Never said."]),
    "before a compaction": (("kolega", "PreCompact"), [{"tools": [LS], "usage": FULL}, "Never said."]),
    "sub-agent": (("kodik", "SubagentStart"), [{"tools": [DELEGATE]}, "Never said."]),
    "stop": (("kodik", "Stop"), ["Said."]),
    "session end": (("agenthooks", "session_end"), ["Said."]),
}


@pytest.mark.parametrize("phase", PHASES)
def test_while_a_hook_runs(world: World, phase: str) -> None:
    (name, event), steps = PHASES[phase]
    mark = mark_of(world)
    limit: dict[str, Any] = {"timeout_ms": 60_000} if name == "kode" else {}
    world.hook(name, event, busy(mark), **limit)
    process = started(world, "--model", script(world, *steps, context_window=1000))
    wait_for(world.root / "busy", process)
    wait_for(world.root / "away", process)
    kill(process)
    assert is_gone(mark)
    if phase not in ("session start", "prompt"):  # in these two phases there is nothing to resume yet
        is_resumable(world)


@pytest.mark.parametrize("kind", ["tool", "sub-agent's tool"])
def test_while_a_command_runs(world: World, kind: str) -> None:
    mark = mark_of(world)
    call = {"tools": [{"shell": {"command": busy(mark)}}]}
    steps = [call] if kind == "tool" else [{"tools": [DELEGATE]}, {"by": "subagent", **call}]
    process = started(world, "--model", script(world, *steps, "Never said."))
    wait_for(world.root / "busy", process)
    wait_for(world.root / "away", process)
    kill(process)
    assert is_gone(mark)
    is_resumable(world)


UNWAITED: dict[str, Any] = {"async": True}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_background_hook_goes_on_to_its_own_limit(world: World, end: signal.Signals) -> None:
    """Processes that an earlier command or hook left running end with the agent; an async hook does not."""
    mark = mark_of(world)
    away = f"env -i setsid sleep {mark} </dev/null >/dev/null 2>&1 & touch ../busy"
    world.hook("agenthooks", "after_tool", UNTIL_TOLD, **UNWAITED)
    world.hook("kode", "session_start", away)
    steps = [{"tools": [{"shell": {"command": away}}]}, {"tools": [{"shell": {"command": "touch ../late; sleep 50"}}]}]
    process = started(world, "--model", script(world, *steps))
    wait_for(world.root / "late", process)
    wait_for(world.root / "begun", process)
    assert len(left_behind(mark)) >= 2, "or there is nothing to end"
    process.send_signal(end)
    process.communicate(timeout=240)
    assert is_gone(mark)
    assert not (world.root / "went-on").exists()
    (world.root / "go").touch()
    assert appears(world.root / "went-on")
    is_resumable(world)


@pytest.mark.parametrize("phase", ["before its first word", "between its words", "summary"])
def test_while_a_model_is_asked(world: World, phase: str) -> None:
    mark = mark_of(world)
    away = f"setsid sleep {mark} </dev/null >/dev/null 2>&1 &"
    world.hook("kode", "session_start", away)
    slow = {"before its first word": ModelReply("Late.", delay_s=55)}.get(
        phase, ModelReply("Late and long.", drip_s=20)
    )

    def answers(asked: Any) -> ModelReply:
        if phase != "summary" or "Summarise the conversation" in text_of(asked):
            (world.root / "busy").touch()
            return slow
        return ModelReply("Said.")

    world.config("[agent]\nauto_compact = 0.00001\n")
    with ModelServer(answers) as server:
        world.env.update(server.env)
        process = started(world, "--model", "anthropic:m")
        wait_for(world.root / "busy", process)
        assert left_behind(mark), "or there is nothing to end"
        kill(process)
    assert is_gone(mark)
    is_resumable(world)


def test_a_crash(world: World) -> None:
    """The agent dies without warning, as in a library crash or when the system runs out of memory."""
    mark = mark_of(world)
    call = {"shell": {"command": busy(mark)}}
    process = started(world, "--model", script(world, {"tools": [call]}))
    wait_for(world.root / "busy", process)
    process.send_signal(signal.SIGSEGV)
    process.communicate(timeout=240)
    assert process.returncode == -signal.SIGSEGV
    assert is_gone(mark)
    is_resumable(world)


def test_what_was_meant_to_stay_stays(world: World) -> None:
    """A server that the user asked for outlives an agent that exits normally. Processes of other agents stay, too."""
    mark = mark_of(world)
    serve = {"shell": {"command": f"setsid sleep {mark} </dev/null >/dev/null 2>&1 & echo $! > ../server"}}
    other = started(world, "--model", script(world, {"tools": [{"shell": {"command": busy(mark)}}]}))
    try:
        wait_for(world.root / "busy", other)
        done = world.command("agent", "run", "Go.", "--permission", "auto", "--model",
                             script(world, {"tools": [serve]}, "Done."))  # fmt: skip
        assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
        server = int((world.root / "server").read_text())
        killed = started(world, "--model", script(world, {"tools": [{"shell": {"command": "touch ../2; sleep 9"}}]}))
        wait_for(world.root / "2", killed)
        kill(killed)
        assert other.poll() is None
        os.kill(server, signal.SIGKILL)  # fails if there is no such process
        assert left_behind(mark), "the other agent's command goes on"
    finally:
        kill(other)
    assert is_gone(mark)


def test_told_to_end_leaves_nothing_either(world: World) -> None:
    """SIGTERM also ends a process that cleared its environment."""
    mark = mark_of(world)
    world.hook("kode", "session_end", record("end"))
    process = started(world, "--model", script(world, {"tools": [{"shell": {"command": busy(mark)}}]}))
    wait_for(world.root / "away", process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=240)
    assert (process.returncode, left_behind(mark)) == (130, [])
    assert [it["reason"] for it in recorded(world, "end")] == ["sigterm"]


def test_ctrl_c_in_the_chat(world: World) -> None:
    """Processes of the stopped turn end, even in another process session. Those of an earlier turn stay until the chat
    itself is killed."""
    mark, server = mark_of(world), f"8{os.getpid()}.25"
    terminal = chat(
        world,
        {"tools": [{"shell": {"command": f"setsid sleep {server} </dev/null >/dev/null 2>&1 &"}}]},
        "It runs.",
        {"tools": [{"shell": {"command": f"setsid sleep {mark} & touch ../busy; sleep {mark}"}}]},
        "Fine.",
        words=("--permission", "auto"),
    )
    terminal.types("Serve.")
    terminal.sees("It runs.")
    terminal.types("Sleep.")
    terminal.until(world.root / "busy")
    terminal.presses("c")
    terminal.sees("Stopped.")
    terminal.types("And?")
    terminal.sees("Fine.")
    assert (left_behind(mark), len(left_behind(server))) == ([], 1)
    terminal.kills(signal.SIGKILL)
    assert terminal.ends()[0] == -signal.SIGKILL
    assert is_gone(server)
