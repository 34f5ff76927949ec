"""`anyhook test`: cases run in real processes on a copy. Differences are reported, and the user's files are not
touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kit_box import Box

from conftest import World

CASES = """\
defaults:
  event: PreToolUse
  tool: Bash
cases:
  - name: refuses
    input: {command: rm -rf build}
    expect:
      verdict: block
      effect: deny_tool
      reason: {$has: not for agents}
      exit: 2
      ran: [kodik]
      hooks: {kodik: {exit_code: 2, stderr: {$re: "^rm"}}}
  - name: lets others pass
    input: {command: ls}
    expect: {verdict: none, exit: 0, problems: [], tool_input: null}
  - name: does not care for other tools
    tool: Edit
    input: {path: rm -rf}
    expect: {verdict: none, not_ran: [kodik]}
  - name: works in a copy
    input: {command: write}
    expect: {verdict: none, files: {left.txt: "touched\\n", gone.txt: null}}
  - name: is not there yet
    skip: waits for the next version
    expect: {verdict: block}
"""


@pytest.fixture
def box(world: World) -> Box:
    return Box(world)


def test_cases_that_hold(box: Box) -> None:
    box.cases(CASES)
    before = box.tree()
    done = box.call("test", "--trust", "all")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "4 passed, 0 failed, 1 skipped"
    assert "- is not there yet: waits for the next version" in done.stdout
    assert box.tree() == before, "neither the project nor the home was touched"


def test_what_differs_is_told(box: Box) -> None:
    found = box.run("""\
defaults: {event: PreToolUse, tool: Bash}
cases:
  - {name: a, input: {command: ls}, expect: {verdict: block, exit: 2}}
  - {name: b, input: {command: rm -rf x}, expect: {verdict: none, reason: null, not_ran: [kodik]}}
  - {name: c, input: {command: crash}, expect: {verdict: none}}
  - {name: d, input: {command: crash}, expect: {verdict: none, failed: [kodik]}}
  - {name: e, input: {command: ls}, expect: {verdict: none, failed: [kodik]}}
  - {name: f, input: {command: ls}, expect: {ran: [nobody]}}
  - {name: g, tool: Edit, expect: {ran: [kodik]}}
  - {name: h, input: {command: ls}, expect: {problems: [hook-failed]}}
  - {name: i, input: {command: crash}, expect: {problems: [], failed: [kodik]}}
  - {name: j, input: {command: write}, expect: {files: {left.txt: "one\\ntwo\\n"}}}
""")
    told = {case["name"]: "\n".join(case["failures"]) for case in found["cases"]}
    assert 'verdict: expected "block", got "none"' in told["a"]
    assert "exit: expected 2, got 0" in told["a"]
    assert "kodik:project:PreToolUse:case  ran, exit 0" in told["a"], "what the hooks did is shown"
    assert "not_ran: `kodik` ran" in told["b"]
    assert "stderr: rm -rf is not for agents" in told["b"]
    assert "failed: kodik:project:PreToolUse:case broke (exit)" in told["c"]
    assert told["d"] == ""
    assert "failed: `kodik` did not fail" in told["e"]
    assert "no hook `nobody` was considered for this event. Hooks: kodik:project:PreToolUse:case" in told["f"]
    assert "`kodik` did not run (kodik:project:PreToolUse:case is unmatched" in told["g"]
    assert "problems: `hook-failed` was not reported" in told["h"]
    assert "problems: `hook-failed` was reported" in told["i"]
    assert "--- expected\n+++ got\n@@ -1,2 +1 @@\n-one\n-two\n+touched" in told["j"]
    assert (found["passed"], found["failed"]) == (1, 9)


def test_a_place_of_its_own(box: Box) -> None:
    """The hook sees the files, variables, home and links of the case, not the user's, and not what the copy leaves
    out."""
    world = box.world
    world.write(box.project / "node_modules" / "dep", "x")
    world.write(box.project / "keep" / "real.txt", "real")
    (box.project / "inside").symlink_to(box.project / "keep" / "real.txt")
    world.hook("kolega", "PreToolUse", "exit 1")  # the user's own hook, which would fail every case
    show = 'echo "$PWD|$HOME|$SHOWN|$GONE|$(cat extra.txt)|$(readlink inside)|$(ls)" >&2; exit 2'
    world.hook("kode", "tool_call_pre", "exit 0")
    world.hook("claude", "PreToolUse", show, scope="project")
    found = box.run(
        """\
cases:
  - name: sees it
    event: pre_tool
    dialect: claude
    env: {SHOWN: "{home}/x", GONE: null}
    files: {extra.txt: more, tool: {text: "#!/bin/sh", mode: "755"}}
    home: {.claude/settings.json: '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}'}
    setup: echo made > made.txt
    expect:
      reason: {$re: '^(/.*/project)\\|(/.*/home)\\|\\2/x\\|\\|more\\|\\1/keep/real.txt\\|extra.txt'}
      ran: ["claude:user", "claude:project"]
      files: {made.txt: "made\\n"}
  - name: brings what it needs
    event: pre_tool
    dialect: claude
    bring: [node_modules]
    expect: {reason: {$has: node_modules}}
  - name: leaves out the rest
    event: pre_tool
    dialect: claude
    expect: {reason: {$not: {$has: node_modules}}}
  - name: needs a setup that succeeds
    event: pre_tool
    setup: echo because >&2; exit 3
    expect: {verdict: none}
"""
    )
    told = {case["name"]: case["failures"] for case in found["cases"]}
    assert told.pop("needs a setup that succeeds") == ["setup exited with status 3: because"]
    assert told == {name: [] for name in told}


def test_through_an_agent(box: Box) -> None:
    found = box.run("""\
