"""Laws 1, 2 and 4 on reading answers: reading is pure and total, and a silent hook gives no verdict."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import assume, given
from hypothesis import strategies as st
from law_strategies import ENDINGS, ROWS, TABLES, entries, hook_of, runs

from anyhook.engine.interpret import interpret
from anyhook.engine.merge import CODE_OF_ENDING, Judged, judge, merge
from anyhook.model.call import Run
from anyhook.model.outcome import STOPPING, Outcome
from anyhook.model.words import ON_FAILURE
from anyhook.tables.rows import Dialect, EventRow
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import Posture

CASES = [(table, row, event, handler) for table, row, event in ROWS for handler in table.replies]
ALLOWING = [
    (table, row, event)
    for table, row, event in ROWS
    if any(
        verdict == "allow" and (not events or event in events)
        for reply in table.replies.values()
        for key in reply.keys
        for _, verdict, events in key.words
    )
]

cases = st.sampled_from(CASES)


def of_dialect(name: str) -> list[tuple[Dialect, EventRow, str, str]]:
    return [case for case in CASES if case[0].name == name]


@given(cases, st.data())
def test_reading_is_a_total_pure_function(case: tuple[Dialect, EventRow, str, str], data: st.DataObject) -> None:
    table, row, event, handler = case
    run = data.draw(runs(table, handler))
    hook = hook_of(table, row, handler)
    first = interpret(hook, table.replies[handler], event, run)
    again = interpret(hook, table.replies[handler], event, run.replace())
    assert first == again
    assert first.verdict in ("none", "allow", "ask", "block")
    if run.ending != "exited":
        assert first.failure is not None
        assert first == Outcome(failure=first.failure), "a run that did not end by itself says nothing"
        assert first.failure.cause == run.ending
    if first.failure is not None:
        assert first.verdict == "none"
        assert first.failure.cause in CODE_OF_ENDING


@given(cases, st.data(), st.sampled_from(ON_FAILURE))
def test_judging_is_total_and_keeps_to_the_table(
    case: tuple[Dialect, EventRow, str, str], data: st.DataObject, posture: Posture
) -> None:
    table, row, event, handler = case
    hook = hook_of(table, row, handler)
    read = interpret(hook, table.replies[handler], event, data.draw(runs(table, handler)))
    judged = judge(hook, table, row, read, posture, {})
    if row.block is None:
        assert judged.verdict != "block"
    if judged.verdict == "block":
        assert judged.reason
    if read.failure is None and judged.verdict != "block":
        assert judged.verdict == read.verdict or row.block is None
    if read.failure is not None:
        assert judged.verdict in ("none", "block")
        assert len(judged.problems) > len(read.problems), "no failure is dropped in silence"
        if posture == "deny" and row.block is not None and read.failure.cause != "cancelled":
            assert judged.verdict == "block"
        if posture == "allow":
            assert judged.verdict == "none"


@each_of("name", TABLES)
def test_silence_is_not_consent(name: str) -> None:
    """Try every ending of every kind of hook on every event of a dialect."""
    for ending, (table, row, event, handler) in product(ENDINGS, of_dialect(name)):
        run = Run(ending, 0 if ending == "exited" else None, b"", b"", 0, 0.1)
        read = interpret(hook_of(table, row, handler), table.replies[handler], event, run)
        assert read.verdict == "none", (row.native, event, handler, ending)
        if ending == "exited":
            # Models are asked for a yes, and a function's process always answers. From these, silence is a failure.
            if handler in ("prompt", "agent", "function"):
                assert read.failure is not None, (row.native, event, handler)
                assert read.failure.cause == "output"
            else:
                assert read == Outcome(), (row.native, event, handler)


@given(cases, st.data())
def test_only_a_word_that_allows_here_allows(case: tuple[Dialect, EventRow, str, str], data: st.DataObject) -> None:
    table, row, event, handler = case
    if (table, row, event) in ALLOWING:
        return
    read = interpret(hook_of(table, row, handler), table.replies[handler], event, data.draw(runs(table, handler)))
    assert read.verdict != "allow"


def test_there_are_events_with_and_without_an_allow() -> None:
    assert 0 < len(ALLOWING) < len(ROWS)


@given(entries(least=1), st.data())
def test_a_neighbours_garbage_erases_no_block_no_rewrite_no_context(
    made: tuple[str, list[Judged]], data: st.DataObject
) -> None:
    """Whatever one broken hook prints, the other hooks' effects still count."""
    event, given_entries = made
    before = merge(event, given_entries)
    beside = data.draw(st.sampled_from(given_entries))
    hook = beside.hook.replace(id="the-neighbour")
    run = data.draw(runs(beside.dialect, "command"))
    read = interpret(hook, beside.dialect.replies["command"], event, run)
    if read.failure is None:
        return
    judged = judge(hook, beside.dialect, beside.row, read, "allow", {})
    place = beside.position + data.draw(st.sampled_from([-1, 1]))
    after = merge(event, [*given_entries, Judged(place, hook, beside.dialect, beside.row, judged, beside.upstream)])
    kept = [field for field in before.fields if field not in ("problems", "messages")]
    assert [getattr(after, field) for field in kept] == [getattr(before, field) for field in kept]
    assert set(before.messages) <= set(after.messages)
    assert {problem.what for problem in before.problems} <= {problem.what for problem in after.problems}


