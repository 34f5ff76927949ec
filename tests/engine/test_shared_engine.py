"""One engine serves two agents, many tasks, threads and a fork."""

from __future__ import annotations

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from anyhook import Engine, Event

if TYPE_CHECKING:
    from conftest import World

BLOCK = "cat >/dev/null; echo no >&2; exit 2"
"""A kodik hook that refuses."""


def _call(command: str, **more: object) -> dict[str, object]:
    return {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "cwd": ".", **more,
            "tool_input": {"command": command}}  # fmt: skip


def _denied(stdout: str) -> bool:
    return bool(stdout) and json.loads(stdout).get("hookSpecificOutput", {}).get("permissionDecision") == "deny"


def test_two_agents_in_turn_and_at_once(world: World) -> None:
    """What one agent's call was told says nothing about the next agent's call."""
    engine = Engine.open(world.project, env=world.env)
    settings = {"file_path": f"{world.project}/.claude/settings.json", "content": '{"disableAllHooks": true}'}
    write = {**_call(""), "tool_name": "Write", "tool_input": settings}

    def codex() -> bool:
        return _denied(engine.bridge("codex", "PreToolUse", _call("rm -rf ~/config/anyhook")).stdout)  # type: ignore[arg-type]

    def claude() -> bool:
        return _denied(engine.bridge("claude", "PreToolUse", write).stdout)  # type: ignore[arg-type]

    def harmless() -> bool:
        return _denied(engine.bridge("claude", "PreToolUse", _call("ls")).stdout)  # type: ignore[arg-type]

    assert [codex(), claude(), harmless(), codex(), harmless(), claude()] == [True, True, False, True, False, True]
    assert engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"})).verdict == "none"
    with ThreadPoolExecutor(6) as threads:
        made = [threads.submit(one) for one in (codex, claude, harmless) * 8]
        assert [future.result() for future in made] == [True, True, False] * 8


def test_an_engine_that_serves_one_agent_serves_another_with_all_its_hooks(world: World) -> None:
    """Claude runs its own hooks itself. Another agent that calls the same engine gets them through us."""
    world.hook("claude", "PreToolUse", BLOCK)
    engine = Engine.open(world.project, env=world.env)
    assert not _denied(engine.bridge("claude", "PreToolUse", _call("ls")).stdout)  # type: ignore[arg-type]
    assert _denied(engine.bridge("codex", "PreToolUse", _call("ls")).stdout)  # type: ignore[arg-type]
    assert not _denied(engine.bridge("claude", "PreToolUse", _call("ls")).stdout)  # type: ignore[arg-type]


def test_many_tasks(world: World) -> None:
    world.hook("kodik", "PreToolUse", "cat | grep -q stop && { echo no >&2; exit 2; }; exit 0")
    engine = Engine.open(world.project, env=world.env)

    async def all_of_them() -> list[str]:
        commands = ["stop" if number % 3 == 0 else "go" for number in range(30)]
        events = [Event.pre_tool("Bash", {"command": command}) for command in commands]
        return [decision.verdict for decision in await asyncio.gather(*map(engine.fire, events))]

    assert asyncio.run(all_of_them()) == ["block", "none", "none"] * 10


def test_a_fork_goes_on_with_the_engine_and_never_uses_its_parents_names_of_runs(world: World) -> None:
    """A run is ended by its name: two processes with the same names would end each other's hooks."""
    world.hook("kodik", "PreToolUse", 'cat >/dev/null; echo "$ANYHOOK_RUN" >> "$HOME/runs"; echo no >&2; exit 2')
    engine = Engine.open(world.project, env=world.env)
    event = Event.pre_tool("Bash", {"command": "x"})
    assert engine.fire_sync(event).verdict == "block"
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0 if engine.fire_sync(event).verdict == "block" else 1)
        children.append(child)
    assert engine.fire_sync(event).verdict == "block"
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    runs = (world.home / "runs").read_text().split()
    assert len(runs) == len(set(runs)) == 5
