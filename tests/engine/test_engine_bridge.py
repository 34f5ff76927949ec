"""Bridge as a library call: an agent's payload in, its answer out, and a record of the answer."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.model.firing import NO_OPINION

if TYPE_CHECKING:
    from anyhook.model.firing import Answer
    from anyhook.model.json_types import Json
    from conftest import World

CALL: dict[str, Json] = {
    "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
}  # fmt: skip
PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n-x\n+y\n*** End Patch"
PATCHING: dict[str, Json] = {
    "taskId": "t", "tool_call": {"id": "c", "name": "apply_patch", "input": {"input": PATCH}},
}  # fmt: skip


FORMS: dict[str, bytes | str | dict[str, Json]] = {
    "bytes": json.dumps(CALL).encode(), "text": json.dumps(CALL), "object": CALL,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_answered_as_the_agent_understands_it(world: World, form: str) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    engine = world.engine()
    answer = engine.bridge("claude", "PreToolUse", FORMS[form])
    engine.close_sync()
    assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    (line,) = world.journal()
    assert (line["host"], line["session"], line["decision"]["verdict"]) == ("claude", "s", "block")
    assert "own" not in line


@pytest.mark.parametrize("payload", [None, 7, ["x"]])
def test_a_payload_of_another_type_is_the_callers_mistake(world: World, payload: Any) -> None:
    with pytest.raises(TypeError, match="payload must be"):
        world.engine().bridge("claude", "PreToolUse", payload)


def test_many_calls_of_many_agents(world: World) -> None:
    """One engine serves all agents. Hooks that an agent runs itself are left to the agent."""
    world.hook("claude", "PreToolUse", "echo no >&2; exit 2")
    engine = world.engine()
    answers = {agent: engine.bridge(agent, "PreToolUse", CALL) for agent in ("claude", "codex", "claude")}
    engine.close_sync()
    assert answers["claude"] == NO_OPINION
    assert "no" in answers["codex"].stdout
    assert {line["host"] for line in world.journal()} == {"claude", "codex"}


def test_gates_that_the_agent_would_misread_are_asked_by_us(world: World) -> None:
    """Devin runs Claude's files, where `Bash` does not match its `exec`. We run those gates and leave the other hooks
    to Devin."""
    group: dict[str, Json] = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
    world.declare(world.home / ".claude" / "settings.json", "PreToolUse", group)
    world.declare(world.home / ".claude" / "settings.json", "PostToolUse", {**group, "matcher": ""})
    engine = world.engine()
    call: dict[str, Json] = {"session_id": "s", "prompt_id": "p", "tool_name": "exec", "tool_input": {"command": "ls"}}
    before = engine.bridge("devin", "PreToolUse", call)
    after = engine.bridge("devin", "PostToolUse", {**call, "tool_input": {"command": "pwd"}})
    engine.close_sync()
    assert json.loads(before.stdout) == {"decision": "block", "reason": "no"}
    assert after == NO_OPINION


@pytest.mark.parametrize(("agent", "event"), [("nobody", "PreToolUse"), ("claude", "Nothing")])
def test_names_that_nobody_knows(world: World, agent: str, event: str) -> None:
    with pytest.raises(ValueError, match=r"nobody|Nothing"):
        world.engine().bridge(agent, event, CALL)


@pytest.mark.parametrize("posture", ["native", "deny"])
def test_a_payload_that_cannot_be_read_is_answered_by_the_posture(world: World, posture: str) -> None:
    answer = world.engine(on_failure=posture).bridge("claude", "PreToolUse", b"{")
    assert "is not valid JSON" in answer.stdout + answer.stderr
    assert ("deny" in answer.stdout) == (posture == "deny")
    (line,) = world.journal()
    assert [problem["code"] for problem in line["decision"]["problems"]] == ["bridge-failed"]


def test_what_is_recorded_is_what_the_agent_was_told(world: World) -> None:
    """One part of a patch cannot be rewritten here, so the call is refused. The record says so, and names no loss that
    did not happen."""
    world.hook("kodelet", "before_tool_call", """echo '{"input": {"file_path": "/elsewhere"}}'""")
    engine = world.engine()
    answer = engine.bridge("cline", "PreToolUse", PATCHING)
    engine.close_sync()
    assert json.loads(answer.stdout)["cancel"] is True
    deciding, other = world.journal()
    assert (deciding["decision"]["verdict"], deciding["decision"]["effect"]) == ("block", "deny_tool")
    assert deciding["decision"]["reason"] in answer.stdout
    assert (deciding["own"]["verdict"], other["decision"]["verdict"]) == ("none", "none")
    assert "own" not in other
    problems = [line["decision"].get("problems", []) for line in (deciding, other)]
    assert [[each["code"] for each in found] for found in problems] == [["partial-rewrite"], ["partial-rewrite"]]


def test_an_engine_is_complete_when_it_is_constructed(world: World) -> None:
    engine = world.engine()
    for name in ("catalog", "setup", "session", "context"):
        with pytest.raises(AttributeError):
            setattr(engine, name, None)


@pytest.mark.parametrize("step", ["settle", "keep"])
def test_a_refusal_outlives_a_fault_of_ours(world: World, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """A block stays a block, whatever goes wrong with the answer, even under the native posture."""
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    engine = world.engine()
    faults = iter([RuntimeError("a fault of ours")])
    place = {"settle": "anyhook.engine.bridge._settle_and_record", "keep": "anyhook.engine.dedupe.Recent.keep"}[step]

    def fail(*_: object) -> None:
        raise next(faults)

    monkeypatch.setattr(place, fail)
    answer = engine.bridge("claude", "PreToolUse", CALL)
    engine.close_sync()
    assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_entries_that_call_at_the_same_moment_run_hooks_once(world: World) -> None:
    """An agent may start all its entries at once."""
    world.hook("kodik", "PreToolUse", f"echo x >> {world.root}/ran; echo no >&2; exit 2")
    world.engine().close_sync()  # stores the plan
    start = Barrier(8)

    def answer(_: int) -> Answer:
        engine = world.engine()
        start.wait()
        answered = engine.bridge("claude", "PreToolUse", {**CALL, "tool_use_id": "t1"})
        engine.close_sync()
        return answered

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(answer, range(8))]
    assert (world.root / "ran").read_text() == "x\n"
    assert len({each.stdout for each in answers}) == 1
    assert "deny" in answers[0].stdout
