"""Runs conformance vectors against a command, each in its own directories. It never imports the code under test.

Every call is a real process with a clean environment, so a vector works for any implementation of the contract.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from anyhook.extra.testing.conformance.layout import lay_out
from anyhook.extra.testing.conformance.matching import mismatches, parse_json, show
from anyhook.extra.testing.conformance.vectors import (
    ROOMS,
    RunStep,
    ShellStep,
    Suite,
    Vector,
    VectorError,
    WriteStep,
    has_rows,
    load_suite,
)
from anyhook.model.record import Record
from anyhook.platform.leftovers import end_all_in, process_ids
from anyhook.platform.other_programs import run_to_end

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

STEP_LIMIT_S = 60.0
POLL_LIMIT_S = 20.0
"""Only a failing vector waits this long."""
POLL_EVERY_S = 0.05
TAIL_LINES = 12

# -P: the process starts in the vector's project, whose files must not be importable by accident.
COMMAND = (sys.executable, "-P", "-m", "anyhook")

PROJECT_VERBS = ("fire", "list", "check", "explain", "trust", "new", "enable", "disable")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class VectorResult(Record):
    """The result of one vector: passed, skipped with a reason, or what was different."""

    passed: bool
    skipped_reason: str | None
    failures: list[str]


if TYPE_CHECKING:
    Caller = Callable[[Sequence[str], str | None, Mapping[str, str], Path, float], "Ended"]
    """Starts one call: its words, stdin, environment, directory and limit."""


class Ended(Record):
    """How one process ended; `exit_code` is None if it had to be killed at the limit."""

    exit_code: int | None
    stdout: str
    stderr: str


def _is_there(need: str, path: str) -> bool:
    """A program on the path, or `python:NAME`, a module that this interpreter can import."""
    kind, _, name = need.rpartition(":")
    return importlib.util.find_spec(name) is not None if kind == "python" else shutil.which(name, path=path) is not None


def run_vector(
    vector: Vector,
    command: Sequence[str] = COMMAND,
    step_limit_s: float = STEP_LIMIT_S,
    caller: Caller | None = None,
) -> VectorResult:
    """Lays the vector out, runs its steps, compares, and cleans up. `caller` may start the command differently from
    `call`."""
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="anyhook-vector-")))
    before = frozenset(process_ids())
    try:
        return _run_in(root, vector, command, step_limit_s, caller or call)
    except (OSError, VectorError) as error:
        return VectorResult(passed=False, skipped_reason=None, failures=_described(vector, "on disk", [str(error)]))
    finally:
        end_all_in(str(root), before)
        remove(root)


def _run_in(root: Path, vector: Vector, command: Sequence[str], step_limit_s: float, caller: Caller) -> VectorResult:
    places = {room: str(root / room) for room in ROOMS}
    filled = vector.filled({**places, "python": sys.executable})
    env = _environment(filled, places["home"])
    lacking = [name for name in filled.needs if not _is_there(name, env.get("PATH", ""))]
    if lacking:
        return VectorResult(passed=False, skipped_reason=f"needs {', '.join(lacking)}", failures=[])
    for room in ROOMS:
        (root / room).mkdir()
        lay_out(root / room, filled.layout[room])
    failures = _take_steps(filled, root, env, command, step_limit_s, caller) or _look_around(filled, root)
    return VectorResult(passed=not failures, skipped_reason=None, failures=failures)


def run_all(
    dialects: Sequence[str] = (),
    directory: str | None = None,
    workers: int | None = None,
    command: Sequence[str] = COMMAND,
) -> list[tuple[Vector, VectorResult]]:
    """The results of all vectors, in the suite's order; raises VectorError if the suite itself is broken."""
    suite = load_suite(Path(directory) if directory else None, dialects)
    if suite.errors:
        raise VectorError("\n".join(suite.errors))
    return _run_many(suite.all(), workers, command)


