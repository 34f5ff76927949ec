"""`anyhook agent run` as a process: its arguments, answer and exit status, and what it does on a signal."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from agent_box import LS, record, recorded, script, traces

from anyhook.tables.registry import dialect
from conftest import World

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/agent"


def test_the_answer_alone_is_on_stdout(world: World) -> None:
    world.hook("kode", "user_prompt_submit", """echo '{"annotation": "looked at it"}'""")
    done = world.command("agent", "run", "Hello.", "--model", script(world, "Good day."))
    assert (done.returncode, done.stdout) == (0, "Good day.\n")
    assert "looked at it" in done.stderr


def test_the_object_of_json(world: World) -> None:
    model = script(world, {"expect": "From stdin.", "tools": [LS]}, "Done.")
    done = world.command("agent", "run", "-", "--model", model, "--permission", "auto", "--json", stdin="From stdin.")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert set(report) == {"session", "text", "stop", "turns", "tool_calls", "events"}
    assert (report["text"], report["stop"], report["turns"]) == ("Done.", "done", 2)
    [call] = report["tool_calls"]
    assert set(call) == {"tool", "input", "output", "denied"}
    assert [event["event"] for event in report["events"]] == [
        "session_start", "user_prompt_submit", "turn_start", "pre_tool", "post_tool", "step_end", "step_end", "stop",
        "turn_end", "session_end",
    ]  # fmt: skip
    assert {"verdict", "effect", "hooks", "problems", "enforced"} <= set(report["events"][0])


def test_exit_statuses(world: World) -> None:
    world.hook("kodelet", "user_message_send", """grep -q secret && echo '{"blocked": true, "reason": "no"}' || true""")
    model = ["--model", script(world, "Said.")]
    assert world.command("agent", "run", "Go.", *model).returncode == 0
    assert world.command("agent", "run", "secret", *model).returncode == 2
    broken = world.command("agent", "run", "Go.", "--model", script(world, {"expect": "no", "text": "x"}))
    assert (broken.returncode, "the script expects" in broken.stderr) == (1, True)
    missing = world.command("agent", "run", "Go.", "--model", "openai:none")
    assert (missing.returncode, "Traceback" in missing.stderr) == (1, False)


@pytest.mark.parametrize(
    "words",
    [
        ["Go."],
        [],
        ["Go.", "--model", "nonsense"],
        ["Go.", "--model", "script:none.yaml"],
        ["Go.", "--model", "script:"],
        ["Go.", "--model", "openai:"],
        ["Go.", "--model", "MODEL", "--resume", ""],
        ["Go.", "--model", "MODEL", "--resume", "none"],
        ["Go.", "--model", "MODEL", "--follow"],
        ["Go.", "--model", "MODEL", "--max-turns", "many"],
        ["Go.", "--model", "MODEL", "--arg", "x"],
        ["Go.", "--model", "MODEL", "--permission", "maybe"],
        ["Go.", "--model", "MODEL", "--project", "nowhere"],
    ],
    ids=" ".join,
)
def test_bad_calls(world: World, words: list[str]) -> None:
    model = script(world, "Said.")
    done = world.command("agent", "run", *[model if word == "MODEL" else word for word in words])
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("anyhook agent")
    assert "Traceback" not in done.stderr


def test_the_lines_of_debug(world: World) -> None:
    """A-40, As: prints three lines, exactly as the documentation shows them."""
    world.hook("agenthooks", "before_tool", "echo Dangerous command blocked >&2; exit 2", name="block-dangerous")
    model = script(world, {"tools": [LS]}, "Done.")
    done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto", "--debug")
    lines = [line for line in done.stderr.splitlines() if line.startswith("[HOOK DEBUG]")]
    assert len(lines) == 3
    assert lines[0] == "[HOOK DEBUG] [SYNC] Starting hook 'block-dangerous' for event 'before_tool'"
    start, _, rest = lines[1].partition(" in ")
    assert start == "[HOOK DEBUG] [SYNC] Completed hook 'block-dangerous'"
    took, _, blocked = rest.partition("ms: ")
    assert (took.isdigit(), blocked) == (True, "blocked=True")
    assert lines[2] == "[HOOK DEBUG] Reason: Dangerous command blocked"


TURN_LOGGER = """turn=$(cat); echo "Turn logged" >&2; exit 0"""


@pytest.mark.parametrize(("words", "env"), [(["--debug"], {}), ([], {"KODELET_LOG_LEVEL": "debug"}), ([], {})])
def test_what_a_hook_read_and_its_stderr(world: World, words: list[str], env: dict[str, str]) -> None:
    """The log has the input context, as Kimi documents it, and the turn logger's line, as Kodelet documents it."""
    world.env.update(env)
    world.hook("kodelet", "after_turn", TURN_LOGGER, name="turn-logger")
    world.hook("agenthooks", "before_tool", "cat >/dev/null; echo looked >&2", name="looker")
    model = script(world, {"tools": [LS]}, "Done.")
    done = world.command("agent", "run", "Go.", "--model", model, "--permission", "auto", *words)
    assert ('"event":"after_turn"' in done.stderr.replace(" ", "")) is bool(words or env)
    assert ("  stderr: Turn logged" in done.stderr) is bool(words or env)
    assert ("  stderr: looked" in done.stderr) is bool(words), done.stderr
    assert ('"tool_name":"Shell"' in done.stderr.replace(" ", "")) is bool(words)


