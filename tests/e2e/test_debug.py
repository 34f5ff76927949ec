"""What an unexpected failure prints, and what `--debug` shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import World

FAILS = """
import sys
import anyhook.cli.app as app
def run(words):
    raise RuntimeError("nobody expected this, token=hunter2hunter2")
app.run = run
sys.argv = ["anyhook", *sys.argv[1:]]
from anyhook.entry import main
main()
"""
STEPS = ["plan", "match", "present", "run", "interpret", "judge", "merge", "record", "fire"]


def failed(world: World, *words: str, **env: str) -> tuple[str, str]:
    """Run a command that fails unexpectedly. Returns its stderr and the text of the failure report."""
    command = [sys.executable, "-c", FAILS, *words]
    done = subprocess.run(
        command, env={**world.env, **env}, cwd=world.project, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    found = re.search(r"The report is in (\S+);", done.stderr)
    assert found is not None, done.stderr
    report = Path(found[1])
    assert report.parent == world.state / "failures"
    assert report.stat().st_mode & 0o077 == 0, "for its user alone"
    return done.stderr, report.read_text()


def test_a_failure_is_reported_without_a_traceback(world: World) -> None:
    said, report = failed(
        world, "stats", "--data", '{"a": "private words"}', "--token", "s3cr3t-value", API_KEY="k9-xyzzy-42"
    )
    assert "RuntimeError" in said
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1
    assert "Traceback (most recent call last)" in report
    assert "nobody expected this" in report
    assert "python 3." in report
    assert "called anyhook stats --data (22 characters) --token" in report
    for secret in ("private words", "s3cr3t-value", "hunter2hunter2", "k9-xyzzy-42"):
        assert secret not in report


@pytest.mark.parametrize(("words", "env"), [(["stats", "--debug"], {}), (["stats"], {"ANYHOOK_DEBUG": "1"})])
def test_who_debugs_sees_the_traceback(world: World, words: list[str], env: dict[str, str]) -> None:
    said, _ = failed(world, *words, **env)
    assert "Traceback (most recent call last)" in said


@pytest.mark.parametrize("value", ["", "0"])
def test_a_variable_that_says_no(world: World, value: str) -> None:
    said, _ = failed(world, "stats", ANYHOOK_DEBUG=value)
    assert "Traceback" not in said


def test_where_no_report_can_be_written(world: World) -> None:
    world.state.parent.mkdir(parents=True, exist_ok=True)
    world.state.write_text("a file")
    command = [sys.executable, "-c", FAILS, "stats"]
    done = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("Please report this.")


def test_the_steps_of_an_event(world: World) -> None:
    """`--debug` prints the steps in order, with times, on stderr. The answer on stdout stays the same."""
    world.hook("kodik", "PreToolUse", "exit 2")
    command = [sys.executable, "-m", "anyhook", "fire", "pre_tool", "--tool", "Bash", "--json"]

    def fired(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more], env=world.env, cwd=world.project, capture_output=True, text=True, check=False
        )

    plain, debugged = fired(), fired("--debug")
    assert plain.returncode == debugged.returncode == 2
    assert "debug:" not in plain.stderr
    without_times = re.compile(r'"duration_ms": ?[\d.]+')
    assert without_times.sub("", debugged.stdout) == without_times.sub("", plain.stdout)
    steps = [line.split()[3] for line in debugged.stderr.splitlines() if line.startswith("debug: ")]
    assert [step for step in steps if step in STEPS] == STEPS
    assert all(re.search(r"took [\d.]+ ms$", line) for line in debugged.stderr.splitlines())
    run = next(line for line in debugged.stderr.splitlines() if line.split()[3] == "run")
    assert "exit 2  → exited, status 2" in run