def conform(
    dialects: Sequence[str],
    directory: str | None,
    say: Callable[[str], None],
    command: Sequence[str] = COMMAND,
) -> tuple[int, int, int]:
    """Runs the vectors and reports what failed, what was skipped and which rows lack proof.

    Returns how many passed, failed and were skipped; an error of the suite itself counts as a failure.
    """
    suite = load_suite(Path(directory) if directory else None, dialects)
    for error in suite.errors:
        say(f"error: {error}")
    results = _run_many(suite.all(), None, command)
    for vector, result in results:
        if result.skipped_reason is not None:
            say(f"skipped: {vector.id}: {result.skipped_reason}")
        elif not result.passed:
            say("\n  ".join([f"failed: {vector.id} ({vector.source}): {vector.title}", *_indented(result.failures)]))
    if directory is None or has_rows(Path(directory)):
        # A user's own vectors need not cover our rows.
        say(report(coverage(suite)))
    passed = sum(result.passed for _, result in results)
    skipped = sum(result.skipped_reason is not None for _, result in results)
    return passed, len(results) - passed - skipped + len(suite.errors), skipped


def _run_many(
    vectors: Sequence[Vector], workers: int | None, command: Sequence[str]
) -> list[tuple[Vector, VectorResult]]:
    # One more than there are cores: a vector mostly waits for its processes.
    with ThreadPoolExecutor(max_workers=workers or (os.cpu_count() or 1) + 1) as pool:
        return list(zip(vectors, pool.map(lambda vector: run_vector(vector, command), vectors), strict=True))


def _indented(failures: Sequence[str]) -> list[str]:
    return [line for failure in failures for line in failure.splitlines()]


def _environment(vector: Vector, home: str) -> dict[str, str]:
    """The clean environment; our interpreter's directory comes first so that `python3` is the one under test."""
    env = {"PATH": f"{Path(sys.executable).parent}:{SYSTEM_PATH}", "HOME": home, "LANG": "C.UTF-8"}
    for name, value in vector.env.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def _take_steps(
    vector: Vector, root: Path, env: Mapping[str, str], command: Sequence[str], limit_s: float, caller: Caller
) -> list[str]:
    """The failures of the first step that fails: later steps would only repeat them."""
    for number, step in enumerate(vector.steps, 1):
        if isinstance(step, WriteStep):
            lay_out(root, step.entries)
            continue
        if isinstance(step, ShellStep):
            argv = ["/bin/sh", "-c", step.script]
            ended = call(argv, None, env, root / step.room, limit_s)
            found = _unlike({"exit": 0}, ended, limit_s)
        else:
            argv = [*command, *_with_project(step.argv, root / "project")]
            ended = caller(argv, step.stdin, env, root / "project", limit_s)
            found = _unlike(step.expect, ended, limit_s)
        if found:
            return _described(vector, f"step {number} ({_title(step)})", found, ended)
    return []


def _with_project(argv: Sequence[str], project: Path) -> list[str]:
    named = any(word == "--project" or word.startswith("--project=") for word in argv)
    if argv[0] not in PROJECT_VERBS or named:
        return list(argv)
    return [argv[0], "--project", str(project), *argv[1:]]


def _title(step: RunStep | ShellStep) -> str:
    words = " ".join(step.argv) if isinstance(step, RunStep) else f"sh {step.script}"
    return words if len(words) <= 100 else f"{words[:100]}…"


def call(argv: Sequence[str], stdin: str | None, env: Mapping[str, str], cwd: Path, limit_s: float) -> Ended:
    data = None if stdin is None else stdin.encode("utf-8", "surrogatepass")
    try:
        ended = run_to_end([*argv], limit_s, stdin=data, env=dict(env), cwd=str(cwd))
    except OSError as error:
        return Ended(exit_code=127, stdout="", stderr=f"could not be started: {error}")
    out, err = ended.out.decode("utf-8", "replace"), ended.err.decode("utf-8", "replace")
    return Ended(exit_code=None if ended.timed_out else ended.status, stdout=out, stderr=err)


def _unlike(expect: Mapping[str, Json], ended: Ended, limit_s: float) -> list[str]:
    """What differs from the expected `exit`, `json`, `stdout` and `stderr`."""
    if ended.exit_code is None:
        return [f"did not end, or kept its output open, within {limit_s:g} s"]
    found: list[str] = []
    if "exit" in expect:
        found += mismatches(expect["exit"], ended.exit_code, "exit")
    if "json" in expect:
        found += _unlike_json(expect["json"], ended.stdout, "stdout")
    if "stdout" in expect:
        found += mismatches(expect["stdout"], ended.stdout, "stdout")
    if "stderr" in expect:
        found += mismatches(expect["stderr"], ended.stderr, "stderr")
    return found


