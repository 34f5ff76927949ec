"""Combine, as a table: decisions on the parts of one call become one decision. If one part is blocked, the whole call
is."""

from __future__ import annotations

from anyhook.engine.merge import combine
from anyhook.model.decision import Decision, Texts
from anyhook.model.event import Event
from anyhook.model.json_types import Json
from each_of import each_of

BLOCK = {"verdict": "block", "effect": "deny_tool"}
VERDICTS = [
    ([{}, {}], ("none", None), "nobody says anything"),
    ([{}, {**BLOCK, "reason": "no"}], ("block", "part 1: no"), "one refused part refuses the call, and is named"),
    ([{**BLOCK, "reason": "first"}, {**BLOCK, "reason": "second"}], ("block", "part 0: first"), "the first that does"),
    ([{"verdict": "ask", "reason": "sure?"}, {}], ("ask", "part 0: sure?"), "a question about one part is about all"),
    ([{"verdict": "ask", "reason": "sure?"}, {**BLOCK, "reason": "no"}], ("block", "part 1: no"), "no beats asking"),
    ([{"verdict": "allow"}, {"verdict": "allow"}], ("allow", None), "allowed where every part is"),
    ([{"verdict": "allow", "reason": "fine"}, {}], ("none", None), "silence about a part is not consent to it"),
    ([{**BLOCK}, {}], ("block", "part 0: refused by a hook"), "a block without a reason still says whose"),
    ([{**BLOCK, "effect": "advisory", "reason": "hm"}, {**BLOCK, "reason": "no"}], ("block", "part 1: no"),
     "what stops beats what is only heard"),
]  # fmt: skip


def parts(*fields: dict[str, Json]) -> list[tuple[Event, Decision]]:
    return [
        (Event.pre_tool("Bash", {"command": f"part {number}"}), Decision("pre_tool", **each))  # type: ignore[arg-type]
        for number, each in enumerate(fields)
    ]


@each_of(("fields", "expected", "why"), VERDICTS, ids=[row[2] for row in VERDICTS])
def test_the_verdict(fields: list[dict[str, Json]], expected: tuple[str, str | None], why: str) -> None:
    decision, lost = combine(parts(*fields), {}, None)
    assert ((decision.verdict, decision.reason), lost) == (expected, False), why


def test_what_every_part_says_is_said_once() -> None:
    said: dict[str, Json] = {"context": Texts(["read this"]), "messages": Texts(["m"]), "follow_ups": Texts(["f"])}  # type: ignore[dict-item]
    more: dict[str, Json] = {**said, "context": Texts(["and that", "read this"])}  # type: ignore[dict-item]
    decision, _ = combine(parts(said, more), {}, None)
    assert [*decision.context] == ["read this", "and that"]
    assert [*decision.messages, *decision.follow_ups] == ["m", "f"]


def test_one_part_may_end_the_turn() -> None:
    assert combine(parts({}, {"end_turn": True}), {}, None)[0].end_turn
    assert not combine(parts({}, {}), {}, None)[0].end_turn


def put_back(given: dict[str, Json], index: int, part: dict[str, Json]) -> dict[str, Json]:
    return {**given, str(index): part["command"]}


REWRITES = [
    ([{}, {}], put_back, None, False, "nothing rewritten, nothing to put back"),
    ([{}, {"tool_input": {"command": "b"}}], put_back, {"0": "x", "1": "b"}, False, "one part, in its place"),
    ([{"tool_input": {"command": "a"}}, {"tool_input": {"command": "b"}}], put_back, {"0": "a", "1": "b"}, False,
     "each part on top of the one before"),
    ([{"tool_input": {"command": "a"}}, {}], None, None, True, "what cannot be put back is lost, and that is said"),
]  # fmt: skip


@each_of(("fields", "rejoin", "expected", "is_lost", "why"), REWRITES, ids=[row[4] for row in REWRITES])
def test_rewrites(
    fields: list[dict[str, Json]], rejoin: object, expected: dict[str, Json] | None, is_lost: bool, why: str
) -> None:
    decision, lost = combine(parts(*fields), {"0": "x", "1": "y"}, rejoin)  # type: ignore[arg-type]
    assert (decision.tool_input, lost) == (expected, is_lost), why
