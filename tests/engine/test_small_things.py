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
from anyhook.engine.settle import settle
from anyhook.tables.host_rows import Say

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


def test_the_reasons_of_all_advisory_blocks_are_shown(world: World) -> None:
    tables = ("kodik", "kolega", "claude")
    for table in tables:
        world.hook(table, "SessionStart", f"echo reason of {table} >&2; exit 2")
    decision = world.engine().fire_sync(Event("session_start", {"source": "startup"}))
    assert (decision.verdict, decision.effect) == ("block", "advisory")
    shown = [str(decision.reason), *decision.messages]
    for table in tables:
        assert len([text for text in shown if f"reason of {table}" in text]) == 1, shown


def test_the_report_of_a_pack_has_sums(world: World) -> None:
    world.write(
        world.home / "config/anyhook/hooks.toml",
        "".join(f'[[rule]]\nname = "{name}"\nwhen = "runs {name}"\nthen = "deny"\n' for name in ("aa", "bb")),
    )
    for command in ("aa", "bb", "bb"):
        assert (
            world.fire("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": command}))["verdict"] == "block"
        )
    told = json.loads(world.command("report", "anyhook:user:*", "--json").stdout)
    assert len(told["hooks"]) == 2
    assert (told["stopped"], told["would_have_stopped"]) == (3, 0)


LISTS = ("anyhook trust --list", "anyhook trust --json --list", "anyhook trust --project x --list | cat")
APPROVES = ("anyhook trust", "anyhook trust --yes", "anyhook trust --project --list --yes", "anyhook trust --revoke")


@pytest.mark.parametrize("line", [*LISTS, *APPROVES])
def test_an_agent_may_list_approvals_and_give_none(world: World, line: str) -> None:
    assert world.command("add", "guard", "--yes").returncode == 0
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t"}
    said = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps(payload)).stdout
    assert ('"deny"' in said) == (line in APPROVES), said
