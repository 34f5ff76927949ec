"""One rule catches every way to write, delete or run something, if it can be known, and reports what cannot be
known."""

from __future__ import annotations

import json

import pytest
from guard_corpus import HERE, HOME, PROJECT, Judge, lines

from anyhook.rules.calls import facts_of

RULES = {"writes": "writes protected.txt", "deletes": "deletes protected.txt", "runs": "runs forbidden --now"}


@pytest.mark.parametrize("fact", RULES)
def test_one_rule_catches_every_way(fact: str) -> None:
    judge = Judge({"rule": [{"name": fact, "when": RULES[fact]}]})
    ways = list(lines(HERE / "evasions" / f"{fact}.txt"))
    assert len(ways) >= 50
    missed = [way for way in ways if not judge.refusals(way)]
    assert missed == []


def test_file_tools_are_caught_by_the_same_rules() -> None:
    for case in json.loads((HERE / "evasions" / "tools.json").read_text()):
        judge = Judge({"rule": [{"name": "rule", "when": RULES[case["fact"]]}]})
        assert judge.refusals_of(case["tool"], case["input"]), case


def test_what_cannot_be_known_is_said() -> None:
    for way in lines(HERE / "evasions" / "unknowable.txt"):
        facts = facts_of("Bash", {"command": way}, cwd=PROJECT, home=HOME, project=PROJECT)
        assert facts.unknown, way
