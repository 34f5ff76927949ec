"""The guards against the corpora. `make test` checks a part of them, `make test-all` checks all."""

from __future__ import annotations

from pathlib import Path

import pytest
from guard_corpus import HOME, KINDS, PROJECT, RIGHTLY_DENIED, WORK, WORK_SETS, Judge, commands, lines, work_calls

from anyhook.rules.calls import facts_of
from anyhook.rules.marks import marks_of

MIN_SHARE = {
    ("destructive", False): 0.97,
    ("destructive", True): 0.95,
    ("harmless", False): 0.98,
    ("harmless", True): 0.97,
}
"""By kind, and whether the commands are held out."""


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


def test_corpora_are_large_and_no_command_is_both() -> None:
    found = {kind: [command.text for command in commands(kind)] for kind in KINDS}
    for kind, texts in found.items():
        assert len(texts) >= 600
        assert len(set(texts)) == len(texts), kind
        aside = sum(command.kept_aside for command in commands(kind))
        assert 0.25 < aside / len(texts) < 0.35
    assert not set(found["destructive"]) & set(found["harmless"])


@pytest.mark.parametrize(("kind", "aside"), MIN_SHARE)
def test_guards_tell_destructive_from_harmless(judge: Judge, kind: str, aside: bool) -> None:
    judged = [command for command in commands(kind) if command.kept_aside == aside][::5]
    right = sum(bool(judge.refusals(command.text)) == (kind == "destructive") for command in judged)
    assert right / len(judged) >= MIN_SHARE[kind, aside] - 0.01


def test_no_rule_that_refuses_is_left_out(judge: Judge) -> None:
    """The engine asks only rules whose marks a call has. Here, all rules are asked."""
    needs = {f"{Path(rule.source).stem}/{rule.name}": set(rule.condition[1]) for rule in judge.rules if rule.condition}
    for command in [*commands("destructive")][::8]:
        facts = facts_of("Bash", {"command": command.text}, cwd=PROJECT, home=HOME, project=None)
        has = marks_of(facts).union(*map(marks_of, facts.parts))
        assert not [name for name in judge.refusals(command.text, by_all=True) if needs[name].isdisjoint(has)]


def test_of_500_calls_of_ordinary_work_at_most_one_is_denied_wrongly(judge: Judge) -> None:
    """Asking the user does not count as a denial. People decided which denials are right by reading the calls."""
    calls = [call for name in WORK_SETS for call in work_calls(name)]
    denied = [line for line, tool, given in calls if judge.verdict(tool, given) == "deny"]
    rightly = {*lines(WORK / f"{RIGHTLY_DENIED}.txt")}
    wrongly = [line for line in denied if line not in rightly]
    assert len(calls) >= 1500
    assert rightly <= {*denied}
    assert 500 * len(wrongly) <= len(calls), wrongly


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "aside"), MIN_SHARE)
def test_guards_over_all_commands(judge: Judge, kind: str, aside: bool) -> None:
    judged = [command for command in commands(kind) if command.kept_aside == aside]
    right = sum(bool(judge.refusals(command.text)) == (kind == "destructive") for command in judged)
    assert right / len(judged) >= MIN_SHARE[kind, aside]
