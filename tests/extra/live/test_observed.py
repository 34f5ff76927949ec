"""The capability matrix against the tables: what was observed must match what the tables promise now, or the page is
wrong."""

from __future__ import annotations

from live.matrix import HEARD, NOT_FIRED, NOTHING, STOPPED, SUB_AGENTS, Sight, sights

from anyhook.gates.observed import ASKABLE, LOST, WORKS, load, promised
from anyhook.model.json_types import Json
from anyhook.tables.registry import HOSTS, drive, host
from each_of import each_of

DATA = load()
DRIVEN = [name for name in HOSTS if drive(name) is not None]


NOT_DRIVEN: set[str] = set()
"""Agents that can be driven but have not been yet: no observation is claimed for them."""


def test_there_is_data() -> None:
    assert set(DATA["agents"]) == set(DRIVEN) - NOT_DRIVEN  # type: ignore[arg-type]
    for seen in DATA["agents"].values():  # type: ignore[union-attr]
        assert seen["version"]  # type: ignore[index,call-overload]
        assert seen["network"] == "off"  # type: ignore[index,call-overload]


@each_of("agent", DRIVEN)
def test_tables_promise_what_was_seen(agent: str) -> None:
    assert [sight for sight in sights(host(agent), DATA) if not sight.agrees] == []


@each_of("agent", DRIVEN)
def test_every_cell_is_seen_or_says_why_not(agent: str) -> None:
    assert [sight for sight in sights(host(agent), DATA) if sight.is_open] == []


def test_reasons_are_about_cells() -> None:
    cells = {f"{event} {effect}" for event, effects in ASKABLE.items() for effect in effects}
    for agent in DRIVEN:
        row = drive(agent)
        assert row is not None
        for cell in row.cannot_show:
            assert cell in {*cells, *ASKABLE, SUB_AGENTS}, (agent, cell)


def test_every_honoured_effect_has_a_cell() -> None:
    for agent in DRIVEN:
        for row in host(agent).events:
            for event in row.canonical if row.installed else ():
                assert set(row.says) <= set(ASKABLE[event]), (agent, row.native)


def test_what_nobody_has_seen_is_open() -> None:
    data: dict[str, Json] = {"agents": {"goose": {"events": {"stop": {"block": WORKS}}}}}
    found = {(sight.event, sight.effect): sight for sight in sights(host("goose"), data)}
    assert not found["stop", "block"].is_open
    assert found["stop", "follow_up"].is_open
    assert not found["pre_tool", "allow"].is_open
    assert "terminal" in found["pre_tool", "allow"].why


def test_promises() -> None:
    assert promised(host("claude"), "pre_tool", "input") == WORKS
    assert promised(host("goose"), "pre_tool", "input") == "block"
    assert promised(host("goose"), "pre_tool", "context") == LOST
    assert promised(host("vibe"), "session_start", "context") is None


@each_of(
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
        ("post_tool", "block", WORKS, HEARD, True),
        ("post_tool", "block", "context", NOTHING, False),
        ("post_tool", "output", "block", HEARD, True),
        ("user_prompt_submit", "prompt", "context", HEARD, True),
        ("user_prompt_submit", "prompt", WORKS, HEARD, False),
        ("stop", "message", WORKS, NOTHING, True),
        ("stop", "follow_up", "block", WORKS, True),
        ("stop", "follow_up", "block", NOTHING, False),
        ("stop", "follow_up", LOST, NOTHING, True),
        ("pre_tool", "allow", WORKS, NOTHING, False),
        ("pre_tool", "allow", LOST, WORKS, False),
        ("pre_tool", "end_turn", WORKS, STOPPED, False),
        ("pre_tool", "end_turn", "block", STOPPED, True),
        ("user_prompt_submit", "end_turn", "block", WORKS, True),
        ("user_prompt_submit", "end_turn", WORKS, NOTHING, False),
        ("pre_compact", "block", WORKS, NOTHING, False),
        ("permission_request", "block", WORKS, NOTHING, False),
        ("subagent_start", "block", "context", HEARD, True),
    ],
)
def test_what_keeps_a_promise(event: str, effect: str, said: str, seen: str, agrees: bool) -> None:
    assert Sight("any", event, effect, said, seen).agrees is agrees