G_46 = ("block_unless", "ok")
"""The key of a model's answer."""


@each_of("said", [b"false", b"null", b"0", b'""'])
def test_a_consent_that_is_not_true_is_none(said: bytes) -> None:
    """G-46: an answer is a failure only if the key is missing."""
    run = Run("exited", 0, b'{"ok": %s}' % said, b"", 0, 0.1)
    asked = [case for case in CASES if any((key.does, *key.path) == G_46 for key in case[0].replies[case[3]].keys)]
    assert {table.name for table, *_ in asked} >= {"claude", "kolega"}
    for table, row, event, handler in asked:
        read = interpret(hook_of(table, row, handler), table.replies[handler], event, run)
        assert read.verdict == "block", (table.name, row.native, event, handler)


GATES = [
    (table, row, event, handler)
    for table, row, event in ROWS
    if row.block in STOPPING
    for handler in table.replies
    if handler in ("command", "http") and table.replies[handler].keys  # rules answer only by status
]


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


NO_WORDS = st.text(st.characters(codec="utf-8"), max_size=30)


@given(st.sampled_from(GATES), st.data())
def test_under_deny_what_is_not_a_documented_yes_is_closed(
    case: tuple[Dialect, EventRow, str, str], data: st.DataObject
) -> None:
    table, row, event, handler = case
    reply = table.replies[handler]
    reply = reply.on_event.get(event, reply)
    keys = [key for key in reply.keys if key.kind != "any" and (not key.on or event in key.on)]
    keyed = ("wrong type", "unknown word") if keys else ()
    made = data.draw(st.sampled_from(("truncated", "after text", *keyed, "foreign", "status")))
    code, said = 0, '{"reason": "x"'
    if made == "after text":
        said = data.draw(NO_WORDS) + "x {" + data.draw(NO_WORDS.filter(lambda text: "}" not in text))
    elif made == "foreign":
        name, value = data.draw(
            st.sampled_from([("action", "block"), ("cancel", True), ("permissionDecision", "DENY")])
        )
        assume(not any(key.path == (name,) and (not key.on or event in key.on) for key in reply.keys))
        said = json.dumps({name: value})
    elif made == "status":
        code = data.draw(st.integers(1, 255))
        said = data.draw(st.sampled_from(["", "{}", '{"reason": "x"}']))
        assume(reply.exits.get(code, reply.otherwise) != "pass")
    elif made != "truncated":
        of_verdict = [key for key in keys if key.does == "verdict"]
        chosen = data.draw(st.sampled_from(of_verdict if made == "unknown word" and of_verdict else keys))
        known = [word for word, _, _ in chosen.words]
        value = (
            data.draw(NO_WORDS.filter(lambda text: text.lower() not in known))
            if of_verdict and chosen in of_verdict and made == "unknown word"
            else 5
        )
        answer: object = value
        for step in reversed(chosen.path):
            answer = {step: answer}
        said = json.dumps(answer)
    run = Run("exited", code, said.encode("utf-8", "replace"), b"", 0, 0.0)
    hook = hook_of(table, row, handler)
    outcome = judge(hook, table, row, interpret(hook, table.replies[handler], event, run), "deny", {})
    assert outcome.verdict == "block", (made, said)
    assert outcome.reason


@given(st.sampled_from(GATES), st.data())
def test_under_deny_a_documented_yes_goes_on(case: tuple[Dialect, EventRow, str, str], data: st.DataObject) -> None:
    table, row, event, handler = case
    reply = table.replies[handler]
    reply = reply.on_event.get(event, reply)
    answers = ["", "{}"]
    for key in reply.keys:
        for word, verdict, events in key.words:
            if (
                verdict in ("allow", "none")
                and not (key.on and event not in key.on)
                and not (events and event not in events)
            ):
                answer: object = word
                for step in reversed(key.path):
                    answer = {step: answer}
                answers.append(json.dumps(answer))
    if reply.read(b"plain words")[0] in ("text", "nothing"):
        answers.append(
            data.draw(
                NO_WORDS.filter(
                    lambda text: (
                        reply.read(text.encode())[0] in ("text", "nothing") and "{" not in text and not is_json(text)
                    )  # `false` is an answer of the wrong type
                )
            )
        )
    said = data.draw(st.sampled_from(answers))
    assume(reply.spoils is None or not said.startswith("{") or not reply.spoils(json.loads(said), event))
    hook = hook_of(table, row, handler)
    run = Run("exited", 0, said.encode(), b"", 0, 0.0)
    outcome = judge(hook, table, row, interpret(hook, table.replies[handler], event, run), "deny", {})
    assert outcome.verdict != "block", said
