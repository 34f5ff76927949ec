"""An answer is shared only between an agent's entries for one call. A caller that asks before, in another environment,
as another agent or about something else, shares nothing with the real call, and cannot hold it up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import World

CALL: dict[str, Any] = {
    "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm x"},
    "tool_use_id": "toolu_1", "permission_mode": "default",
}  # fmt: skip
GUARD = 'cat > /dev/null; echo ran >> "{}"; [ -n "$OPEN" ] || {{ echo no >&2; exit 2; }}'


def ask(world: World, agent: str, payload: dict[str, Any], **env: str) -> str:
    """One call; returns the answer. The native name is the same in all of these agents."""
    before = dict(world.env)
    world.env.update(env)
    try:
        return world.command("bridge", agent, "PreToolUse", stdin=json.dumps(payload)).stdout
    finally:
        world.env.clear()
        world.env.update(before)


def ran(world: World) -> int:
    path = world.root / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


BEFORE: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "a variable that the hook reads": ("claude", {}, {"OPEN": "1"}),
    "another search path": ("claude", {}, {"OPEN": "1", "PATH": "/bin:/usr/bin:/nowhere"}),
    "a variable of the shell": ("claude", {}, {"OPEN": "1", "BASH_ENV": "/nowhere"}),
    "as another agent": ("codex", {}, {}),
    "as an agent without ids": ("goose", {"tool_use_id": None}, {}),
    "without an id": ("claude", {"tool_use_id": None}, {}),
    "with another id": ("claude", {"tool_use_id": "toolu_2"}, {}),
    "about another input": ("claude", {"tool_input": {"command": "ls"}}, {}),
    "with another field": ("claude", {"permission_mode": "plan"}, {}),
    "with one more field": ("claude", {"agent_id": "sub"}, {}),
    "in another session": ("claude", {"session_id": "t"}, {}),
}


@pytest.mark.parametrize("how", BEFORE)
def test_whoever_asks_before_shares_nothing(world: World, how: str) -> None:
    world.hook("kodik", "PreToolUse", GUARD.format(world.root / "ran"))
    agent, changes, env = BEFORE[how]
    ask(world, agent, {key: value for key, value in {**CALL, **changes}.items() if value is not None}, **env)
    asked = ran(world)
    assert '"deny"' in ask(world, "claude", CALL)
    assert ran(world) == asked + 1, "the real call asks its own hooks"


def test_an_answer_in_which_a_hook_failed_is_not_shared(world: World) -> None:
    """Whatever made it fail, such as a limit on the asking process, need not hold for the real call."""
    guard = f'cat > /dev/null; echo ran >> "{world.root}/ran"; [ -e "{world.root}/open" ] && kill -9 $$; exit 2'
    world.hook("kodik", "PreToolUse", guard)
    (world.root / "open").touch()
    assert ask(world, "claude", CALL) == ""
    (world.root / "open").unlink()
    assert '"deny"' in ask(world, "claude", CALL)
    assert ran(world) == 2


def test_two_entries_of_one_call_still_run_hooks_once(world: World) -> None:
    world.hook("kodik", "PreToolUse", GUARD.format(world.root / "ran"))
    assert ask(world, "claude", CALL) == ask(world, "claude", CALL) != ""
    assert ran(world) == 1


@pytest.mark.parametrize("limit_s", [2, 500])
@pytest.mark.parametrize("state", ["stopped", "slow"])
def test_another_asker_takes_no_time_from_the_hooks(world: World, limit_s: int, state: str) -> None:
    """The real call waits for another entry that runs, and only while its own hooks keep their full limits."""
    if (limit_s, state) == (500, "slow"):
        pytest.skip("it waits for 40 s, as it should")
    pace = f'echo ran >> "{world.root}/ran"; [ $(wc -l < "{world.root}/ran") -gt 1 ] || exec sleep 60'
    world.hook("kodik", "PreToolUse", f"{pace}; sleep 1; echo no >&2; exit 2", timeout=limit_s)
    words = [sys.executable, "-m", "anyhook", "bridge", "vibe", "pre_tool"]
    given = {**CALL, "hook_event_name": "pre_tool", "tool_name": "bash", "tool_call_id": "1"}
    payload = json.dumps(given).encode()
    env = {**world.env, "ANYHOOK_WARM": "off"}
    (world.root / "payload").write_bytes(payload)
    with (world.root / "payload").open("rb") as stdin:
        asker = subprocess.Popen(words, stdin=stdin, stdout=subprocess.DEVNULL, env=env, cwd=world.project)
    try:
        until = time.monotonic() + 20
        while not ran(world) and time.monotonic() < until:
            time.sleep(0.02)
        assert ran(world) == 1
        if state == "stopped":
            os.kill(asker.pid, signal.SIGSTOP)
        begun = time.monotonic()
        done = subprocess.run(words, input=payload, capture_output=True, env=env, cwd=world.project, check=False)
        taken = time.monotonic() - begun
    finally:
        os.kill(asker.pid, signal.SIGCONT)
        asker.terminate()
        asker.wait()
    assert b"no" in done.stdout + done.stderr
    assert ran(world) == 2
    assert taken < 8, taken
    assert [line["decision"]["verdict"] for line in world.journal()].count("block") == 1, "the hook itself refused"