def _unlike_json(expected: Json, text: str, name: str) -> list[str]:
    try:
        return mismatches(expected, parse_json(text))
    except ValueError as error:
        return [f"{name} is not one JSON value ({error}): {show(text)}"]


def _described(vector: Vector, place: str, found: Sequence[str], ended: Ended | None = None) -> list[str]:
    lines = [f"{vector.id} [{', '.join(vector.rows)}] {place}: {line}" for line in found]
    tail = ended.stderr.splitlines()[-TAIL_LINES:] if ended else []
    if tail:
        lines[-1] = "\n    ".join([lines[-1], "stderr ends with:", *tail])
    return lines


def _look_around(vector: Vector, root: Path) -> list[str]:
    """Check `files` and `absent` until they are as expected or time is up: background hooks may still be writing."""
    deadline = time.monotonic() + POLL_LIMIT_S
    while True:
        found = [line for path, wanted in vector.files.items() for line in _unlike_file(path, wanted, root / path)]
        found += [f"{path}: should not be there" for path in vector.absent if os.path.lexists(root / path)]
        if not found or time.monotonic() > deadline:
            return _described(vector, "afterwards", found)
        time.sleep(POLL_EVERY_S)


def _unlike_file(name: str, wanted: Mapping[str, Json], path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        return [f"{name}: cannot be read: {error.strerror}"]
    found = mismatches(wanted["text"], text) if "text" in wanted else []
    found += _unlike_json(wanted["json"], text, "the file") if "json" in wanted else []
    return [f"{name}: {line}" for line in found]


def remove(root: Path) -> None:
    """Deletes a vector's directories, including those that it made unreadable."""
    root.chmod(0o700)
    for folder, names, _ in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o700)
    shutil.rmtree(root, ignore_errors=True)


# -- the rows of the specification, compared with the vectors that cover them


class Coverage(Record):
    """Per row of the loaded dialects, how it is accounted for."""

    shown: dict[str, tuple[str, ...]]
    """Row to the ids of the vectors that name it."""
    deferred: dict[str, str]
    """Row to the reason why no vector shows it yet."""
    missing: dict[str, str]
    """Row to title: neither shown nor deferred."""
    stale: dict[str, tuple[str, ...]]
    """Rows that are deferred although vectors show them."""

    def complete(self) -> bool:
        return not self.missing and not self.stale

    def as_dict(self) -> dict[str, dict[str, str] | dict[str, list[str]]]:
        return {
            "shown": {row: list(ids) for row, ids in self.shown.items()},
            "deferred": dict(self.deferred),
            "missing": dict(self.missing),
            "stale": {row: list(ids) for row, ids in self.stale.items()},
        }


def coverage(suite: Suite) -> Coverage:
    """How the rows of the suite's dialects are accounted for."""
    naming: dict[str, list[str]] = defaultdict(list)
    for row, name in ((row, vector.id) for vector in suite.all() for row in vector.rows):
        naming[row].append(name)
    titles = {row: title for dialect in suite.vectors for row, title in suite.rows.get(dialect, {}).items()}
    reasons = {row: reason for table in suite.deferred.values() for row, reason in table.items()}
    found = Coverage({}, {}, {}, {})
    for row, title in titles.items():
        ids = tuple(naming[row])
        if ids:
            found.shown[row] = ids
            found.stale.update({row: ids} if row in reasons else {})
        elif row in reasons:
            found.deferred[row] = reasons[row]
        else:
            found.missing[row] = title
    return found


def report(found: Coverage) -> str:
    """The same as text: a summary, then one line per row that needs work."""
    total = len(found.shown) + len(found.deferred) + len(found.missing)
    lines = [f"rows: {len(found.shown)} of {total} shown by vectors, {len(found.deferred)} deferred"]
    lines += [f"row {row} has no vector and no reason: {title}" for row, title in found.missing.items()]
    lines += [f"row {row} is deferred although shown by {', '.join(ids)}" for row, ids in found.stale.items()]
    return "\n".join(lines)
