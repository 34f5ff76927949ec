"""Runs conformance vectors against a command, each in its own directories. It never imports the code under test.

Every call is a real process with a clean environment, so a vector works for any implementation of the contract.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from anyhook.extra.testing.conformance.matching import mismatches
from anyhook.extra.testing.conformance.vectors import EXPECTED, ROOMS, Vector, VectorError, load_suite
from anyhook.extra.testing.kit.box import (
    COMMAND,
    LATE_EVERY_S,
    LIMIT_S,
    Box,
    Ended,
    call,
    in_parallel,
    lay_out,
    unlike_file,
    unlike_json,
)
from anyhook.extra.testing.kit.form import entries_of, texts
from anyhook.model.json_types import Json
from anyhook.model.record import Record

Caller = Callable[[Sequence[str], str | None, Mapping[str, str], Path, float], Ended]
"""Starts one call: its words, stdin, environment, directory and limit."""

POLL_LIMIT_S = 20.0
"""Only a failing vector waits this long."""

PROJECT_VERBS = ("fire", "list", "check", "explain", "trust", "new", "enable", "disable")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class VectorResult(Record):
    """The result of one vector: passed, skipped with a reason, or what was different."""

    passed: bool
    skipped_reason: str | None
    failures: list[str]


def conform(
    dialects: Sequence[str],
    directory: str | None,
    say: Callable[[str], None],
    command: Sequence[str] = COMMAND,
) -> tuple[int, int, int]:
    """Runs the vectors and reports what failed and what was skipped.

    Returns how many passed, failed and were skipped; an error of the suite itself counts as a failure.
    """
    suite = load_suite(Path(directory) if directory else None, dialects)
    for error in suite.errors:
        say(f"error: {error}")
    # One more than there are cores: a vector mostly waits for its processes.
    jobs, vectors = (os.cpu_count() or 1) + 1, suite.all()
    results = [*in_parallel(lambda vector: run_vector(vector, command), vectors, jobs)]
    for vector, result in zip(vectors, results, strict=True):
        if result.skipped_reason is not None:
            say(f"skipped: {vector.id}: {result.skipped_reason}")
        elif not result.passed:
            lines = [line for failure in result.failures for line in failure.splitlines()]
            say("\n  ".join([f"failed: {vector.id} ({vector.source}): {vector.title}", *lines]))
    passed = sum(result.passed for result in results)
    skipped = sum(result.skipped_reason is not None for result in results)
    return passed, len(results) - passed - skipped + len(suite.errors), skipped


def run_vector(
    vector: Vector,
    command: Sequence[str] = COMMAND,
    step_limit_s: float = LIMIT_S,
    caller: Caller | None = None,
) -> VectorResult:
    """Lays the vector out, runs its steps, compares, and cleans up. `caller` may start the command differently from
    `call`."""
    with Box() as box:
        try:
            return _run_in(Path(box.root), vector, command, step_limit_s, caller or call)
        except (OSError, VectorError) as error:
            return VectorResult(False, None, _described(vector, "on disk", [str(error)]))


def _run_in(root: Path, vector: Vector, command: Sequence[str], step_limit_s: float, caller: Caller) -> VectorResult:
    places = {room: str(root / room) for room in ROOMS}
    filled = vector.filled({**places, "python": sys.executable})
    env = _environment(filled, places["home"])
    lacking = [name for name in filled.needs if not _is_there(name, env.get("PATH", ""))]
    if lacking:
        return VectorResult(False, f"needs {', '.join(lacking)}", [])
    for room in ROOMS:
        (root / room).mkdir()
        lay_out(str(root / room), filled.layout[room])
    failures = _take_steps(filled, root, env, command, step_limit_s, caller) or _look_around(filled, root)
    return VectorResult(not failures, None, failures)


def _is_there(need: str, path: str) -> bool:
    """A program on the path, or `python:NAME`, a module that this interpreter can import."""
    kind, _, name = need.rpartition(":")
    return importlib.util.find_spec(name) is not None if kind == "python" else shutil.which(name, path=path) is not None


def _environment(vector: Vector, home: str) -> dict[str, str]:
    """The clean environment; our interpreter's directory comes first so that `python3` is the one under test."""
    env = {"PATH": f"{Path(sys.executable).parent}:{SYSTEM_PATH}", "HOME": home, "LANG": "C.UTF-8", **vector.env}
    return {name: value for name, value in env.items() if value is not None}


def _take_steps(
    vector: Vector, root: Path, env: Mapping[str, str], command: Sequence[str], limit_s: float, caller: Caller
) -> list[str]:
    """The failures of the first step that fails: later steps would only repeat them."""
    for number, step in enumerate(vector.steps, 1):
        if "write" in step:
            lay_out(str(root), entries_of(step["write"]))
            continue
        if "sh" in step:
            title = f"sh {step['sh']}"
            ended = call(["/bin/sh", "-c", str(step["sh"])], None, env, root / str(step.get("in", "project")), limit_s)
            found = _unlike({"exit": 0}, ended, limit_s)
        else:
            words, stdin = texts(step["run"]), step.get("stdin")
            title = " ".join(words)
            argv = [*command, *_with_project(words, root / "project")]
            ended = caller(argv, None if stdin is None else str(stdin), env, root / "project", limit_s)
            found = _unlike({key: step[key] for key in EXPECTED if key in step}, ended, limit_s)
        if found:
            title = title if len(title) <= 100 else f"{title[:100]}…"
            return _described(vector, f"step {number} ({title})", found, ended)
    return []


def _with_project(argv: Sequence[str], project: Path) -> list[str]:
    named = any(word == "--project" or word.startswith("--project=") for word in argv)
    if argv[0] not in PROJECT_VERBS or named:
        return list(argv)
    return [argv[0], "--project", str(project), *argv[1:]]


def _unlike(expect: Mapping[str, Json], ended: Ended, limit_s: float) -> list[str]:
    """What differs from the expected `exit`, `json`, `stdout` and `stderr`."""
    if ended.exit_code is None:
        return [f"did not end, or kept its output open, within {limit_s:g} s"]
    seen: dict[str, Json] = {"exit": ended.exit_code, "stdout": ended.stdout, "stderr": ended.stderr}
    found = unlike_json(expect["json"], ended.stdout, "stdout") if "json" in expect else []
    return found + [line for key in seen if key in expect for line in mismatches(expect[key], seen[key], key)]


def _described(vector: Vector, place: str, found: Sequence[str], ended: Ended | None = None) -> list[str]:
    lines = [f"{vector.id} [{', '.join(vector.rows)}] {place}: {line}" for line in found]
    if ended and ended.tail:
        lines[-1] = "\n    ".join([lines[-1], "stderr ends with:", *ended.tail])
    return lines


def _look_around(vector: Vector, root: Path) -> list[str]:
    """Check what must be there and what must not, until it is as expected or time is up: background hooks may still be
    writing."""
    deadline = time.monotonic() + POLL_LIMIT_S
    while True:
        found = [line for path, wanted in vector.files.items() for line in unlike_file(wanted, str(root / path), path)]
        if not found or time.monotonic() > deadline:
            return _described(vector, "afterwards", found)
        time.sleep(LATE_EVERY_S)
