"""Merge, as a table: judged outcomes become one decision, inside a dialect by its documented rule and across dialects
by ours. `K-14` and the like number statements in the documentation, as in the vectors."""

from __future__ import annotations

from itertools import permutations

from step_box import hook_of, row_of

from anyhook.engine.merge import Judged, merge
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json
from anyhook.model.outcome import Outcome
from anyhook.tables.registry import dialect
from each_of import each_of

Said = list[tuple[str, Outcome]]
"""Each dialect and its outcome, in the catalog's order."""
NO, ASK, YES, SILENT = Outcome.block("no"), Outcome(verdict="ask", reason="sure?"), Outcome(verdict="allow"), Outcome()
SPOKE = Outcome(spoke=True)
ONE: list[dict[str, str]] = [{"role": "user", "content": "one"}]
TWO: list[dict[str, str]] = [{"role": "user", "content": "two"}]


def judged(event: str, said: Said, upstream: bool = False) -> list[Judged]:
    return [
        Judged(place, hook_of(name, event, called=f"h{place}"), dialect(name), row_of(name, event), outcome, upstream)
        for place, (name, outcome) in enumerate(said)
    ]


def rewrite(**fields: Json) -> Outcome:
    return Outcome(tool_input=fields, spoke=True)


ROWS: list[tuple[str, str, Said, dict[str, Json]]] = [
    # (why, event, answers) → the fields of the decision that are not empty
    ("law 1: nobody", "pre_tool", [], {"verdict": "none"}),
    ("law 1: silence is not consent", "pre_tool", [("kodik", SILENT), ("kode", SILENT)], {"verdict": "none"}),
    ("a block is the event's, with its hook", "pre_tool", [("kodik", SILENT), ("kodik", NO)],
     {"verdict": "block", "effect": "deny_tool", "reason": "no", "hook": "kodik:user:PreToolUse:h1"}),
    ("law 4: no approval lifts a block", "pre_tool", [("kodik", YES), ("agenthooks", NO), ("claude", YES)],
     {"verdict": "block", "effect": "deny_tool", "reason": "no", "hook": "agenthooks:user:before_tool:h1"}),
    ("law 4: no rewrite lifts a block", "pre_tool", [("kodik", NO), ("kolega", rewrite(a=1))],
     {"verdict": "block", "effect": "deny_tool", "reason": "no", "hook": "kodik:user:PreToolUse:h0",
      "tool_input": {"a": 1}}),
    ("law 4: a rewrite grants nothing", "pre_tool", [("kodik", rewrite(a=1))],
     {"verdict": "none", "tool_input": {"a": 1}}),
    ("a question beats an approval", "pre_tool", [("claude", YES), ("agenthooks", ASK)],
     {"verdict": "ask", "reason": "sure?"}),
    ("a block beats a question", "pre_tool", [("agenthooks", ASK), ("kodik", NO)],
     {"verdict": "block", "effect": "deny_tool", "reason": "no", "hook": "kodik:user:PreToolUse:h1"}),
    ("of equal blocks the first speaks", "pre_tool", [("kodik", NO), ("kolega", Outcome.block("never"))],
     {"verdict": "block", "effect": "deny_tool", "reason": "no", "hook": "kodik:user:PreToolUse:h0"}),
    ("contract: an approval that was given", "permission_request", [("kodik", YES)], {"verdict": "allow"}),
    ("contract: effects of a prompt's block", "user_prompt_submit", [("kodik", NO)],
     {"verdict": "block", "effect": "end_turn", "reason": "no", "hook": "kodik:user:UserPromptSubmit:h0",
      "end_turn": True}),
    ("a session that must not start beats advice", "session_start",
     [("kodik", Outcome.block("hm")), ("kode", NO)],
     {"verdict": "block", "effect": "abort", "reason": "no", "hook": "kode:user:session_start:h1"}),
    ("G-21", "post_tool", [("kolega", NO)],
     {"verdict": "block", "effect": "end_turn", "reason": "no", "hook": "kolega:user:PostToolUse:h0",
      "end_turn": True}),
    ("Kg input", "pre_tool", [("kode", rewrite(a=1)), ("kode", rewrite(a=2))],
     {"verdict": "none", "tool_input": {"a": 2}}),
    ("Kg prompt", "user_prompt_submit", [("kode", Outcome(prompt="p")), ("kode", Outcome(prompt="q"))],
     {"verdict": "none", "prompt": "q"}),
    ("Kg an emptied prompt", "user_prompt_submit", [("kode", Outcome(prompt="p")), ("kode", Outcome(prompt=""))],
     {"verdict": "none", "prompt": ""}),
    ("Aj", "pre_tool", [("agenthooks", rewrite(a=1)), ("agenthooks", rewrite(a=2)), ("agenthooks", SILENT)],
     {"verdict": "none", "tool_input": {"a": 2}}),
    ("A-32 in order", "pre_tool", [("agenthooks", Outcome(context=("a", "b"))), ("kodik", Outcome(context=("c",)))],
     {"verdict": "none", "context": ["a", "b", "c"]}),
    ("G-50 the last output", "post_tool", [("kolega", Outcome(tool_output="o")), ("kolega", Outcome(tool_output="p"))],
     {"verdict": "none", "tool_output": "p"}),
    ("Lc", "post_tool", [("kodelet", Outcome(tool_output="o", spoke=True)), ("kodelet", SPOKE), ("kodelet", SILENT)],
     {"verdict": "none", "tool_output": "o"}),
    ("Lb", "pre_tool", [("kodelet", rewrite(a=1)), ("kodelet", SPOKE)], {"verdict": "none", "tool_input": {"a": 1}}),
    ("Kj", "post_tool", [("kode", NO.replace(messages=("KODE-HOOK-002: no",))), ("kolega", Outcome(tool_output="all"))],
     {"verdict": "block", "effect": "feedback", "reason": "no", "hook": "kode:user:tool_call_post:h0",
      "messages": ["KODE-HOOK-002: no"], "tool_output": "KODE-HOOK-002: no"}),
    ("L-27, L-28", "stop", [("kodelet", Outcome(follow_ups=("f",))), ("kodelet", Outcome(follow_ups=("g",)))],
     {"verdict": "none", "follow_ups": ["f", "g"]}),
    ("L-23 the first action", "step_end",
     [("kodelet", Outcome(history=ONE)), ("kodelet", Outcome(history=TWO)), ("kodelet", Outcome(recipe={"name": "r"}))],
     {"verdict": "none", "history": [{"role": "user", "content": "one"}], "problems": ["action-lost", "action-lost"]}),
    ("L-28, L-29, Li", "stop", [("kodelet", Outcome(follow_ups=("f",))), ("kodelet", Outcome(history=TWO))],
     {"verdict": "none", "history": [{"role": "user", "content": "two"}], "problems": ["action-lost"]}),
    ("another dialect's follow-up stays", "stop",
     [("kodelet", Outcome(history=TWO)), ("claude", Outcome(follow_ups=("f",)))],
     {"verdict": "none", "history": [{"role": "user", "content": "two"}], "follow_ups": ["f"]}),
    ("Ge", "user_prompt_submit", [("kolega", Outcome(end_turn=True)), ("kodik", SILENT)],
     {"verdict": "none", "end_turn": True}),
]  # fmt: skip


