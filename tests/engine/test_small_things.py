"""Defects that were reported from outside, one test each: what a hook asks for arrives complete and as it was
declared."""

from __future__ import annotations

import copy
import json
import pickle
import time
from typing import TYPE_CHECKING

import pytest

from anyhook import Decision, Event, Outcome
from anyhook.tables.host_rows import Say
from anyhook.walk.settle import settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.json_types import Json
    from conftest import World

LS = Event.pre_tool("Bash", {"command": "ls"})


def test_an_input_is_given_whole_where_the_agent_has_to_call_again() -> None:
    decision = Decision("pre_tool", tool_input={"message": "hello", "to": "me"})
    settled = settle(decision, {"block": Say(text="{reason}")}, "x")
    assert '{"message": "hello", "to": "me"}' in str(settled.effects["block"])


@pytest.mark.parametrize("table", ["gemini", "qwen"])
def test_variables_of_a_declaration_are_set(world: World, table: str) -> None:
    native = "BeforeTool" if table == "gemini" else "PreToolUse"
    world.hook(table, native, 'cat >/dev/null; echo "$MINE" > mine', env={"MINE": "yes"})
    world.engine().fire_sync(LS)
    assert (world.project / "mine").read_text() == "yes\n"


def test_claudes_settings_set_variables_for_their_hooks(world: World) -> None:
    hooks: Json = {"PreToolUse": [{"hooks": [{"type": "command", "command": 'echo "$MINE" > mine'}]}]}
    path = world.project / ".claude/settings.json"
    world.write(path, json.dumps({"env": {"MINE": "yes"}, "hooks": hooks}))
    world.approve()
    world.engine().fire_sync(LS)
    assert (world.project / "mine").read_text() == "yes\n"
    world.write(path, json.dumps({"env": {"MINE": "yes", "LD_PRELOAD": "x.so"}, "hooks": hooks}))
    (report,) = world.engine().fire_sync(LS).hooks
    assert report.status == "untrusted", "another variable may make another program of it"


def test_qwens_arguments_are_given(world: World) -> None:
    script = world.write(world.root / "guard", f'#!/bin/sh\necho "$1 $2" > {world.project}/given\n', 0o755)
    group: Json = {"hooks": [{"type": "command", "command": str(script), "args": ["a b", "c"]}]}
    world.declare(world.home / ".qwen/settings.json", "PreToolUse", group)
    world.engine().fire_sync(LS)
    assert (world.project / "given").read_text() == "a b c\n"


def test_callables_do_not_share_what_they_change(world: World) -> None:
    seen: list[Json] = []

    def spoils(event: Event) -> None:
        given = event.data["input"]
        assert isinstance(given, dict)
        given["command"] = "rm -rf /"

    def notes(event: Event) -> Outcome | None:
        seen.append(event.data["input"])
        return None

    engine = world.engine()
    engine.on("pre_tool", spoils)
    engine.on("pre_tool", notes)
    event = Event.pre_tool("Bash", {"command": "ls"})
    engine.fire_sync(event)
    assert seen == [{"command": "ls"}]
    assert event.data["input"] == {"command": "ls"}


KEPT: dict[str, Callable[[Event], object]] = {
    "the event": lambda event: event,
    "its data": lambda event: event.data,
    "its input": lambda event: event.data["input"],
    "a copy": copy.copy,
    "a packed copy": lambda event: pickle.loads(pickle.dumps(event)),
    "another event": lambda event: event.replace(name="stop"),
    "whether it is equal": lambda event: (event == LS, event != LS),
    "its text": repr,
}


@pytest.mark.parametrize("kept", KEPT)
def test_a_callable_may_keep_what_others_change(world: World, kept: str) -> None:
    """Whatever a callable keeps, read or unread, no other hook can change."""
    seen: list[object] = []

    def keeps(event: Event) -> None:
        seen.append(KEPT[kept](event))

    def spoils(event: Event) -> None:
        event.data["input"] = "spoiled"

    engine = world.engine()
    for number, callback in enumerate((keeps, spoils, keeps)):
        engine.on("pre_tool", callback, name=str(number))
    engine.fire_sync(LS)
    expected = KEPT[kept](LS)
    assert seen == [expected, expected]
    assert repr(seen[0]) == repr(expected)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_hooks_of_a_sessions_end_are_seen_through_though_the_agent_does_not_wait(world: World, agent: str) -> None:
    world.hook("agenthooks", "session_end", "cat > /dev/null; echo > begun; sleep 0.3; echo > late")
    done = world.command("bridge", agent, "SessionEnd", stdin='{"session_id": "s", "reason": "exit"}')
    assert (done.returncode, done.stdout) == (0, "")
    (line,) = [line for line in world.journal() if line.get("event") == "session_end"]
    assert line["decision"]["hooks"][0]["status"] == "background"
    for _ in range(200):
        if (world.project / "late").exists():
            break
        time.sleep(0.05)
    assert (world.project / "late").exists()
