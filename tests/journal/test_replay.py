"""Replay: recorded events are judged again without starting anything. The decision is the same, unless the rules have
changed."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Sequence
from typing import Any

import pytest
from journal_box import Box, made

from anyhook import Engine, Event, Outcome
from anyhook.journal.read import JournalLine, RecordedCall
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json
from anyhook.replay.rejudge import Judge
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host, sample
from conftest import World
from satellite import satellite

ANSWERS: dict[str, list[dict[str, Any]]] = {
    "kode": [{"block": True, "reason": "r"}, {"annotation": "a", "replace_tool_input": {"command": "pwd"}}, {"x": 1}],
    "kodik": [{"decision": "block", "reason": "r"}, {"modified_input": {"command": "ls"}, "additional_context": "c"}],
    "agenthooks": [{"decision": "deny", "reason": "r"}, {"decision": "ask", "reason": "?"}, {"decision": "allow"}],
    "kolega": [
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}},
        {"hookSpecificOutput": {"permissionDecision": "allow", "additionalContext": "c"}, "systemMessage": "m"},
        {"continue": False, "stopReason": "s"},
    ],
    "kodelet": [{"blocked": True, "reason": "r"}, {"input": {"command": "echo"}}],
}
SCRIPTS = [
    "true",
    "exit 1",
    "echo no >&2; exit 2",
    "echo '{'",
    "echo plain text",
    "kill -9 $$",
    "no-such-program",
]


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


@pytest.mark.parametrize("table", ANSWERS)
def test_every_answer_is_judged_the_same(box: Box, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One world per dialect. Its hook runs a script from a file, so one engine sees every answer."""
    world = box.world
    script = world.root / "script"
    world.hook(table, sample(table).event, f". {script}")
    world.hook(table, sample(table).event, "true", name="second")
    engine = world.engine()
    scripts = [*SCRIPTS, *(f"echo {shlex.quote(json.dumps(answer))}" for answer in ANSWERS[table])]
    for text in scripts:
        script.write_text(f"{text}\n")
        engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
        engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"}), on_failure="deny")
        engine.fire_sync(Event("pre_tool", {"tool": "shell", "input": {"command": "x"}}, hosted=True), mode="shadow")
    engine.close_sync()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("replay starts nothing")

    monkeypatch.setattr("subprocess.Popen", never)
    monkeypatch.setattr("anyhook.platform.run.start", never)
    found = box.json("replay")
    assert found == {"judged": 3 * len(scripts), "changed": 0, "changes": [], "not_judged": {}}


@pytest.mark.parametrize("table", [name for name in DIALECTS if dialect(name).together])
def test_hooks_that_a_block_of_their_own_dialect_does_not_skip(box: Box, table: str) -> None:
    native = dialect(table).row_for("pre_tool")
    assert native is not None
    box.world.hook(table, native.native, "echo no >&2; exit 2")
    box.world.hook(table, native.native, """echo '{"systemMessage": "second"}'""")
    before = DIALECTS.index(table) < DIALECTS.index("goose")
    if before:
        box.world.hook("goose", "PreToolUse", "exit 2")
    engine = box.world.engine()
    decision = engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    engine.close_sync()
    assert [report.status for report in decision.hooks] == ["ran", "ran", *(["skipped"] if before else [])]
    assert box.json("replay") == {"judged": 1, "changed": 0, "changes": [], "not_judged": {}}


@pytest.mark.parametrize("hosted", [False, True])
def test_rewrites_of_single_fields(box: Box, hosted: bool) -> None:
    """In this dialect, hooks name only the fields that they change. The other fields stay as earlier hooks left
    them."""
    (table,) = [name for name in DIALECTS if dialect(name).whole_input is not None and dialect(name).chains]
    for field in ("command", "first", "second"):
        answer = {"hookSpecificOutput": {"tool_input": {field: "x"}}}
        box.world.hook(table, "BeforeTool", f"echo {shlex.quote(json.dumps(answer))}")
    engine = box.world.engine()
    for number in range(3):
        data: dict[str, Json] = {"tool": "shell", "input": {"command": "y", "number": number}}
        made = engine.fire_sync(Event("pre_tool", data, hosted=hosted)).tool_input
        assert made == {"command": "x", "number": number, "first": "x", "second": "x"}
    engine.close_sync()
    assert box.json("replay") == {"judged": 3, "changed": 0, "changes": [], "not_judged": {}}


AGENTS = [name for name in HOSTS if any(tool.ours == "read_file" for tool in host(name).tools.values())]
READERS = {
    name: {tool.ours: (native, tool) for native, tool in host(name).tools.items()}["read_file"] for name in AGENTS
}
"""How agents call the tool that reads a file."""