def filled(decision: Decision) -> dict[str, Json]:
    """The non-empty fields of the contract's decision object."""
    made = decision.as_dict()
    made["problems"] = [problem.code for problem in decision.problems]
    return {
        field: value
        for field, value in made.items()
        if field not in ("event", "enforced") and value is not None and value != [] and value is not False
    }


@each_of(("why", "event", "said", "expected"), ROWS)
def test_the_decision(why: str, event: str, said: Said, expected: dict[str, Json]) -> None:
    found = merge(event, judged(event, said))
    assert filled(found) == expected, why
    assert (found.event, found.enforced) == (event, True)


@each_of(("why", "event", "said", "expected"), ROWS)
def test_in_whatever_order_they_finished(why: str, event: str, said: Said, expected: dict[str, Json]) -> None:
    """Law 3."""
    for finished in permutations(judged(event, said)):
        assert filled(merge(event, finished)) == expected, why


UPSTREAM: list[tuple[str, list[Outcome], Json]] = [
    ("the last hook that printed JSON wins", [rewrite(a=1), SPOKE], None),
    ("one that printed nothing does not", [rewrite(a=1), SILENT], {"a": 1}),
    ("a later rewrite does", [rewrite(a=1), rewrite(a=2)], {"a": 2}),
]


@each_of(("why", "said", "expected"), UPSTREAM)
def test_kodelets_own_way_by_a_setting(why: str, said: list[Outcome], expected: Json) -> None:
    """L-12, Lb: a setting selects the strict upstream behaviour."""
    entries = judged("pre_tool", [("kodelet", outcome) for outcome in said], upstream=True)
    assert merge("pre_tool", entries).tool_input == expected, why


def test_what_else_is_known_comes_along() -> None:
    decision = merge("pre_tool", judged("pre_tool", [("kodik", NO)]), enforced=False)
    assert (decision.verdict, decision.enforced, decision.stops) == ("block", False, False)
