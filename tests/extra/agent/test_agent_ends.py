"""Ends the agent in every way and at every point: no process is left, the session's hooks run, and the session can be
resumed. test_agent_command.py covers signals during a tool call, a hook before a tool, and a series of answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from agent_box import LS, agent, record, recorded, script
from live.troubled import ModelReply, ModelServer, text_of
from test_agent_command import left_behind

from anyhook.extra.agent import headless
from anyhook.platform.store import TIDIED
from anyhook.state.conversations import Conversations
from conftest import World

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
FULL = {"input_tokens": 900}
INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL


def started(world: World, *words: str, prompt: str = "Go.") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "anyhook", "agent", "run", prompt, "--permission", "auto", "--json", *words]
    return subprocess.Popen(
        command, env=world.env, cwd=world.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


PHASES: dict[str, tuple[signal.Signals, tuple[str, str], list[Any]]] = {
    "session start": (TERM, ("kode", "session_start"), ["Never said."]),
    "prompt": (INT, ("kodelet", "user_message_send"), ["Never said."]),
    "after a tool": (TERM, ("kolega", "PostToolUse"), [{"tools": [LS]}, "Never said."]),
    "stop": (INT, ("kodik", "Stop"), ["Said."]),
    "before a compaction": (TERM, ("kolega", "PreCompact"), [{"tools": [LS], "usage": FULL}, "Never said."]),
    "sub-agent": (
        INT,
        ("kodik", "SubagentStart"),
        [{"tools": [{"delegate_task": {"agent_name": "self", "task": "Count."}}]}, "Never said."],
    ),
}


@linux
@pytest.mark.parametrize("phase", PHASES)
def test_told_to_end_while_a_hook_runs(world: World, phase: str) -> None:
    number, hook, steps = PHASES[phase]
    mark = f"{world.root.name}-{os.getpid()}"
    more: dict[str, Any] = {"timeout_ms": 60_000} if hook[0] == "kode" else {}
    world.hook(*hook, f"cat >/dev/null; touch ../busy; sleep 55; echo {mark}", **more)
    world.hook("agenthooks", "session_end", record("end"))
    process = started(world, "--model", script(world, *steps, context_window=1000))
    wait_for(world.root / "busy", process)
    process.send_signal(number)
    answer, said = process.communicate(timeout=240)
    report = json.loads(answer)
    assert (process.returncode, report["stop"], "Traceback" in said) == (130, "interrupted", False)
    assert [it["exit_reason"] for it in recorded(world, "end")] == ["user_exit"]
    assert left_behind(mark) == []
    if phase not in ("session start", "prompt"):  # in these two phases there is nothing to resume yet
        again = agent(world, {"expect": "And?", "text": "Fine."}, prompt="And?", resume=report["session"], hooks=False)
        assert again.text == "Fine.", again.why


@linux
@pytest.mark.parametrize("phase", ["answer", "summary"])
def test_told_to_end_while_a_model_is_asked(world: World, phase: str) -> None:
    """Covers a signal before the model answers, and one during a compaction."""
    slow = ModelReply("Too late.", delay_s=55)

    def answers(asked: Any) -> ModelReply:
        if phase == "answer" or "Summarise the conversation" in text_of(asked):
            (world.root / "busy").touch()
            return slow
        return ModelReply("Said.")

    world.hook("kode", "session_end", record("end"))
    world.config("[agent]\nauto_compact = 0.00001\n")
    with ModelServer(answers) as server:
        world.env.update(server.env)
        process = started(world, "--model", "openai-chat:m")
        wait_for(world.root / "busy", process)
        process.send_signal(INT)
        answer, said = process.communicate(timeout=240)
    report = json.loads(answer)
    assert (process.returncode, report["stop"], "Traceback" in said) == (130, "interrupted", False)
    assert [it["reason"] for it in recorded(world, "end")] == ["user_exit"]
    again = agent(world, {"expect": "And?", "text": "Fine."}, prompt="And?", resume=report["session"], hooks=False)
    assert again.text == "Fine.", again.why


@linux
def test_what_commands_have_started_ends_as_well(world: World) -> None:
    """Includes processes that left their group and session, and processes of an earlier command."""
    mark = f"7{os.getpid()}.125"
    early = {"shell": {"command": f"sleep {mark} >/dev/null 2>&1 &"}}
    late = {"shell": {"command": f"setsid sleep {mark} & touch ../busy; sleep {mark}"}}
    process = started(world, "--model", script(world, {"tools": [early]}, {"tools": [late]}))
    wait_for(world.root / "busy", process)
    process.send_signal(TERM)
    process.communicate(timeout=240)
    assert (process.returncode, left_behind(mark)) == (130, [])


@linux
def test_a_command_that_takes_too_long_ends_with_its_children(world: World) -> None:
    mark = f"8{os.getpid()}.125"
    call = {"shell": {"command": f"sleep {mark} & sleep {mark}", "timeout_seconds": 1}}
    ran = agent(world, {"tools": [call]}, {"expect": "timed out", "text": "Done."})
    assert (ran.text, left_behind(mark)) == ("Done.", []), ran.why


@linux
def test_told_twice(world: World) -> None:
    """The agent waits for the session_end hooks, unless the user interrupts it again."""
    mark = f"{world.root.name}-{os.getpid()}"
    world.hook("agenthooks", "session_end", f"cat >/dev/null; touch ../ending; sleep 55; echo {mark}")
    process = started(world, "--model", script(world, {"tools": [{"shell": {"command": "touch ../busy; sleep 55"}}]}))
    wait_for(world.root / "busy", process)
    process.send_signal(INT)
    wait_for(world.root / "ending", process)
    process.send_signal(INT)
    answer, said = process.communicate(timeout=240)
    assert (process.returncode, json.loads(answer)["stop"], "Traceback" in said) == (130, "interrupted", False)
    assert left_behind(mark) == []


@linux
def test_a_killed_agent_can_be_taken_up_again(world: World) -> None:
    """A killed process cannot clean up, but the conversation so far is saved and complete."""
    steps = [{"tools": [LS]}, {"tools": [{"shell": {"command": "touch ../busy; sleep 3"}}]}, "Never said."]
    process = started(world, "--model", script(world, *steps), prompt="Remember me.")
    wait_for(world.root / "busy", process)
    process.send_signal(KILL)
    process.communicate(timeout=240)
    world.hook("kodelet", "agent_stop", record("stops"))
    again = agent(world, {"expect": "And?", "text": "Fine."}, prompt="And?", follow=True)
    assert again.text == "Fine.", again.why
    assert "Remember me." in [message["content"] for message in recorded(world, "stops")[0]["messages"]]


def test_a_session_that_cannot_be_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk is full, the earlier saved session stays complete, and the run reports the failure."""
    first = agent(world, "One.").report["session"]
    kept = Conversations(str(world.state), str(world.project))
    before = kept.load(first)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ran = agent(world, "Two.", resume=first)
    monkeypatch.undo()
    assert (ran.stop, ran.text) == ("done", "Two.")
    assert any("cannot be kept" in line for line in ran.said)
    assert kept.load(first) == before
    beside = [path for path in Path(kept.path(first)).parent.iterdir() if path.name != TIDIED]
    assert beside == [Path(kept.path(first))], "nothing half-written is left"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version": 1, "id": 5}', b"\xff\xfe"])