@pytest.mark.parametrize("agent", READERS)
def test_rewrites_in_the_words_of_a_real_agent(box: Box, agent: str) -> None:
    """Agents use other names for tools and fields than hooks do, and the records of their events use the agent's
    names."""
    box.world.hook("kodelet", "before_tool_call", """echo '{"input": {"file_path": "/b"}}'""")
    native, tool = READERS[agent]
    field = tool.inputs.get("path", "path")
    (row,) = [row for row in host(agent).events if "pre_tool" in row.canonical]
    said = satellite("testing.kit.events").payload_of_agent(
        host(agent), row, {"tool": native, "input": {field: "/a"}}, str(box.world.project)
    )
    done = box.world.command("bridge", agent, row.native, stdin=json.dumps(said))
    assert done.returncode in (0, row.says["block"].status), done.stderr  # a rewrite may become a block
    (record,) = box.world.journal()
    assert record["decision"]["tool_input"] == {field: "/b"}
    assert box.json("replay") == {"judged": 1, "changed": 0, "changes": [], "not_judged": {}}


def test_a_host_that_has_less_time_than_the_hook(box: Box) -> None:
    box.world.hook("kode", "tool_call_pre", "sleep 30")
    engine = Engine.open(box.world.project, env=box.world.env, deadline_s=time.monotonic() + 0.5)
    decision = engine.fire_sync(Event.pre_tool("Bash", {}))
    engine.close_sync()
    assert (decision.verdict, decision.hooks[0].ending) == ("block", "timed_out")
    assert "its limit of 0." in str(decision.reason), "the time that it had, and not the one that it may have had"
    assert box.json("replay") == {"judged": 1, "changed": 0, "changes": [], "not_judged": {}}


def test_another_posture(box: Box) -> None:
    box.world.hook("kodik", "PreToolUse", "exit 7")
    box.world.hook("kodelet", "before_tool_call", "true")
    engine = box.world.engine()
    engine.fire_sync(Event.pre_tool("Bash", {}))
    engine.fire_sync(Event.pre_tool("Bash", {}), on_failure="deny")
    engine.close_sync()
    assert box.json("replay")["changed"] == 0
    deny = box.json("replay", "--on-failure", "deny")
    (change,) = deny["changes"]
    assert (change["n"], change["before"]["verdict"], change["after"]["verdict"]) == (1, "none", "block")
    allow = box.json("replay", "--on-failure", "allow")
    (change,) = allow["changes"]
    assert (change["n"], change["after"]["verdict"], change["unknown"]) == (2, "none", ["kodelet:user:it"])
    status, out, _ = box.call("replay", "--on-failure", "deny")
    assert status == 0
    assert "- verdict: none\n    + verdict: block\n" in out
    assert out.endswith("2 events judged again, 1 decided differently\n")


