"""`explain RECORD`: what each hook asked for, and the outcome."""

from __future__ import annotations

import json

import pytest
from journal_box import Box

from conftest import World


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def say(value: object) -> str:
    return f"echo '{json.dumps(value)}'"


def asked(box: Box, *words: str) -> dict[str, list[str]]:
    """What each hook asked for in the newest record."""
    found: dict[str, list[str]] = {}
    for line in box.call("explain", "last", *words)[1].splitlines():
        if line[:2] == "  " and line[3:4] == " " and ":user:" in line[4:].split()[0]:
            asking = found.setdefault(line[4:].split()[0], [])
        elif line.startswith("      asks"):
            asking.append(line[14:])
    return found


def test_rewrites_one_after_the_other(box: Box) -> None:
    box.world.hook("kodik", "PreToolUse", say({"modified_input": {"command": "a"}, "additional_context": "one"}))
    box.world.hook("kodelet", "before_tool_call", say({"input": {"command": "b"}}))
    box.world.fire("PreToolUse", "--tool", "Bash", "--input", '{"command": "x"}')
    assert asked(box) == {
        "kodik:user:PreToolUse:echo": [
            'tool_input {"command": "a"} (rewritten again by kodelet:user:it)',
            'context ["one"]',
        ],
        "kodelet:user:it": ['tool_input {"command": "b"}'],
    }
    page = box.call("explain", "last")[1]
    assert '  tool_input {"command": "b"}\n  context  ["one"]\n  told to the program that fired\n' in page
    assert "rewrite `command` differently" in page


def test_the_strongest_verdict(box: Box) -> None:
    for name, decision in (("one", "ask"), ("two", "allow")):
        box.world.hook("agenthooks", "before_tool", say({"decision": decision, "reason": "so"}), name=name)
    box.world.fire("PreToolUse", "--tool", "Bash", "--input", '{"command": "x"}')
    assert [*asked(box).values()] == [["ask: so"], ["allow: so (gives way to ask)"]]


def test_a_broken_hook_that_blocks(box: Box) -> None:
    box.world.hook("kodik", "PreToolUse", "exit 7")
    box.world.fire("PreToolUse", "--tool", "Bash", "--input", "{}", "--on-failure", "deny")
    ((said, *_),) = asked(box).values()
    assert said.startswith("block: ")
    assert "told to the program that fired, which stops by this effect" in box.call("explain", "last")[1]


def test_of_what_was_not_kept_the_verdict_is_known(box: Box) -> None:
    box.world.config('[journal]\nbodies = "none"\n')
    box.world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    box.world.fire("PreToolUse", "--tool", "Bash", "--input", "{}")
    assert [*asked(box).values()] == [["block"]]
