"""Settle, as a table: how a host can express a decision, and what happens to the rest. Nothing is lost silently, and
nothing that a hook wanted to prevent gets through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from anyhook.engine.settle import as_carried_out, settle
from anyhook.model.decision import Decision, Texts
from anyhook.model.json_types import Json
from anyhook.tables.host_rows import EFFECTS, Say
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import HostEffect

EVERYTHING = tuple(EFFECTS)
BLOCKED = Decision("pre_tool", verdict="block", effect="deny_tool", reason="no")
REWRITTEN = Decision("pre_tool", tool_input={"command": "ls"})
TABLE: list[tuple[Decision, tuple[HostEffect, ...], list[str], list[str], str]] = [
    (Decision("pre_tool"), EVERYTHING, [], [], "silence is not consent: nothing is said"),
    (BLOCKED, EVERYTHING, ["block"], [], "a host that can block is told to"),
    (BLOCKED, ("context", "message"), ["context"], ["effect-degraded"], "who cannot block lets the model hear of it"),
    (BLOCKED, ("message",), ["message"], ["effect-degraded"], "or at least the person"),
    (BLOCKED, (), [], ["effect-lost"], "or it is said that it is lost"),
    (BLOCKED.replace(enforced=False), EVERYTHING, [], [], "what is only watched changes nothing"),
    (BLOCKED.replace(effect="advisory"), EVERYTHING, ["message"], [], "an advisory block stops nothing, but is heard"),
    (Decision("pre_tool", verdict="ask", reason="?"), EVERYTHING, ["ask"], [], "a question is asked"),
    (Decision("pre_tool", verdict="ask", reason="?"), ("block", "allow"), ["block"], ["effect-degraded"],
     "where nobody can be asked it is refused, not let through"),
    (Decision("pre_tool", verdict="allow"), EVERYTHING, ["allow"], [], "an approval is given"),
    (Decision("pre_tool", verdict="allow"), ("block",), [], ["effect-lost"], "or lost: it never becomes anything else"),
    (REWRITTEN, EVERYTHING, ["input"], [], "a rewrite is handed on, and grants nothing"),
    (REWRITTEN, ("block", "allow", "context"), ["block"], ["effect-degraded"],
     "input that cannot be rewritten is refused: what runs is what the gates saw"),
    (BLOCKED.replace(tool_input={"command": "ls"}), EVERYTHING, ["block"], [], "no rewrite lifts a block"),
    (Decision("post_tool", tool_output="x"), ("context",), ["context"], ["effect-degraded"],
     "an output that cannot be replaced is said beside it"),
    (Decision("user_prompt", prompt="x"), ("context",), ["context"], ["effect-degraded"], "and so is a prompt"),
    (Decision("stop", follow_ups=Texts(["go on"])), ("block",), ["block"], ["effect-degraded"],
     "a follow-up keeps the agent working"),
    (Decision("pre_tool", end_turn=True), ("block",), ["block"], ["effect-degraded"], "who cannot end blocks"),
    (Decision("stop", end_turn=True), EVERYTHING, [], [], "what ends anyway need not be told to"),
    (Decision("pre_tool", context=Texts(["c"]), messages=Texts(["m"])), EVERYTHING, ["context", "message"], [],
     "context is for the model, messages are for the person"),
    (BLOCKED.replace(context=Texts(["c"])), ("block",), ["block"], ["effect-degraded"],
     "a reason is heard as well as context is"),
]  # fmt: skip


def said(names: tuple[HostEffect, ...]) -> dict[HostEffect, Say]:
    return {name: Say(text="x") for name in names}


@each_of(("decision", "powers", "effects", "codes", "why"), TABLE, ids=[row[4] for row in TABLE])
def test_what_happens(
    decision: Decision, powers: tuple[HostEffect, ...], effects: list[str], codes: list[str], why: str
) -> None:
    settled = settle(decision, said(powers), "host:event")
    assert sorted(settled.effects) == sorted(effects), why
    assert [problem.code for problem in settled.problems] == codes, why
    assert {problem.where for problem in settled.problems} <= {"host:event"}


VALUES: list[tuple[Decision, tuple[HostEffect, ...], HostEffect, Json]] = [
    (BLOCKED, ("block",), "block", "no"),
    (BLOCKED.replace(reason=None, hook="kodik:x"), ("block",), "block", "refused by kodik:x"),
    (BLOCKED.replace(context=Texts(["c"])), ("block",), "block", "no\n\nc"),
    (REWRITTEN, ("input",), "input", {"command": "ls"}),
    (Decision("pre_tool", context=Texts(["a", "b"])), ("context",), "context", "a\n\nb"),
]


@each_of(("decision", "powers", "effect", "value"), VALUES)
def test_with_which_words(decision: Decision, powers: tuple[HostEffect, ...], effect: HostEffect, value: Json) -> None:
    assert settle(decision, said(powers), "w").effects[effect] == value


def test_a_refused_rewrite_says_what_would_be_let_through() -> None:
    reason = settle(REWRITTEN, said(("block",)), "w").effects["block"]
    assert isinstance(reason, str)
    assert '{"command": "ls"}' in reason


@pytest.mark.parametrize(("enforced", "codes"), [(True, ["effect-lost", "effect-lost"]), (False, [])])
def test_what_no_host_can_be_told(enforced: bool, codes: list[str]) -> None:
    decision = Decision("pre_compact", history=[{"role": "user", "content": "x"}], recipe={"name": "x"})
    assert [problem.code for problem in settle(decision.replace(enforced=enforced), {}, "w").problems] == codes


@each_of(
    ("decision", "can", "verdict", "effect"),
    [
        (BLOCKED, EVERYTHING, "block", "deny_tool"),
        (BLOCKED, ("context",), "block", "advisory"),
        (BLOCKED, (), "block", "advisory"),
        (REWRITTEN, ("block",), "block", "deny_tool"),
        (REWRITTEN, EVERYTHING, "none", None),
        (Decision("pre_tool", verdict="ask", reason="?"), ("block",), "block", "deny_tool"),
        (Decision("pre_tool", end_turn=True), ("block",), "block", "deny_tool"),
        (Decision("stop", follow_ups=Texts(["go on"])), ("block",), "block", "keep_working"),
        (Decision("post_tool", verdict="block", effect="feedback", reason="no"), ("context",), "block", "feedback"),
        (REWRITTEN.replace(enforced=False), ("block",), "none", None),
    ],
)
def test_the_decision_is_kept_as_the_host_is_told_it(
    decision: Decision, can: tuple[HostEffect, ...], verdict: str, effect: str | None
) -> None:
    settled = settle(decision, dict.fromkeys(can, Say()), "there")
    told = as_carried_out(decision, settled)
    assert (told.verdict, told.effect) == (verdict, effect)
    if verdict == "block" and effect != "advisory" and "block" in settled.effects:
        assert told.reason == settled.effects["block"]


def test_an_output_that_cannot_be_replaced_was_read() -> None:
    """The model and the person are told so, and nothing repeats the original."""
    made = Decision("post_tool", tool_output="[secret]", messages=Texts(["hello"]))
    said: dict[HostEffect, Say] = {"context": Say(), "message": Say()}
    settled = settle(made, said, "qwen PostToolUse")
    context, message = str(settled.effects["context"]), str(settled.effects["message"])
    assert "you have read the original" in context
    assert context.endswith("[secret]")
    assert "the model has read the original" in message
    assert "hello" in message
    assert "has read the original" in settled.problems[0].why