def test_another_table(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current table counts, not the one in use when the event was recorded."""
    box.world.hook("kodik", "PreToolUse", "echo why >&2; exit 5")
    engine = box.world.engine()
    engine.fire_sync(Event.pre_tool("Bash", {}))
    engine.close_sync()
    table = dialect("kodik")
    reply = table.replies["command"].replace(exits={0: "pass", 5: "block"})
    changed = table.replace(replies={**table.replies, "command": reply})
    monkeypatch.setattr("anyhook.replay.rejudge.dialect", lambda _: changed)
    (change,) = box.json("replay")["changes"]
    assert (change["after"]["verdict"], change["after"]["reason"]) == ("block", "why")


CANNOT: dict[str, tuple[dict[str, Any], str]] = {
    "before": (made(hooks=[("a", "none", 0.1, "exited")]), "it is from before"),
    "lost": (made(decision={"verdict": "none", "lost": "x"}), "its decision was not kept"),
    "broken": (
        made(decision={"verdict": "none", "hooks": [{"id": "a", "status": "broken"}]}),
        "a hook could not even be matched or loaded",
    ),
    "bound": (
        made(decision={"verdict": "none", "problems": [{"code": "bound-reached"}], "hooks": []}),
        "a hook had kept the agent working",
    ),
}


@pytest.mark.parametrize("case", CANNOT)
def test_what_cannot_be_judged_is_said(box: Box, case: str) -> None:
    record, why = CANNOT[case]
    box.write(record)
    found = box.json("replay")
    ((reason, count),) = found["not_judged"].items()
    assert (found["judged"], count, reason.startswith(why)) == (0, 1, True)


@pytest.mark.parametrize("bodies", ["hashed", "none"])
def test_payloads_that_were_not_kept(box: Box, bodies: str) -> None:
    box.world.config(f'[journal]\nbodies = "{bodies}"\n')
    box.world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    box.world.hook("kodik", "Stop", "exit 2")  # no output, so nothing was left out
    engine = box.world.engine()
    engine.fire_sync(Event.pre_tool("Bash", {}))
    engine.fire_sync(Event.stop())
    engine.close_sync()
    found = box.json("replay")
    assert (found["judged"], found["changed"], found["not_judged"]) == (1, 0, {"its payloads were not kept": 1})


def test_long_output_and_callables(box: Box) -> None:
    box.world.hook("kodik", "Stop", "head -c 300000 /dev/zero | tr '\\0' x")
    engine = box.world.engine()
    engine.on("pre_tool", lambda _: Outcome.block("no"))
    engine.fire_sync(Event.pre_tool("Bash", {}))
    engine.fire_sync(Event.stop())
    engine.close_sync()
    reasons = box.json("replay")["not_judged"]
    assert sorted(reasons) == ["a callable of the program itself had a say", "its output was too long to be kept whole"]


def test_a_long_rewrite(box: Box) -> None:
    """A hook that rewrites a whole file prints all of its text. The text is cut in the decision, but not in the run."""
    answer = {"modified_input": {"path": "a", "text": "lorem ipsum " * 10_000}}
    path = box.world.write(box.world.root / "answer.json", json.dumps(answer))
    box.world.hook("kodik", "PreToolUse", f"cat {path}")
    engine = box.world.engine()
    decision = engine.fire_sync(Event.pre_tool("Write", {"path": "a", "text": "short"}))
    engine.close_sync()
    assert decision.tool_input == answer["modified_input"]
    assert "characters in all" in str(box.world.journal()[0]["decision"]["tool_input"])
    assert box.json("replay") == {"judged": 1, "changed": 0, "changes": [], "not_judged": {}}


def test_what_is_said_again_is_judged_once(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.world.hook("kodik", "Stop", "true")
    engine = box.world.engine()
    for _ in range(5):
        engine.fire_sync(Event.stop())
    engine.close_sync()
    decided: list[Any] = []
    decide = Judge._decided

    def counting(self: Judge, line: JournalLine, calls: Sequence[RecordedCall]) -> Decision:
        decided.append(line.n)
        return decide(self, line, calls)

    monkeypatch.setattr(Judge, "_decided", counting)
    assert box.json("replay") == {"judged": 5, "changed": 0, "changes": [], "not_judged": {}}
    assert decided == [1]


SPOILT = {
    "decision": ('"verdict": "none", "enforced"', '"verdict": "block", "enforced"'),
    "run": ('"exit_code": 0, "stdout": ""', '"exit_code": 2, "stdout": ""'),
    "posture": ('"native": "Stop", "argv"', '"native": "Stop", "posture": "deny", "argv"'),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_nearly_said_again_is_judged_by_itself(box: Box, what: str) -> None:
    """Lines that differ in any part that affects the decision are judged separately."""
    box.world.hook("kodik", "Stop", "[ ! -e fails ] || exit 9" if what == "posture" else "true")
    engine = box.world.engine()
    for _ in range(3):
        engine.fire_sync(Event.stop())
    if what == "posture":
        (box.world.project / "fails").touch()
        for _ in range(2):
            engine.fire_sync(Event.stop())
    engine.close_sync()
    path = box.world.state / "journal.jsonl"
    *lines, last = path.read_text().splitlines(keepends=True)
    before, after = SPOILT[what]
    assert before in last
    path.write_text("".join([*lines, last.replace(before, after)]))
    found = box.json("replay")
    assert [change["n"] for change in found["changes"]] == [len(lines) + 1]


def test_a_run_that_printed_too_much_is_judged(box: Box) -> None:
    """A run that printed too much is a failure, whatever it printed. A normal run with cut output is not judged,
    because the cut part may have mattered."""
    box.world.hook("kodik", "PreToolUse", "head -c 11000000 /dev/zero")
    box.world.hook("kodik", "Stop", "head -c 300000 /dev/zero")
    engine = box.world.engine()
    assert engine.fire_sync(Event.pre_tool("Bash", {})).hooks[0].ending == "overflowed"
    engine.fire_sync(Event.stop())
    engine.close_sync()
    found = box.json("replay")
    assert (found["judged"], found["changed"]) == (1, 0)
    assert found["not_judged"] == {"its output was too long to be kept whole": 1}
    assert box.json("replay", "--on-failure", "deny")["changes"][0]["after"]["verdict"] == "block"


@pytest.mark.parametrize("ending", ['"odd"', "null", "[1]"])
def test_a_run_that_no_anyhook_wrote(box: Box, ending: str) -> None:
    box.world.hook("kodik", "Stop", "true")
    engine = box.world.engine()
    engine.fire_sync(Event.stop())
    engine.close_sync()
    path = box.world.state / "journal.jsonl"
    path.write_text(path.read_text().replace('"ending": "exited"', f'"ending": {ending}'))
    assert box.json("replay")["not_judged"] == {"its run was not kept": 1}
    assert box.json("stats")["hooks"][0]["runs"] == 1


def test_a_gate_that_has_not_seen_the_final_form_is_judged_the_same(box: Box) -> None:
    rewrites = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "x"}}})
    box.world.hook("claude", "PreToolUse", "true")
    box.world.hook("claude", "PreToolUse", f"echo {shlex.quote(rewrites)}")
    engine = box.world.engine()
    for command in ("ls", "x"):
        for posture in ("native", "deny"):
            decision = engine.fire_sync(Event.pre_tool("Bash", {"command": command}), on_failure=posture)
            assert decision.verdict == ("block" if (command, posture) == ("ls", "deny") else "none")
    engine.close_sync()
    assert box.json("replay") == {"judged": 4, "changed": 0, "changes": [], "not_judged": {}}
    (change,) = box.json("replay", "--on-failure", "deny")["changes"]
    assert (change["n"], change["after"]["verdict"]) == (1, "block")
