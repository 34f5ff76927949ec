"""Runs cases: each in its own sandbox, with the real engine and real processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from anyhook.extra.testing.conformance.matching import parse_json
from anyhook.extra.testing.kit.approval import unapproved_in
from anyhook.extra.testing.kit.box import LATE_EVERY_S, Ended, in_parallel
from anyhook.extra.testing.kit.cases import Case
from anyhook.extra.testing.kit.compare import differences, reports
from anyhook.extra.testing.kit.events import payload_of_agent
from anyhook.extra.testing.kit.one_shot import BAD_TASK
from anyhook.extra.testing.kit.sandbox import CannotRun, Sandbox
from anyhook.journal.read import JournalLine
from anyhook.journal.search import Wanted, search
from anyhook.model import lean_json
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.programs.named import within
from anyhook.tables.registry import host

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
BACKGROUND_S = 10.0
"""How long a case waits for background hooks, whose own limits may be longer."""


class Fired(Record):
    """The result of one event."""

    decision: dict[str, Json]
    """As `fire --json` prints it; for a bridge, from the journal."""
    exit: int | None
    stdout: str
    stderr: str
    """What the bridge printed; "" without an agent."""
    failed: dict[str, str]
    """Hooks that broke, and how."""
    project: str
    """The copy, for checks of files."""


class Result(Record):
    """The result of one case."""

    case: Case
    status: str
    seconds: float
    failures: tuple[str, ...]
    """What was not as expected; one entry may have several lines."""
    decision: dict[str, Json]

    def as_dict(self) -> dict[str, Json]:
        return {
            "file": self.case.file,
            "line": self.case.line,
            "name": self.case.name,
            "status": self.status,
            "why": self.case.skip or None,
            "duration_ms": round(self.seconds * 1000, 3),
            "failures": list(self.failures),
            "decision": self.decision or None,
        }


def run_all(cases: Sequence[tuple[Case, str]], jobs: int, trust: str = "ask") -> Iterator[Result]:
    """The results of cases, each with its project, in their order."""
    return in_parallel(lambda pair: run_case(pair[0], pair[1], trust), cases, jobs)


def run_case(case: Case, project: str, trust: str = "ask") -> Result:
    """One case on a fresh copy of the project. Unless `trust` is `all`, nothing runs if a hook is not approved there;
    what the case adds is approved with it. The caller checks whether the case itself may run."""
    if case.skip:
        return Result(case, SKIPPED, 0.0, (), {})
    begun = time.monotonic()
    decision: dict[str, Json] = {}
    found: list[str] = []
    try:
        with Sandbox(project, case.bring) as sandbox:
            if trust != "all":
                found = unapproved_in(sandbox.project, sandbox.source, sandbox.env["PATH"], os.environ)
            if not found:
                placed = case.placed({"project": sandbox.project, "home": sandbox.home})
                fired = fire_case(placed, sandbox)
                decision, found = fired.decision, differences(placed.expect, fired)
    except CannotRun as error:
        found = [str(error)]
    return Result(case, FAILED if found else PASSED, time.monotonic() - begun, tuple(found), decision)


def fire_case(case: Case, sandbox: Sandbox) -> Fired:
    """Prepares the sandbox and fires the event of the case; raises CannotRun if that is not possible."""
    __tracebackhide__ = True
    try:
        sandbox.lay_out(case.files, case.home)
    except OSError as error:
        raise CannotRun(f"a file of the case could not be written: {error}") from None
    sandbox.set(case.env)
    if case.setup:
        _ended_well(sandbox.shell(case.setup, case.limit_s), "setup", case.limit_s)
    plugins = tuple(os.path.join(sandbox.project, folder) for folder in case.plugin_dirs)
    for folder, path in zip(case.plugin_dirs, plugins, strict=True):
        if not within(os.path.realpath(path), sandbox.project):
            raise CannotRun(f"`plugin_dirs` {folder}: this leads out of the project. Name a folder of the project's.")
        if not os.path.isdir(path):
            raise CannotRun(
                f"`plugin_dirs` {folder}: there is no such folder in the project, nor was one made by `setup`."
            )
    return _bridge(case, sandbox, plugins) if case.agent else _fire(case, sandbox, plugins)


def _fire(case: Case, sandbox: Sandbox, plugins: Sequence[str]) -> Fired:
    """Fire the event with the engine."""
    __tracebackhide__ = True
    ended = sandbox.fire(case, plugins)
    if ended.exit_code == BAD_TASK:
        raise CannotRun(ended.stderr.strip())
    _ended_well(ended, "the engine", case.limit_s)
    answer = parse_json(ended.stdout)
    assert isinstance(answer, dict) and isinstance(answer["decision"], dict)  # noqa: S101, PT018 (our own process)
    decision = answer["decision"]
    return Fired(decision, 2 if answer["stops"] else 0, "", "", _failed(_journal(sandbox, decision)), sandbox.project)


def _bridge(case: Case, sandbox: Sandbox, plugins: Sequence[str]) -> Fired:
    """One call of an agent. The decision comes from the journal; if the call consists of several events, it is the last
    one's."""
    stdin = case.stdin
    if stdin is None:
        table = host(case.agent)
        row = table.row(case.event)
        assert row is not None  # noqa: S101 (checked when the case was read)
        payload = payload_of_agent(table, row, case.given, sandbox.project) if case.payload is None else case.payload
        stdin = lean_json.dumps(payload, ensure_ascii=False)
    ended = sandbox.bridge(case, plugins, stdin)
    if ended.exit_code is None:
        raise CannotRun(f"the bridge did not end within {case.limit_s:g} s")
    lines = _journal(sandbox, None)
    events = [line for line in lines if line.background is None]
    decision = _decision(events[-1]) if events else {}
    return Fired(decision, ended.exit_code, ended.stdout, ended.stderr, _failed(lines), sandbox.project)


def _ended_well(ended: Ended, what: str, limit_s: float) -> None:
    __tracebackhide__ = True
    if ended.exit_code == 0:
        return
    how = f"did not end within {limit_s:g} s" if ended.exit_code is None else f"exited with status {ended.exit_code}"
    raise CannotRun(": ".join(filter(None, [f"{what} {how}", "\n".join(ended.tail)])))


def _journal(sandbox: Sandbox, decision: dict[str, Json] | None) -> list[JournalLine]:
    """The journal of the sandbox. Waits for background hooks."""
    deadline = time.monotonic() + BACKGROUND_S
    while True:
        lines = [line for line in search(sandbox.state_dir, Wanted()) if line.record is not None]
        rows = reports(decision or (_decision(lines[-1]) if lines else {}))
        begun = sum(row.get("status") == "background" for row in rows)
        if sum(line.background is not None for line in lines) >= begun or time.monotonic() > deadline:
            return lines
        time.sleep(LATE_EVERY_S)


def _failed(lines: Iterable[JournalLine]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.background is None:
            found.update({call.hook: call.cause for call in line.calls if call.cause})
        for hook in line.decision.hooks if line.decision is not None else ():
            if hook.status == "broken":
                found.setdefault(hook.id, hook.why or "broken")
    return found


def _decision(line: JournalLine) -> dict[str, Json]:
    """A line's decision with every field that `fire --json` has, and each hook with its run."""
    made = {**Decision(str(line.event)).as_dict(), **(line.decision.raw if line.decision is not None else {})}
    runs = {call.hook: call.run for call in line.calls}
    for row in reports(made):
        run = runs.get(str(row.get("id")))
        if run is not None:
            row.update(ending=run.ending, exit_code=run.exit_code, stdout=run.stdout, stderr=run.stderr)
    return made
