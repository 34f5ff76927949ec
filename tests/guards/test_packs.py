"""Every pack against its own test file: each rule refuses what it is for, and the pack lets similar calls pass."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from guard_corpus import Judge

from anyhook.model.json_types import Json
from anyhook.rules.pack_list import FOLDER, GUARDS, HELPERS, MEMORIES, NAMES, examples_of, members, read_pack
from each_of import each_of


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


NOT_IN_LINES = ("runs and earlier ", "tool ")


@pytest.mark.parametrize("pack", GUARDS)
def test_every_rule_refuses_what_it_is_for(judge: Judge, pack: str) -> None:
    refused, _ = examples_of(pack)
    # What a session did before is in no line (`tests/e2e/test_memory.py`), and what another tool does is in none.
    in_lines = {str(rule["name"]): not str(rule["when"]).startswith(NOT_IN_LINES) for rule in read_pack(pack).rules}
    assert set(refused) == {*in_lines}
    missed = [
        (rule, command)
        for rule, commands in refused.items()
        for command in (commands if in_lines[rule] else ())
        if f"{pack}/{rule}" not in judge.refusals(command)
    ]
    assert missed == []


@pytest.mark.parametrize("pack", GUARDS)
def test_similar_calls_pass(judge: Judge, pack: str) -> None:
    _, passed = examples_of(pack)
    refused = {command: found for command in passed if (found := judge.refusals(command))}
    assert passed
    assert refused == {}


@each_of("pack", NAMES)
def test_every_rule_has_a_name_of_its_own_and_a_reason(pack: str) -> None:
    rules = read_pack(pack).rules
    assert len({rule["name"] for rule in rules}) == len(rules)
    for rule in rules if pack in GUARDS else ():
        assert rule["severity"] in ("low", "medium", "high", "critical")
        assert rule["because"].count(".") >= 1
        assert rule.get("then", "deny") in ("deny", "ask")


@pytest.mark.parametrize("pack", GUARDS)
def test_what_a_guard_says_to_try_is_refused_by_it(judge: Judge, pack: str) -> None:
    words = shlex.split(read_pack(pack).trial)
    assert words[:1] == ["try"]
    found = judge.refusals(words[1])
    assert [name for name in found if name.startswith(f"{pack}/")]


def test_every_file_is_a_pack() -> None:
    assert sorted(path.stem for path in Path(FOLDER).glob("*.toml")) == sorted((*GUARDS, *MEMORIES, *HELPERS))
    assert members("guard") == GUARDS
    assert members("git") == ("git",)
    assert members("nonsense") == ()


def test_helpers_load() -> None:
    found = Judge({"use": [*HELPERS]}).rules
    assert {rule.status for rule in found} == {"armed"}
    assert {rule.name for rule in found} >= {"python", "the agent is done", "python tests", "where we are"}


def test_a_rule_is_switched_off_asked_or_relaxed_for_a_path() -> None:
    command = "rm -rf src"
    assert Judge({"use": ["files"]}).refusals(command) == ["files/delete source folders"]
    off: dict[str, Json] = {"use": ["files"], "relax": [{"rule": "files/delete source folders", "enabled": False}]}
    assert [rule.status for rule in Judge(off).rules if rule.name == "delete source folders"] == ["disabled"]
    spared: dict[str, Json] = {"use": ["files"], "relax": [{"rule": "files/*", "except": ["./src"]}]}
    assert Judge(spared).refusals(command) == []
    assert Judge(spared).refusals("rm -rf tests") == ["files/delete source folders"]
