"""Law: what we tell people to print works when it is printed. For every dialect, event and kind of handler: a refusal
refuses, a question asks, a rewrite rewrites, a note arrives. Nothing is started."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from anyhook.engine.interpret import interpret
from anyhook.engine.merge import judge
from anyhook.model.call import Run
from anyhook.model.hook import ASKING, Hook
from anyhook.model.words import HANDLER_KINDS, word_of
from anyhook.tables import spoken
from anyhook.tables.registry import DIALECTS, dialect
from satellite import satellite

if TYPE_CHECKING:
    from anyhook.model.outcome import Outcome
    from anyhook.model.words import HandlerKind
    from anyhook.tables.rows import Dialect, EventRow

PRINTING = re.compile(r"To refuse, (?:print|answer with) (\{.*\})(?: and exit with status 0)?\.", re.DOTALL)
LEAVING = re.compile(r"To refuse, print the reason on stderr and exit with status (\d+)\.")
CASES = [
    (name, row.native, canonical, word_of(kind, HANDLER_KINDS))
    for name in DIALECTS
    for row in dialect(name).events
    for canonical in row.canonical
    for kind in dialect(name).replies
]
DOES = {
    "rewrite the input": "tool_input",
    "replace the output": "tool_output",
    "rewrite the prompt": "prompt",
    "add context": "context",
    "tell the user": "messages",
    "add follow-up messages": "follow_ups",
    "replace the history": "history",
    "end the turn": "end_turn",
}


def hook_of(name: str, row: EventRow, kind: HandlerKind) -> Hook:
    return Hook(
        f"{name}:x", "x", name, "user", "/x", (), "/", "", row.native, row.canonical, None, kind, {}, 5.0,
    )  # fmt: skip


def done(
    table: Dialect, row: EventRow, event: str, kind: HandlerKind, stdout: str, stderr: str = "", status: int = 0
) -> Outcome:
    """What a run counts for."""
    reply, hook = table.replies[kind], hook_of(table.name, row, kind)
    run = Run("exited", status, stdout.encode(), stderr.encode(), 0, 0.0)
    return judge(hook, table, row, interpret(hook, reply.on_event.get(event, reply), event, run), "native", {})


@pytest.mark.parametrize("name", DIALECTS)
def test_the_advised_refusal_refuses(name: str) -> None:
    table = dialect(name)
    for _, native, event, kind in [case for case in CASES if case[0] == name]:
        row = next(row for row in table.events if row.native == native)
        said = spoken.advice(table, row, event, kind)
        place = (name, native, event, kind, said)
        printing, leaving = PRINTING.fullmatch(said), LEAVING.fullmatch(said)
        if printing is not None:
            outcome = done(table, row, event, kind, printing[1])
        elif leaving is not None:
            outcome = done(table, row, event, kind, "", "the reason", int(leaving[1]))
        else:
            assert said == spoken.CANNOT, place
            assert row.block is None or kind != "command", f"a gate that cannot refuse: {place}"
            continue
        assert outcome.failure is None, (place, outcome.failure)
        assert outcome.verdict == ("block" if row.block else "none"), place
        codes = [problem.code for problem in outcome.problems if problem.code != "cannot-block"]
        assert table.failing.codes.get("blocked") or codes == [], (place, codes)


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_new_script_and_a_converted_hook_do_refuses(name: str) -> None:
    table = dialect(name)
    for row in table.events:
        for event in row.canonical:
            said = spoken.refusal(table, row, event, "the reason")
            if said is None:
                assert row.block is None, (name, row.native, event)
                continue
            outcome = done(table, row, event, "command", said.stdout, said.stderr, said.status)
            assert outcome.verdict == ("block" if row.block else "none"), (name, row.native, event, said)
            assert row.block is None or "the reason" in str(outcome.reason), (name, row.native, event, said, outcome)


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("word", ["block", "ask"])
def test_the_verdict_that_anyhook_answers_for_a_script(name: str, word: str) -> None:
    table = dialect(name)
    for row in table.events:
        for event in row.canonical:
            said = spoken.verdict(table, row, event, "block" if word == "block" else "ask", "the reason")
            if said is None or (row.block is None and word == "block"):
                continue
            for status in {0, said.status} if said.stdout else {said.status}:
                outcome = done(table, row, event, "command", said.stdout, said.stderr, status)
                assert (outcome.failure, outcome.verdict) == (None, word), (name, row.native, event, said, status)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_answer_that_a_new_script_shows_does_what_it_says(name: str) -> None:
    table = dialect(name)
    for row in table.events:
        for example in satellite("testing.scaffold.answers").answers(table, row):
            found = done(table, row, row.canonical[0], "command", json.dumps(example.value)) if row.canonical else None
            if found is None:
                continue
            place = (name, row.native, example.does, example.value)
            assert found.failure is None, (place, found.failure)
            if example.does in ("grant it", "ask the user"):
                assert found.verdict == ("allow" if example.does == "grant it" else "ask"), place
            elif example.does in DOES:
                assert getattr(found, DOES[example.does]) not in (None, (), False), place


@pytest.mark.parametrize("name", DIALECTS)
def test_context_arrives(name: str) -> None:
    table = dialect(name)
    for row in table.events:
        for event in row.canonical:
            said = spoken.context(table, row, event, "a note")
            if said is not None:
                outcome = done(table, row, event, "command", said.stdout, said.stderr, said.status)
                assert "a note" in "".join(outcome.context), (name, row.native, event, said)
                assert outcome.verdict in ("none", "allow"), (name, row.native, event)


def test_it_looks_at_all_kinds() -> None:
    assert {kind for _, _, _, kind in CASES} >= {"command", "http", *ASKING}
    assert len(CASES) > 500


@pytest.mark.parametrize("name", DIALECTS)
def test_a_refusal_in_other_words_is_told_the_own_ones(name: str) -> None:
    """The advice in the message is the one that the law above tries."""
    table, told = dialect(name), 0
    row = table.row_for("pre_tool")
    if row is None:
        return
    for foreign in ({"block": True}, {"cancel": True}, {"decision": "deny"}, {"permissionDecision": "deny"}):
        outcome = done(table, row, "pre_tool", "command", json.dumps(foreign))
        found = [problem for problem in outcome.problems if problem.code == "foreign-refusal"]
        told += len(found)
        assert all(problem.fix == spoken.advice(table, row, "pre_tool", "command") for problem in found)
    assert told > 0