def test_a_damaged_session_is_named(world: World, damage: bytes) -> None:
    first = agent(world, "One.").report["session"]
    kept = Path(Conversations(str(world.state), str(world.project)).path(first))
    kept.write_bytes(damage)
    done = world.command("agent", "run", "And?", "--model", script(world, "Two."), "--resume", first)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (3, "", False)
    assert first in done.stderr


def test_a_model_that_breaks_in_the_middle(world: World) -> None:
    """If the model fails, the turn ends. The session_end hooks run, and the session can be resumed."""
    world.hook("kode", "session_end", record("end"))
    ran = agent(world, {"tools": [LS]}, {"expect": "something else", "text": "Never said."})
    assert (ran.stop, ran.status, [it["reason"] for it in recorded(world, "end")]) == ("error", 1, ["user_exit"])
    again = agent(world, {"expect": "And?", "text": "Fine."}, prompt="And?", follow=True)
    assert again.text == "Fine."


def test_interrupted_before_it_listens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop gets the signal then, and cancels the whole run."""
    monkeypatch.setattr(headless, "on_signals", lambda _: os.kill(os.getpid(), INT))
    ran = agent(world, "Never said.")
    assert (ran.status, ran.stop, ran.why) == (130, "interrupted", "the session was ended: interrupted")
    assert ran.events == [], "a session that has not begun has no end"
