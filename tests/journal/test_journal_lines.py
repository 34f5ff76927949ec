"""A journal line as a typed value: it reads back as it was written, and reading never raises, whatever the line
contains."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from anyhook.journal.read import JournalLine, LineField, about, parsed, read_line, seconds, whole_number
from anyhook.journal.record import JournalPolicy, head_of, record
from anyhook.model.call import Call, Run
from anyhook.model.decision import Decision, Report
from anyhook.model.event import Event
from anyhook.model.firing import HookRun
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem
from each_of import each_of
from examples import examples

HOOK = Hook("kodik:user:Stop:it", "it", "kodik", "user", "/f", (), "/f", "", "Stop", ("stop",), None, "prompt", {}, 1.0)
CALL = Call(("a", "b"), b"", {"A": "b"}, "/p", 1.5, "", "00-1-2-01")
RUN = Run("timed_out", None, b"said", b"", 7, 0.25, "too slow")
REPORTS = (
    Report(HOOK.id, "it", "kodik", "user", "/f:1", "ran", verdict="block"),
    Report("kodik:user:Stop:other", "other", "kodik", "user", "/f:2", "unmatched", "not this tool"),
)


def written(run: Run | None = RUN) -> JournalLine:
    decision = Decision(
        "pre_tool", "block", "deny_tool", "no", HOOK.id, tool_input={"a": 1}, enforced=False, hooks=REPORTS,
        problems=(Problem("hook-failed", "it failed", "/f:1", "why", "fix"),),
    )  # fmt: skip
    policy = JournalPolicy(session="s", caller=("fire", "/p", "00-3-4-01"))
    head = head_of(Event.pre_tool("Bash", {"command": "ls"}), "shadow", policy)
    return read_line(record(head, decision, [HookRun(HOOK, CALL, "deny", run=run, cause="timeout")], at_ns=5))


def test_what_is_written_is_read() -> None:
    line = written()
    assert (line.at_ns, line.host, line.project, line.mode, line.parent) == (5, "fire", "/p", "shadow", "00-3-4-01")
    assert (line.session, line.event, line.tool, line.events) == ("s", "pre_tool", "Bash", 1)
    assert line.data == {"tool": "Bash", "input": {"command": "ls"}}
    assert (line.has_data, line.has_bodies, line.lost, line.background) == (True, True, "", None)
    (call,) = line.calls
    assert (call.hook, call.name, call.dialect, call.native) == (HOOK.id, "it", "kodik", "Stop")
    assert (call.handler, call.posture, call.argv, call.cwd) == ("prompt", "deny", ("a", "b"), "/p")
    assert (call.limit_s, call.trace, call.cause, call.failed) == (1.5, "00-1-2-01", "timeout", True)
    run = call.run
    assert run is not None
    assert (run.ending, run.exit_code, run.stdout, run.stderr) == ("timed_out", None, "said", "")
    assert (run.error, run.started_ns, run.duration_s, run.failed) == ("too slow", 7, 0.25, True)
    decision = line.decision
    assert decision is not None
    assert (decision.verdict, decision.effect, decision.reason, decision.hook) == ("block", "deny_tool", "no", HOOK.id)
    assert (decision.enforced, decision.lost, decision.asked["tool_input"]) == (False, False, {"a": 1})
    assert [(hook.id, hook.status, hook.why, hook.verdict, hook.source) for hook in decision.hooks] == [
        (report.id, report.status, report.why, report.verdict, report.source) for report in REPORTS
    ]
    assert [(each.code, each.where, each.fix) for each in decision.problems] == [("hook-failed", "/f:1", "fix")]
    assert (decision.has_problem("hook-failed"), decision.has_problem("x")) == (True, False)
    assert line.reached == [HOOK.id]


def test_a_call_in_the_background_has_no_run_and_that_run_a_line_of_its_own() -> None:
    assert [call.run for call in written(None).calls] == [None]
    line = JournalLine.of({"at": 1, "background": "h", "argv": ["a"], "run": {"ending": "exited", "exit_code": 3}})
    (call,) = line.calls
    assert (line.background, call.hook, call.argv, line.reached, line.decision) == ("h", "h", ("a",), ["h"], None)
    assert call.run is not None
    assert (call.run.exit_code, call.run.duration_s) == (3, None)


def test_a_run_that_is_none_is_not_taken_for_one_in_the_background() -> None:
    """A damaged run must not be dropped: the record would be judged without it."""
    spoilt: list[Json] = ["x", 7, [], {}]
    for damaged in spoilt:
        line = JournalLine.of({"calls": [{"hook": "h", "run": damaged}]})
        (run,) = [call.run for call in line.calls]
        assert run is not None
        assert (run.ending, run.failed) == ("", False)


@each_of("text", ["", "{", "[]", "7", '"x"', '{"a": 1', "{}" * 2])
def test_a_damaged_line(text: str) -> None:
    line = read_line(text.encode())
    assert line.record is None
    assert (line.n, line.number, line.event, line.calls, line.decision, line.reached) == (None, 0, None, (), None, [])


@each_of(
    ("bare", "has_data"),
    [
        ({"data": {}}, True), ({"data": {}, "lost": "too deep"}, False), ({"data": {}, "events": 7}, False),
        ({"data": []}, False), ({}, False),
    ],
)  # fmt: skip
def test_whether_the_data_is_there(bare: dict[str, Json], has_data: bool) -> None:
    assert JournalLine.of(bare).has_data is has_data


def everything(line: JournalLine) -> str:
    return repr(
        [getattr(line, name) for name, how in vars(JournalLine).items() if isinstance(how, (property, LineField))]
    )


values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@examples(200)
@given(st.data())
def test_whatever_stands_in_a_line_it_is_read(data: st.DataObject) -> None:
    """Take a valid line and replace some of its values at random."""
    spoilt = json.loads(json.dumps(written().record))
    for _ in range(data.draw(st.integers(1, 3))):
        here = spoilt
        while True:
            keys = [*here] if isinstance(here, dict) else [*range(len(here))]
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if isinstance(here[key], (dict, list)) and data.draw(st.booleans()):
                here = here[key]
                continue
            here[key] = data.draw(values)
            break
    assert everything(read_line(json.dumps(spoilt).encode()))


def test_numbers_as_other_programs_take_them() -> None:
    assert [whole_number(value) for value in (0, 7, -1, 2**62, True, 1.0, "7", None)] == [0, 7, *[None] * 6]
    assert [seconds(value) for value in (0, 1.5, -1, 1e9, True, "7", None)] == [0.0, 1.5, *[0.0] * 4, None]


def test_what_an_event_is_about() -> None:
    given: list[tuple[dict[str, Json], str]] = [
        ({"input": {"a": 7, "command": "ls\n -l"}}, "ls -l"),
        ({"prompt": " go  on "}, "go on"),
        ({"input": {}, "prompt": "x"}, ""),
        ({"tool": "Bash"}, ""),
    ]
    for data, said in given:
        assert about(data) == said


def test_parsing_gives_objects_only() -> None:
    assert (parsed(b'{"a": 1}\n'), parsed(b"[1]\n"), parsed(b"\xff\n")) == ({"a": 1}, None, None)
