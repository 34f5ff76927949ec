"""The capability matrix against the tables: what was seen must be what is promised now, or the page lies."""

from __future__ import annotations

import pytest

from anyhook.hosts import HOSTS, host
from anyhook.live.observed import LOST, NOT_FIRED, NOTHING, STOPPED, TOLD, WORKS, Sight, load, promised, sights

DATA = load()
DRIVEN = [name for name in HOSTS if any(True for _ in sights(host(name), DATA))]


def test_there_is_data() -> None:
    assert {"claude", "codex", "gemini", "copilot", "goose"} <= set(DRIVEN)
    for seen in DATA["agents"].values():  # type: ignore[union-attr]
        assert seen["version"]  # type: ignore[index,call-overload]
        assert seen["network"] == "off"  # type: ignore[index,call-overload]


@pytest.mark.parametrize("agent", DRIVEN)
def test_tables_promise_what_was_seen(agent: str) -> None:
    assert [sight for sight in sights(host(agent), DATA) if not sight.agrees] == []


def test_promises() -> None:
    assert promised(host("claude"), "pre_tool", "input") == WORKS
    assert promised(host("goose"), "pre_tool", "input") == "block"
    assert promised(host("goose"), "pre_tool", "context") == LOST
    assert promised(host("vibe"), "session_start", "context") is None


@pytest.mark.parametrize(
    ("event", "effect", "said", "seen", "agrees"),
    [
        ("pre_tool", "block", WORKS, WORKS, True),
        ("pre_tool", "block", WORKS, NOTHING, False),
        ("pre_tool", "block", WORKS, NOT_FIRED, True),
        ("pre_tool", "ask", WORKS, STOPPED, True),
        ("pre_tool", "ask", "block", NOTHING, False),
        ("pre_tool", "input", "block", STOPPED, True),
        ("pre_tool", "input", "block", NOTHING, False),
        ("pre_tool", "context", LOST, NOTHING, True),
        ("pre_tool", "context", LOST, WORKS, False),
        ("post_tool", "block", WORKS, TOLD, True),
        ("post_tool", "block", "context", NOTHING, False),
        ("post_tool", "output", "block", TOLD, True),
        ("user_prompt_submit", "prompt", "context", TOLD, True),
        ("user_prompt_submit", "prompt", WORKS, TOLD, False),
        ("stop", "message", WORKS, NOTHING, True),
    ],
)
def test_what_keeps_a_promise(event: str, effect: str, said: str, seen: str, agrees: bool) -> None:
    assert Sight("any", event, effect, said, seen).agrees is agrees