def test_trust_hooks(world: World) -> None:
    """G-52: trust is recorded once, so later runs need no flag."""
    world.write(world.project / "hook.sh", f"#!/bin/sh\n{record('start')}\n", 0o755)
    world.kolega("SessionStart", {"type": "command", "command": "./hook.sh"}, "project")
    model = ["--model", script(world, "Said.")]
    world.command("agent", "run", "Go.", *model)
    assert recorded(world, "start") == []
    assert world.command("agent", "run", "Go.", *model, "--trust-hooks").returncode == 0
    assert world.command("agent", "run", "Go.", *model).returncode == 0
    assert len(recorded(world, "start")) == 2


def test_the_state_dir(world: World) -> None:
    declared = {"SessionStart": [{"hooks": [{"type": "command", "command": "sh -c 'touch ../there'"}]}]}
    world.write(world.root / "elsewhere/hooks.json", json.dumps({"schema_version": 1, "hooks": declared}))
    model = script(world, "Said.")
    world.command("agent", "run", "Go.", "--model", model, "--state-dir", str(world.root / "elsewhere"))
    assert (world.root / "there").exists()


def test_help_loads_no_agent(world: World) -> None:
    code = "import sys; from anyhook.cli.app import run; run(['agent', 'run', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=world.env, capture_output=True, text=True, check=True)
    assert "--recipe" in done.stdout
    assert "pydantic" not in done.stdout


