"""What cannot be read does not pass silently: every gate that would have judged it asks."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from anyhook.model.event import Event
from anyhook.rules.calls import facts_of
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.decision import Decision
    from conftest import World

NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
UNREAD = {
    "nested substitutions": "echo " + "$(" * 100 + "a" + ")" * 100,
    "nested defaults": "echo " + "${a:-" * 1_000 + "x" + "}" * 1_000,  # newer Pythons read 300
    "many wrappers": "sudo " * 200 + "rm -rf x",
    "lines inside lines": "eval " * 100 + "rm -rf x",
    "a long line": "cat > a <<'E'\n" + "x\n" * 600_000 + "E\nrm -rf x",
    "many commands": "ls a\n" * 6_000 + "rm -rf x",
    "words that double": "a=xxxxxxxxxx;" + ";".join(f"{two}=${one}${one}" for one, two in itertools.pairwise(NAMES)),
    "words that grow": "a=xxxxxxxxxx;" + "a=${a//x/xxxxxxxxxx};" * 40,
    "functions that double": "f0() { a; };" + ";".join(f"f{i + 1}() {{ f{i}; f{i}; }}" for i in range(40)) + "; f40",
    "a long line without a grammar": "if ( ' " + "ls a; " * 20_000,
}
RULES = """
[[rule]]
name = "no deletes"
when = "deletes *"

[[rule]]
name = "ask about git"
when = "runs git"
then = "ask"

[[rule]]
name = "only a warning"
when = "runs curl"
then = "warn"
because = "hm"

[[rule]]
name = "by name"
when = "tool is Other"
"""


@each_of(("name", "line"), list(UNREAD.items()))
def test_a_line_that_is_not_read_is_noted_in_time(name: str, line: str) -> None:
    begun = time.process_time()
    facts = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project=None)
    assert facts.unread, name
    assert set(facts.unread) <= set(facts.unknown), name
    assert time.process_time() - begun < 5, name


def test_the_rest_of_the_line_is_read() -> None:
    facts = facts_of(
        "Bash", {"command": f"{UNREAD['nested substitutions']}; rm -rf x"}, cwd="/p", home="/h", project=None
    )
    assert facts.deletes == ("/p/x",)


@pytest.mark.parametrize("name", UNREAD)
def test_a_gate_asks_about_it(name: str, world: World) -> None:
    decision = answer(world, RULES, UNREAD[name])
    assert decision.verdict == "ask"
    assert decision.reason is not None
    assert "`no deletes` cannot judge this" in decision.reason


def test_a_rule_that_holds_is_still_the_answer(world: World) -> None:
    assert answer(world, RULES, f"{UNREAD['nested substitutions']}; rm -rf x").verdict == "block"


def test_without_a_gate_nothing_asks(world: World) -> None:
    others = RULES[RULES.index('[[rule]]\nname = "only') :]
    assert answer(world, others, UNREAD["nested substitutions"]).verdict == "none"


def answer(world: World, rules: str, line: str) -> Decision:
    world.write(world.home / "config/anyhook/hooks.toml", rules)
    return world.engine().fire_sync(Event("pre_tool", {"tool": "Bash", "input": {"command": line}}))
