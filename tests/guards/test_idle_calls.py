"""A call that no rule applies to needs no walk: the answer and the journal's line are those of the walk. Whatever is
not certain is left to the walk."""

from __future__ import annotations

import json
import random
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from guard_corpus import KINDS, WORK_SETS, commands, work_calls

from anyhook.engine.bridge import named, read
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.engine.routes import from_plan, made_catalog, to_plan
from anyhook.engine.rule_calls import Calls, idle_rules
from anyhook.journal.journal import quiet
from anyhook.model.firing import NO_OPINION
from conftest import World

if TYPE_CHECKING:
    from pathlib import Path

    from anyhook.engine.bridge import Incoming
    from anyhook.model.decision import Report
    from anyhook.model.json_types import Json

CALLS = 400
AGENT, EVENT = "claude", "PreToolUse"
OF_LINE = ("at", "n", "hash")
"""What two lines about one call may differ in."""


class Guarded:
    """A project with the guards on."""

    def __init__(self, root: Path, *more: str, settings: str = "", hooked: str = "") -> None:
        self.world = World(root)
        if hooked:
            self.world.hook("kodik", hooked, "true")
        for words in (("add", "guard", "--yes"), *[line.split() for line in more]):
            done = self.world.command(*words)
            assert done.returncode == 0, done.stderr
        if settings:
            self.world.config(settings)
        self.setup = self.world.setup()
        self.plan = to_plan(self.setup, made_catalog(self.setup))
        self.table, self.row = named(AGENT, EVENT)
        catalog = from_plan(self.plan)
        assert catalog is not None
        self.engine = open_engine(EngineOptions(self.setup, one_shot=True, serves=self.table), catalog)

    def incoming(self, tool: str, given: dict[str, Json], number: int = 0) -> Incoming:
        sent = {"session_id": "s", "tool_name": tool, "tool_input": given, "tool_use_id": f"t{number}"}
        payload = json.dumps({**sent, "cwd": str(self.world.project)}).encode()
        return read(self.table, self.row, payload, monotonic(), self.setup.env)

    def idle(self, incoming: Incoming) -> tuple[Report, ...]:
        """What is known without a walk."""
        found = idle_rules(self.plan, self.setup, AGENT, incoming.received.events[0])
        Calls.looked_at = None  # the walk reads the call again
        return found

    def line(self) -> dict[str, Any]:
        last = self.world.journal()[-1]
        return {key: value for key, value in last.items() if key not in OF_LINE}


def test_the_answer_and_the_record_are_those_of_the_walk(tmp_path: Path) -> None:
    guarded = Guarded(tmp_path, "disable anyhook:user:git:pre_tool:forced-push")
    calls: list[tuple[str, dict[str, Json]]] = [
        ("Bash", {"command": each.text}) for kind in KINDS for each in commands(kind)
    ]
    calls += [(tool, given) for name in WORK_SETS for _, tool, given in work_calls(name)]
    counts = {True: 0, False: 0}
    for number, (tool, given) in enumerate(random.Random(28).sample(calls, CALLS)):
        incoming = guarded.incoming(tool, given, number)
        if incoming.received.tool is None:
            continue
        idle = guarded.idle(incoming)
        answer = guarded.engine.bridge(AGENT, EVENT, incoming)
        counts[bool(idle)] += 1
        if idle:
            assert answer == NO_OPINION, given
            walked = guarded.line()
            quiet(guarded.setup, guarded.plan, incoming.received.events, AGENT, None, hooks=idle)
            assert guarded.line() == walked, given
    assert min(counts.values()) > CALLS // 20, counts


@pytest.mark.parametrize("line", ["git push --force", "rm -rf ~", "./built", "python3 run.py && ./built", 'eval "$X"'])
def test_what_a_rule_wants_is_left_to_the_walk(tmp_path: Path, line: str) -> None:
    guarded = Guarded(tmp_path)
    assert guarded.idle(guarded.incoming("Bash", {"command": "ls"}))
    assert guarded.idle(guarded.incoming("Bash", {"command": line})) == ()


@pytest.mark.parametrize(
    "settings", ['off = "deny"\n', '[hooks."anyhook:user:git:pre_tool:forced-push"]\nmode = "shadow"\n']
)
def test_settings_that_a_walk_looks_at_leave_every_call_to_it(tmp_path: Path, settings: str) -> None:
    assert Guarded(tmp_path, settings=settings).plan.rules == {}


def test_rules_that_remember_calls_see_every_call(tmp_path: Path) -> None:
    assert "pre_tool" not in Guarded(tmp_path, "add loops --yes").plan.rules


def test_another_hook_of_the_event_sees_every_call(tmp_path: Path) -> None:
    assert "pre_tool" not in Guarded(tmp_path, hooked=EVENT).plan.rules


def test_a_rule_that_fails_is_left_to_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = Guarded(tmp_path)

    def fails(*_: object) -> bool:
        raise ValueError("a slip of ours")

    for where in ("rule_calls.marks_of", "rule_calls.applies", "rule_calls.facts_of_event"):
        with monkeypatch.context() as patched:
            patched.setattr(f"anyhook.engine.{where}", fails)
            assert guarded.idle(guarded.incoming("Bash", {"command": "git status"})) == (), where
    monkeypatch.setattr("anyhook.rules.calls._look", fails)
    assert guarded.idle(guarded.incoming("Bash", {"command": "ls"})) == (), "what was not read may be anything"