def test_the_example(world: World) -> None:
    """The example uses all five dialects in one session, as its README says."""
    shutil.copytree(EXAMPLE, world.project, dirs_exist_ok=True)
    words = ["--model", "script:script.yaml", "--permission", "auto", "--trust", "all"]
    done = world.command("agent", "run", "Publish it; the key is AKIA0123456789ABCDEF.", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Nothing was pushed")
    assert not (world.project / ".env").exists()
    assert (world.project / "CHANGELOG.md").exists()


def left_behind(mark: str) -> list[str]:
    """The command lines of running processes that contain the mark."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode("utf-8", "replace")
        except OSError:
            continue
        if mark in words and str(os.getpid()) != pid:
            found.append(words)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("phase", ["tool", "hook", "model"])
@pytest.mark.parametrize(("number", "reason"), [(signal.SIGTERM, "sigterm"), (signal.SIGINT, "user_exit")])
def test_told_to_end(world: World, number: signal.Signals, reason: str, phase: str) -> None:
    """K-6: the session_end hook runs, no process is left, and the session can be resumed."""
    mark = f"{world.root.name}-{os.getpid()}"
    wait = f"touch ../busy; sleep 55; echo {mark}"
    world.hook("kode", "session_end", record("end"))
    if phase == "hook":
        world.hook("agenthooks", "before_tool", wait)
    steps = [{"tools": [{"shell": {"command": wait if phase == "tool" else "true"}}]}, "Done."]
    if phase == "model":
        steps = [{"tools": [{"shell": {"command": "touch ../busy"}}], "times": 10_000}]
    words = ["agent", "run", "Go.", "--model", script(world, *steps), "--permission", "auto", "--json"]
    if phase == "model":
        words += ["--max-turns", "0"]
    command = [sys.executable, "-m", "anyhook", *words]
    process = subprocess.Popen(command, env=world.env, cwd=world.project, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (world.root / "busy").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    answer, _ = process.communicate(timeout=240)
    report = json.loads(answer)
    assert (process.returncode, report["stop"]) == (130, "interrupted")
    assert [it["reason"] for it in recorded(world, "end")] == [reason]
    assert left_behind(mark) == []
    again = world.command("agent", "run", "And?", "--model", script(world, "Fine."), "--resume", report["session"])
    assert again.stdout == "Fine.\n"


@pytest.mark.parametrize(
    ("redirection", "status"), [(">&-", 0), ("2>&-", 0), ("<&-", 0), ("| true", 0), (">/dev/full", 1)]
)
def test_streams_that_are_closed_or_full(world: World, redirection: str, status: int) -> None:
    model = script(world, {"tools": [LS]}, "Done.")
    line = f"{sys.executable} -m anyhook agent run Go. --permission auto --model {model} {redirection}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], env=world.env, cwd=world.project, capture_output=True, text=True, check=False
    )
    assert (done.returncode, traces(world)) == (status, 1), done.stderr
    assert "report this" not in done.stderr
    assert ("could not be written" in done.stderr) is (status == 1)


@pytest.mark.parametrize("name", ["kode", "kodik", "agenthooks", "kolega"])
def test_the_reason_of_advice_is_shown(world: World, name: str) -> None:
    """Do, Ag, Kk: every block that stops nothing is shown to the person, with the answer on stdout alone."""
    advisory = [row.native for row in dialect(name).events if row.block == "advisory"]
    for native in advisory:
        world.hook(name, native, f"echo advice on {native} >&2; exit 2", name=native.replace("_", "-"))
    steps: list[dict[str, Any]] = [
        {"tools": [{"shell": {"command": "echo forbidden"}}]},
        {"tools": [{"delegate_task": {"agent_name": "self", "task": "Count."}}]},
        {"by": "subagent", "text": "Three."},
        {"tools": [{"list_files": {}}], "usage": {"input_tokens": 790, "output_tokens": 10}},
        {"by": "recipe", "text": "We went."},
        {"text": "Done.", "usage": {"input_tokens": 10}},
    ]
    model = script(world, *steps, context_window=1000)
    done = world.command("agent", "run", "Go.", "--model", model, "--permission", "ask")
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr
    assert [native for native in advisory if f"advice on {native}\n" not in done.stderr] == []
    assert advisory


@pytest.mark.parametrize("native", ["PermissionRequest", "PreToolUse", "PostToolUse"])
def test_the_reason_of_an_approval_is_shown(world: World, native: str) -> None:
    """D-22, Dk."""
    world.hook("kodik", native, """echo '{"decision": "approve", "reason": "the user may"}'""")
    model = script(world, {"tools": [LS]}, "Done.")
    permission = "ask" if native == "PermissionRequest" else "auto"
    done = world.command("agent", "run", "Go.", "--model", model, "--permission", permission)
    assert (done.returncode, done.stdout, traces(world)) == (0, "Done.\n", 1)
    assert done.stderr.count("the user may") == 1
