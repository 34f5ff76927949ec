"""`anyhook record`: recorded events become cases that pass at once. What a record does not contain is reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from kit_box import Box

from anyhook.documents.parse import parse_yaml
from anyhook.extra.testing.verb_record import LeftOut, case_of
from anyhook.journal.read import JournalLine
from conftest import World

SECRET = "ghp_" + "a1B2" * 9
ANYHOOK = [sys.executable, "-P", "-m", "anyhook"]


@pytest.fixture
def box(world: World) -> Box:
    box = Box(world)
    world.approve()
    return box


def fire(box: Box, command: str, *words: str) -> None:
    done = box.call("fire", "PreToolUse", "--tool", "Bash", "--input", json.dumps({"command": command}), *words)
    assert done.returncode in (0, 2), done.stderr


def test_recorded_cases_hold_at_once(box: Box, world: World) -> None:
    rewrites = """echo '{"modified_input": {"command": "ls '$KIMI_PROJECT_DIR'"}}'"""
    world.hook("agenthooks", "before_tool", rewrites, "project")
    world.approve()
    fire(box, f"rm -rf {world.project}/build")
    fire(box, "ls")
    fire(box, "ls", "--session", "another")  # the same call again
    fire(box, "crash")
    fire(box, "ls", "--mode", "shadow")
    box.call("fire", "stop")
    payload = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm -rf x"}})
    done = world.command("bridge", "claude", "PreToolUse", stdin=payload)
    assert "deny" in done.stdout
    done = box.call("record", "-o", ".kodik/hooks/seen.hooktest.yaml")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith("6 cases written to")
    text = (box.project / ".kodik/hooks/seen.hooktest.yaml").read_text()
    assert str(world.project) not in text, "a case runs in a copy"
    assert box.call("test", "--json").returncode == 3, "nobody has approved the new file yet"
    world.approve()
    done = box.call("test", "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert (found["passed"], found["skipped"]) == (6, 0)
    assert {case["decision"]["verdict"] for case in found["cases"]} == {"block", "none"}
    assert any(not case["decision"]["enforced"] for case in found["cases"])
    # The cases can fail: without the guard, they do.
    (box.project / ".kodik/hooks/hooks.json").write_text("{}")
    assert json.loads(box.call("test", "--json").stdout)["failed"] == 5


def test_filters_and_stdout(box: Box) -> None:
    fire(box, "ls")
    fire(box, "rm -rf x")
    done = box.call("record", "--verdict", "block")
    document = parse_yaml(done.stdout)
    assert isinstance(document, dict)
    assert [case["name"] for case in document["cases"]] == ["pre_tool Bash rm -rf x: block"]  # type: ignore[union-attr, index, call-overload]
    assert box.call("record", "--last", "1").stdout == done.stdout
    done = box.call("record", "--since", "1h", "--tool", "Edit")
    assert (done.returncode, done.stdout) == (0, "")
    assert "There is no event" in done.stderr


def test_another_projects_events_are_not_mixed_in(box: Box, tmp_path: Path) -> None:
    fire(box, "ls")
    other = tmp_path / "other"
    other.mkdir()
    assert "There is no event" in box.call("record", cwd=other).stderr
    done = box.call("record", "--project", str(box.project), "-o", "x.hooktest.yaml", cwd=other)
    assert done.returncode == 0
    assert 'project: "../project"' in (other / "x.hooktest.yaml").read_text()
    assert "To run: anyhook trust, then anyhook test" in done.stderr
    assert box.call("test", cwd=other).returncode == 3, "nothing of this folder was ever approved"
    assert box.call("trust", "--yes", cwd=other).returncode == 0
    assert box.call("test", cwd=other).returncode == 0


def test_a_project_that_was_moved(box: Box) -> None:
    fire(box, "rm -rf x")
    moved = box.project.rename(box.project.with_name("moved"))
    done = box.call("record", cwd=moved)
    assert (done.returncode, done.stdout) == (0, "")
    assert "give its old path with `--project`" in done.stderr
    done = box.call("record", "--project", str(box.project), "-o", "x.hooktest.yaml", cwd=moved)
    assert done.returncode == 0
    assert "does not exist any more" in done.stderr
    assert "skip" not in (moved / "x.hooktest.yaml").read_text()
    done = box.call("test", "--trust", "all", "--json", cwd=moved)
    assert json.loads(done.stdout)["passed"] == 1, done.stderr


def test_what_a_record_does_not_tell_is_said(box: Box, world: World) -> None:
    world.config('[journal]\nbodies = "hashed"\n')
    fire(box, "rm -rf x")
    world.config("")
    fire(box, "rm -rf " + "x" * 20_000)
    world.hook("kodik", "PreToolUse", "echo mine >&2; exit 2")  # the user's own
    fire(box, "ls")
    done = box.call("record")
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 left out: its payloads were not kept" in done.stderr
    assert "1 left out: a text in it was too long" in done.stderr
    assert "1 left out: a hook of the user's or of a plugin decided it" in done.stderr


def test_a_case_that_does_not_hold_is_marked(box: Box) -> None:
    """The decision depended on a secret, which the record does not contain."""
    script = box.project / ".kodik" / "hooks" / "hooks.json"
    guard = {"hooks": [{"type": "command", "command": "! grep -q ghp_ || { echo secret >&2; exit 2; }"}]}
    script.write_text(json.dumps({"hooks": {"PreToolUse": [guard]}}))
    box.world.approve()
    fire(box, f"echo {SECRET}")
    done = box.call("record", "-o", "x.hooktest.yaml")
    assert "does not hold as recorded" in done.stderr
    text = (box.project / "x.hooktest.yaml").read_text()
    assert "skip:" in text
    assert SECRET not in text
    box.world.approve()
    found = json.loads(box.call("test", "--json").stdout)
    assert (found["failed"], found["skipped"]) == (0, 1)


def test_what_a_hook_says_on_trial_is_no_secret_either(box: Box) -> None:
    """The case does not hold, because the record has a placeholder instead of the secret. The reason quotes the
    hook."""
    script = box.project / ".kodik" / "hooks" / "hooks.json"
    says = {"hooks": [{"type": "command", "command": f"echo 'no {SECRET} token=Zebra7Canary' >&2; exit 2"}]}
    script.write_text(json.dumps({"hooks": {"PreToolUse": [says]}}))
    box.world.approve()
    fire(box, "ls")
    done = box.call("record", "-o", "x.hooktest.yaml")
    text = (box.project / "x.hooktest.yaml").read_text()
    assert "skip:" in text
    for secret in (SECRET, "Zebra7Canary"):
        assert secret not in text
        assert secret not in done.stderr


def test_bad_calls(box: Box) -> None:
    fire(box, "ls")
    there = box.cases("cases: []")
    for words, told in (
        (["-o", str(there)], "this file already exists"),
        (["-o", "cases.yaml"], "ends with hooktest.yaml"),
        (["-o", "no/x.hooktest.yaml", "--", "touch", "ran"], "this folder does not exist"),
        (["--", "/no/such/program"], "cannot be started"),
        (["--since", "whenever"], "--since"),
    ):
        done = box.call("record", *words)
        assert (done.returncode, done.stdout) == (3, ""), words
        assert told in done.stderr
        assert "Traceback" not in done.stderr
    assert there.read_text() == "cases: []"
    assert not (box.project / "ran").exists(), "said before anything was run"


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"event": "pre_tool", "data": {}, "decision": {"lost": "x"}},
        {"event": "pre_tool", "data": {}, "decision": {}, "events": 4},
        {
            "event": "pre_tool",
            "data": {"tool": "no such"},
            "decision": {"verdict": "none"},
            "host": "cline",
            "lost": "x",
        },
        {"event": "turn_start", "data": {}, "decision": {"verdict": "none"}, "host": "claude"},
    ],
)
def test_odd_records_are_left_out(record: dict[str, object]) -> None:
    with pytest.raises(LeftOut):
        case_of(JournalLine.of(record))  # type: ignore[arg-type]