defaults: {agent: claude, event: PreToolUse}
cases:
  - name: by fields
    tool: Bash
    input: {command: rm -rf x}
    expect:
      exit: 0
      json: {hookSpecificOutput: {permissionDecision: deny, permissionDecisionReason: {$has: agents}}}
      verdict: block
      ran: [kodik]
      hooks: {kodik: {exit_code: 2}}
  - name: by its payload
    payload: {session_id: s, tool_name: Bash, tool_input: {command: ls}}
    expect: {exit: 0, stdout: "", verdict: none}
  - name: with a payload that is none
    stdin: '{"broken'
    expect: {exit: 0, stderr: {$has: the payload is not valid JSON}}
  - name: with a payload that is none, fail closed
    stdin: '{"broken'
    on_failure: deny
    expect: {json: {hookSpecificOutput: {permissionDecision: deny}}}
  - name: in shadow mode
    mode: shadow
    tool: Bash
    input: {command: rm -rf x}
    expect: {stdout: "", verdict: block, enforced: false}
""")
    assert [case["failures"] for case in found["cases"] if case["failures"]] == []
    assert found["passed"] == 5


def test_postures_and_background_hooks(world: World, box: Box) -> None:
    world.hook("agenthooks", "after_tool", "echo later > later.txt", scope="project", name="note", **{"async": True})
    found = box.run("""\
cases:
  - name: fail closed
    event: pre_tool
    tool: Bash
    input: {command: crash}
    on_failure: deny
    expect: {verdict: block, failed: [kodik], problems: [hook-failed]}
  - name: a background hook is waited for
    event: post_tool
    tool: Bash
    output: done
    expect: {verdict: none, ran: [note], files: {later.txt: {$has: later}}}
""")
    assert [case["failures"] for case in found["cases"]] == [[], []]


def test_nothing_runs_in_a_project_that_was_never_approved(box: Box) -> None:
    box.cases(CASES)
    done = box.call("test")
    assert (done.returncode, done.stdout) == (3, "")
    assert "you never approved it" in done.stderr
    assert "--trust all" in done.stderr
    assert box.call("trust", "--yes").returncode == 0
    assert box.call("test").returncode == 0


def test_a_choice(box: Box) -> None:
    assert [case["name"] for case in box.run(CASES, "-k", "REFUSES")["cases"]] == ["refuses"]
    done = box.call("test", "--trust", "all", "-k", "nothing like it")
    assert (done.returncode, done.stdout) == (3, "")
    assert "none of the 5 cases" in done.stderr
    path = str(box.project / ".kodik")
    assert box.call("test", path, "--trust", "all", "-j", "1", cwd=box.world.home).returncode == 0


def test_bad_input_is_told(box: Box) -> None:
    done = box.call("test")
    assert (done.returncode, done.stdout) == (3, "")
    assert "There are no cases." in done.stderr
    assert "cases:\n    - name" in done.stderr
    box.cases(CASES.replace("expect", "expct"))
    box.cases("cases: [", "other.hooktest.yaml")
    done = box.call("test", "--trust", "all")
    assert (done.returncode, done.stdout) == (3, "")
    assert "guard.hooktest.yaml:7: there is no key `expct` here. Did you mean `expect`?" in done.stderr
    assert "other.hooktest.yaml:1: not valid YAML" in done.stderr
    assert "Traceback" not in done.stderr


def test_folders_that_are_not_there(box: Box) -> None:
    found = box.run("""
cases:
  - {name: a, event: stop, bring: [node_modules], expect: {verdict: none}}
  - {name: b, event: stop, plugin_dirs: [plug], expect: {verdict: none}}
  - {name: c, event: stop, plugin_dirs: [plug], setup: mkdir plug, expect: {verdict: none}}
""")
    assert [case["status"] for case in found["cases"]] == ["failed", "failed", "passed"]
    assert found["cases"][0]["failures"][0].startswith("`bring` node_modules: there is no such folder in ")
    assert found["cases"][1]["failures"][0].startswith("`plugin_dirs` plug: there is no such folder in the project")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_ended_in_the_middle(box: Box, tmp_path: Path, number: int, status: int) -> None:
    """It ends at once, although cases have a minute, and none of their processes is left."""
    box.world.hook("kodik", "Stop", "touch ../../begun-$$; sleep 50", scope="project")
    box.cases(
        "cases:\n" + "".join(f"  - {{name: n{each}, event: stop, expect: {{verdict: none}}}}\n" for each in range(4))
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [sys.executable, "-P", "-m", "anyhook", "test", "--trust", "all", "-j", "2"]
    env = {**box.world.env, "TMPDIR": str(temporary)}
    child = subprocess.Popen(words, env=env, cwd=box.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len([*temporary.glob("begun-*")]) < 2:
        time.sleep(0.05)
    child.send_signal(number)
    out, err = child.communicate(timeout=240)
    assert (child.returncode, out) == (status, "")
    assert "Traceback" not in err
    assert [*temporary.glob("anyhook-test-*")] == []
    assert len([*temporary.glob("begun-*")]) == 2, "nothing else was begun"


def test_nothing_is_left_behind(box: Box, tmp_path: Path) -> None:
    box.world.hook("kodik", "Stop", "sleep 300 & sleep 300", scope="project", timeout=1)
    box.cases("cases:\n  - {name: a, event: stop, expect: {failed: [kodik]}}\n")
    done = box.call("test", "--trust", "all", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stdout
    assert [name for name in os.listdir(tmp_path) if name.startswith("anyhook-")] == []
