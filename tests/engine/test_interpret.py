"""Interpret, as a table: what a run asks for, as its agent's documentation says. `K-15` and the like number statements
in the documentation, as in the vectors. Nothing is started here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from step_box import hook_of

from anyhook.engine.interpret import interpret
from anyhook.model.call import Run
from anyhook.model.json_types import Json
from anyhook.model.outcome import Outcome
from anyhook.tables.registry import DIALECTS, dialect
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import Ending


def read(name: str, event: str, run: Run, handler: str = "command") -> Outcome:
    """What a run of a hook of this dialect asks for at a canonical event."""
    return interpret(hook_of(name, event, handler=handler), dialect(name).replies[handler], event, run)


def ended(status: int | None, stdout: Json = "", stderr: str = "", ending: Ending = "exited") -> Run:
    """A run with this result; a `stdout` object is printed as JSON."""
    printed = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return Run(ending, status, printed.encode(), stderr.encode(), 0, 0.1)


NOTHING: dict[str, Json] = {"verdict": "none"}
FOREIGN: dict[str, Json] = {"verdict": "none", "problem": "foreign-refusal"}
"""A refusal in a form that its dialect does not read there: it stops nothing and is reported (contract, section 8)."""


def block(reason: str) -> dict[str, Json]:
    return {"verdict": "block", "reason": reason}


def failed(cause: str) -> dict[str, Json]:
    return {"verdict": "none", "failure": cause}


def hso(**fields: Json) -> dict[str, Json]:
    return {"hookSpecificOutput": fields}


ROWS: list[tuple[str, str, str, Run, dict[str, Json]]] = [
    # (document, dialect, event, run) → exactly the effects that it has
    ("K-15", "kode", "pre_tool", ended(0), NOTHING),
    ("K-16 exit 1", "kode", "pre_tool", ended(1, stderr="no rm"), block("no rm")),
    ("K-16 exit 77", "kode", "session_start", ended(77, stderr="no"), block("no")),
    ("Kf", "kode", "pre_tool", ended(1, {"replace_tool_input": {"a": 1}}, "no"), block("no")),
    ("K-17, Kd a list", "kode", "pre_tool", ended(0, [1]), failed("output")),
    ("K-17, Kd a number", "kode", "pre_tool", ended(0, "7"), failed("output")),
    ("Kc", "kode", "pre_tool", ended(0, "{nope"), failed("output")),
    ("Kb annotation", "kode", "pre_tool", ended(0, {"block": True, "annotation": "why"}, "err"),
     block("why") | {"messages": ["why"]}),
    ("Kb stderr", "kode", "pre_tool", ended(0, {"block": True}, "err"), block("err")),
    ("K-18 block false", "kode", "pre_tool", ended(0, {"block": False}), NOTHING),
    ("K-18 annotation", "kode", "pre_tool", ended(0, {"annotation": "seen"}), {**NOTHING, "messages": ["seen"]}),
    ("K-20", "kode", "user_prompt_submit", ended(0, {"replace_prompt": "p"}), {**NOTHING, "prompt": "p"}),
    ("K-20 elsewhere, Kp", "kode", "pre_tool", ended(0, {"replace_prompt": "p"}), NOTHING),
    ("K-21", "kode", "pre_tool", ended(0, {"replace_tool_input": {"a": 1}}), {**NOTHING, "tool_input": {"a": 1}}),
    ("K-21 elsewhere", "kode", "post_tool", ended(0, {"replace_tool_input": {"a": 1}}), NOTHING),
    ("K-32", "kode", "user_prompt_submit", ended(0, '{\n  "replace_prompt": "p"\n}\n'), {**NOTHING, "prompt": "p"}),
    ("K-14", "kode", "pre_tool", ended(-9, ending="timed_out"), failed("timed_out")),
    ("D-18", "kodik", "pre_tool", ended(0), NOTHING),
    ("D-19", "kodik", "pre_tool", ended(2, stderr="no"), block("no")),
    ("Df", "kodik", "pre_tool", ended(1, {"decision": "block"}), failed("exit")),
    ("Dg", "kodik", "pre_tool", ended(-9, ending="timed_out"), failed("timed_out")),
    ("D-20", "kodik", "pre_tool", ended(0, 'talk\n{"decision": "block", "reason": "r"}\n\n'), block("r")),
    ("D-20 not the last line", "kodik", "pre_tool", ended(0, '{"decision": "block"}\ntalk'), FOREIGN),
    ("Di", "kodik", "pre_tool", ended(0, '{\n  "decision": "block",\n  "reason": "r"\n}'), block("r")),
    ("Di text", "kodik", "pre_tool", ended(0, "all fine"), NOTHING),
    ("Dj stderr", "kodik", "pre_tool", ended(2, {"reason": "json"}, "err"), block("err")),
    ("Dj json", "kodik", "pre_tool", ended(2, {"reason": "json"}), block("json")),
    ("Dk permission", "kodik", "permission_request", ended(0, {"decision": "approve"}), {"verdict": "allow"}),
    ("Dk tool", "kodik", "pre_tool", ended(0, {"decision": "approve"}), NOTHING),
    ("Dk elsewhere", "kodik", "stop", ended(0, {"decision": "approve"}), NOTHING),
    ("D-23", "kodik", "pre_tool", ended(0, {"modified_input": {"a": 1}}), {**NOTHING, "tool_input": {"a": 1}}),
    ("Dp", "kodik", "post_tool", ended(0, {"modified_input": {"a": 1}}), NOTHING),
    ("D-24", "kodik", "user_prompt_submit", ended(0, {"modified_prompt": "p"}), {**NOTHING, "prompt": "p"}),
    ("D-25", "kodik", "session_start", ended(0, {"additional_context": "c"}), {**NOTHING, "context": ["c"]}),
    ("A-22", "agenthooks", "pre_tool", ended(0, " \n"), NOTHING),
    ("A-23", "agenthooks", "pre_tool", ended(2, {"decision": "allow"}, "no"), block("no")),
    ("A-24", "agenthooks", "pre_tool", ended(1, {"decision": "deny"}, "oh"), failed("exit")),
    ("A-24 signal", "agenthooks", "pre_tool", ended(-11, ending="signalled"), failed("signalled")),
    ("A-27, Ai", "agenthooks", "pre_tool", ended(0, {"decision": "deny", "reason": "r"}), block("r")),
    ("Au", "agenthooks", "pre_tool", ended(0, {"decision": "ask", "reason": "r"}), {"verdict": "ask", "reason": "r"}),
    ("A-28 stop", "agenthooks", "stop", ended(0, {"decision": "ask", "reason": "r"}), block("r")),
    ("Aj", "agenthooks", "pre_tool", ended(0, {"modified_input": {"a": 1}}), {**NOTHING, "tool_input": {"a": 1}}),
    ("A-30", "agenthooks", "pre_tool", ended(0, {"log": "x", "additional_context": "c"}),
     {**NOTHING, "context": ["c"]}),
    ("A-31 text", "agenthooks", "pre_tool", ended(0, "plain words"), {**NOTHING, "context": ["plain words"]}),
    ("A-31 a list", "agenthooks", "pre_tool", ended(0, ["deny"]), failed("output")),
    ("A-36", "agenthooks", "pre_tool", ended(-9, ending="timed_out"), failed("timed_out")),
    ("G-34", "kolega", "pre_tool", ended(0), NOTHING),
    ("Gf, G-53 text", "kolega", "pre_tool", ended(0, "garbage"), failed("output")),
    ("Gf, G-53 a list", "kolega", "pre_tool", ended(0, [1]), failed("output")),
    ("G-35", "kolega", "pre_tool", ended(2, hso(permissionDecision="allow"), "no"), block("no")),
    ("G-36", "kolega", "pre_tool", ended(3, hso(permissionDecision="deny")), failed("exit")),
    ("G-37", "kolega", "pre_tool", ended(0, hso(permissionDecision="DENY", permissionDecisionReason="r")), block("r")),
    ("G-37 ask", "kolega", "pre_tool", ended(0, hso(permissionDecision="ask")), NOTHING),
    ("G-37 allow", "kolega", "pre_tool", ended(0, hso(permissionDecision="allow")), NOTHING),
    ("G-38", "kolega", "pre_tool", ended(0, {**hso(permissionDecision="deny"), "systemMessage": "m"}),
     block("m") | {"messages": ["m"]}),
    ("Gd", "kolega", "pre_tool", ended(0, {"systemMessage": "m"}), {**NOTHING, "messages": ["m"]}),
    ("G-19", "kolega", "pre_tool", ended(0, hso(updatedInput={"a": 1})), {**NOTHING, "tool_input": {"a": 1}}),
    ("G-19 not an object", "kolega", "pre_tool", ended(0, hso(updatedInput="a")), NOTHING),
    ("G-20", "kolega", "post_tool", ended(0, hso(updatedToolOutput="o", additionalContext="c")),
     {**NOTHING, "tool_output": "o", "context": ["c"]}),
    ("G-22", "kolega", "post_tool_failure", ended(0, hso(updatedToolOutput="o", additionalContext="c")),
     {**NOTHING, "context": ["c"]}),
    ("G-40, Ge prompt", "kolega", "user_prompt_submit", ended(0, {"continue": False}), {**NOTHING, "end_turn": True}),
    ("G-40, Ge tool", "kolega", "post_tool", ended(0, {"continue": False}), {**NOTHING, "end_turn": True}),
    ("G-40, Ge elsewhere", "kolega", "pre_tool", ended(0, {"continue": False}), FOREIGN),
    ("G-32", "kolega", "pre_tool", ended(None, ending="not_started"), failed("not_started")),
    ("L-11", "kodelet", "pre_tool", ended(0, {"blocked": True, "reason": "r"}), block("r")),
    ("L-11 input", "kodelet", "pre_tool", ended(0, {"blocked": False, "input": {"a": 1}}),
     {**NOTHING, "tool_input": {"a": 1}}),
    ("L-11 null", "kodelet", "pre_tool", ended(0, {"input": None}), NOTHING),
    ("L-15", "kodelet", "post_tool", ended(0, {"output": {"success": True}}),
     {**NOTHING, "tool_output": {"success": True}}),
    ("L-18", "kodelet", "user_prompt_submit", ended(0, {"blocked": True, "reason": "r"}), block("r")),
    ("L-23 mutate", "kodelet", "step_end",
     ended(0, {"result": "mutate", "messages": [{"role": "user", "content": "x"}]}),
     {**NOTHING, "history": [{"role": "user", "content": "x"}]}),
    ("L-24 empty", "kodelet", "step_end", ended(0, {"result": "mutate", "messages": []}), NOTHING),
    ("L-23, L-33 callback", "kodelet", "step_end",
     ended(0, {"result": "callback", "callback": "compact", "callback_args": {"k": "v"}}),
     {**NOTHING, "recipe": {"name": "compact", "args": {"k": "v"}}}),
    ("Ll", "kodelet", "step_end", ended(0, {"result": "continue", "follow_up_messages": ["f"]}), NOTHING),
    ("L-27", "kodelet", "stop", ended(0, {"follow_up_messages": ["f", "g"]}), {**NOTHING, "follow_ups": ["f", "g"]}),
    ("L-27 continue", "kodelet", "stop", ended(0, {"result": "continue", "follow_up_messages": ["f"]}),
     {**NOTHING, "follow_ups": ["f"]}),
    ("L-30", "kodelet", "stop", ended(0, {"result": "what", "follow_up_messages": ["f"]}),
     {**NOTHING, "follow_ups": ["f"]}),
    ("L-38 exit 2 is a failure", "kodelet", "pre_tool", ended(2, {"blocked": True}, "no"), failed("exit")),
    ("L-39", "kodelet", "pre_tool", ended(-9, ending="timed_out"), failed("timed_out")),
    ("L-40", "kodelet", "pre_tool", ended(0), NOTHING),
    ("L-41", "kodelet", "pre_tool", ended(0, "not json"), failed("output")),
    ("Ls", "kodelet", "pre_tool", ended(0, 'talk {"blocked": true}'), failed("output")),
]  # fmt: skip
EFFECTS = ("tool_input", "tool_output", "prompt", "history", "recipe")
LISTS = ("context", "messages", "follow_ups")


def effects(outcome: Outcome) -> dict[str, Json]:
    """Everything that an outcome asks for; empty fields are left out."""
    made: dict[str, Json] = {"verdict": outcome.verdict}
    made |= {field: value for field in EFFECTS if (value := getattr(outcome, field)) is not None}
    made |= {field: [*value] for field in LISTS if (value := getattr(outcome, field))}
    if any(problem.code == "foreign-refusal" for problem in outcome.problems):
        made["problem"] = "foreign-refusal"
        assert made.pop("messages"), "it is told"
    if outcome.reason is not None:
        made["reason"] = outcome.reason
    if outcome.end_turn:
        made["end_turn"] = True
    if outcome.failure is not None:
        made["failure"] = outcome.failure.cause
    return made


@each_of(("row", "name", "event", "run", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_what_a_run_asks_for(row: str, name: str, event: str, run: Run, expected: dict[str, Json]) -> None:
    assert effects(read(name, event, run)) == expected, row


NO_REASON: list[tuple[str, str, Run]] = [
    ("K-16", "kode", ended(1)),
    ("Kb", "kode", ended(0, {"block": True})),
    ("Dj", "kodik", ended(2)),
    ("A-23", "agenthooks", ended(2)),
    ("A-27", "agenthooks", ended(0, {"decision": "deny"})),
    ("G-35", "kolega", ended(2)),
    ("Le", "kodelet", ended(0, {"blocked": True})),
    ("Lx", "kodelet", ended(0, {"blocked": True, "reason": 7})),
]


@each_of(("row", "name", "run"), NO_REASON)
def test_a_block_without_a_reason_gets_one(row: str, name: str, run: Run) -> None:
    found = read(name, "pre_tool", run)
    assert found.verdict == "block", row
    assert found.reason, row


ASKED: list[tuple[str, str, dict[str, Json]]] = [
    ("G-46", '{"ok": true}', NOTHING),
    ("G-46 a no", '{"ok": false, "reason": "r"}', block("r")),
    ("G-46 words around it", 'I think: {"ok": false, "reason": "r"} so', block("r")),
    ("G-46 no ok", '{"reason": "r"}', failed("output")),
    ("G-46 no JSON", "yes", failed("output")),
    ("G-46 nothing at all", "", failed("output")),
]


@each_of(("row", "said", "expected"), ASKED)
@each_of("handler", ["prompt", "agent"])
def test_what_a_model_says(handler: str, row: str, said: str, expected: dict[str, Json]) -> None:
    assert effects(read("kolega", "stop", ended(0, said), handler)) == expected, row


SAID: list[tuple[str, str, str, Run, str]] = [
    ("K-19", "kode", "pre_tool", ended(0, {"annotation": "a", "strange": 1}), "strange"),
    ("A-26", "agenthooks", "pre_tool", ended(0, {"decision": "maybe"}), "maybe"),
    ("G-19", "kolega", "pre_tool", ended(0, hso(updatedInput="a")), "updatedInput"),
    ("Dp", "kodik", "post_tool", ended(0, {"modified_input": {"a": 1}}), "modified_input"),
]


@each_of(("row", "name", "event", "run", "word"), SAID)
def test_what_is_ignored_is_said(row: str, name: str, event: str, run: Run, word: str) -> None:
    """Law 5: nothing is dropped silently."""
    found = read(name, event, run)
    assert found.failure is None, row
    assert [word in problem.what for problem in found.problems] == [True], (row, found.problems)


@pytest.mark.parametrize("name", DIALECTS)
def test_an_ending_is_the_cause(name: str) -> None:
    """A run that did not end by itself has given no answer, whatever it printed before."""
    refusal = b'{"decision": "block", "blocked": true, "block": true}'
    endings: tuple[Ending, ...] = ("timed_out", "signalled", "overflowed", "not_started", "cancelled")
    for ending in endings:
        found = read(name, dialect(name).events[0].canonical[0], Run(ending, None, refusal, b"", 0, 0.1))
        assert found.verdict == "none"
        assert found.failure is not None
        assert found.failure.cause == ending
    lost = read(name, dialect(name).events[0].canonical[0], Run("exited", None, b"", b"", 0, 0.1))
    assert lost.failure is not None, "a status that nobody knows is not a yes"
