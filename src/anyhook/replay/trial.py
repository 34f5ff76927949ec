"""Trials: calls of a hook for recorded events, run in a sandbox; warm if the hook is Python, otherwise cold. The
workers of a pool or a cluster run them,"""

from __future__ import annotations

import marshal
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from anyhook.model.call import Call, Run
from anyhook.model.record import Record
from anyhook.platform.other_programs import ask, partner
from anyhook.platform.run import end_all, run

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    Result = tuple[str, Run, bool]
    """Key, the run, and whether it was warm."""

EVERY = 2_000
"""One in this many trials is run cold as well as warm."""
FIRST, SMALL = 3, 500
"""And so are this many at the beginning of each small batch, as the first ones are; one of each larger batch."""
DEATHS = 3
"""How often a hook may crash a long-lived interpreter before the rest of a batch runs cold."""
START_S = 20.0
"""How long a long-lived interpreter may take to start."""


class Trial(Record):
    """One call, with everything a worker needs."""

    key: str
    hook: str
    call: Call
    interpreter: str = ""
    """The command of a long-lived interpreter; "" to run only cold."""
    task: tuple[object, ...] = ()
    """What it is given."""


SANDBOX_LIMIT_S = 30.0
"""How long an empty sandbox may take."""


def sandbox_of(kind: str, project: str, needed: Sequence[str]) -> tuple[str, ...]:
    """The command prefix that keeps a hook from writing anything and from the network. Raises LookupError if there is
    no sandbox."""
    if kind == "none":
        return ()
    program = shutil.which("bwrap")
    if program is None:
        raise LookupError("bubblewrap (`bwrap`) is not installed")
    words = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108
    for path in dict.fromkeys((project, *needed)):
        if os.path.exists(path) and os.path.realpath(path).startswith("/tmp/"):  # noqa: S108
            words += ["--ro-bind", path, path]
    return (*words, "--unshare-all", "--die-with-parent", "--new-session", "--")


def works(sandbox: tuple[str, ...]) -> str:
    """Why the sandbox cannot be used; "" if it can."""
    if not sandbox:
        return ""
    try:
        done = ask((*sandbox, "true"), SANDBOX_LIMIT_S)
    except OSError as error:
        return str(error)
    return done.complaint() if done.status else ""


def end_with(lifeline: Connection) -> None:
    """In a worker of a pool: its parent interrupts it, and if the parent is gone, the worker and all its hooks are
    killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        try:
            lifeline.recv_bytes()
        except (EOFError, OSError):
            pass  # nothing is ever sent: the other end was closed
        end_all(for_good=True)
        for worker in list(_Worker.alive):
            worker.kill()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def run_batch(trials: Sequence[Trial], sandbox: tuple[str, ...]) -> tuple[list[Result], bool]:
    """Run the trials of one hook; the results, and whether one of them went otherwise warm than cold."""
    results: list[Result] = []
    is_strange = False
    warm = [trial for trial in trials if trial.interpreter]
    answers = dict(_warm(warm, sandbox)) if warm else {}
    first = FIRST if len(trials) <= SMALL else 1
    for index, trial in enumerate(trials):
        answer = answers.get(trial.key)
        if answer is None or index < first or int(trial.key[:8], 16) % EVERY == 0:
            cold = _cold(trial, sandbox)
            is_strange = is_strange or (answer is not None and not _agree(answer, cold))
            results.append((trial.key, cold, False))
        else:
            results.append((trial.key, answer, True))
    return results, is_strange


def _agree(one: Run, other: Run) -> bool:
    return (one.ending, one.exit_code, one.stdout, one.stderr) == (
        other.ending,
        other.exit_code,
        other.stdout,
        other.stderr,
    )


def _cold(trial: Trial, sandbox: tuple[str, ...]) -> Run:
    call = trial.call
    argv, stdin = call.argv, call.stdin
    if trial.task and trial.task[0] == "callable":
        argv = (sys.executable, "-P", "-m", "anyhook.handlers.callable_host")
        stdin = marshal.dumps(trial.task[1:])  # type: ignore[arg-type]
    return run(Call((*sandbox, *argv), stdin, call.env, call.cwd, call.limit_s, ""))


def _warm(trials: list[Trial], sandbox: tuple[str, ...]) -> Iterator[tuple[str, Run]]:
    """The answers of a long-lived interpreter; none for events that crashed it, which then run cold."""
    rest = trials
    for _ in range(DEATHS + 1):
        if not rest:
            return
        worker = _Worker(rest[0], sandbox)
        done = 0
        try:
            worker.give([trial.task for trial in rest])
            worker.answer(START_S)
            for trial in rest:
                answer = worker.answer(trial.call.limit_s)
                done += 1
                if answer is None:
                    break
                status, stdout, stderr, took = answer
                yield trial.key, Run("exited", status, stdout, stderr, time.time_ns(), took)
        finally:
            worker.end()
        rest = rest[max(done, 1) :]


class _Worker:
    """One long-lived interpreter."""

    alive: ClassVar[set[_Worker]] = set()

    def __init__(self, trial: Trial, sandbox: tuple[str, ...]) -> None:
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm_worker.py")
        flags = ["-P"] if trial.interpreter == sys.executable else []
        self._child = partner([*sandbox, trial.interpreter, *flags, program], trial.call.env, trial.call.cwd)
        self.alive.add(self)
        self._deadline = float("inf")
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            if time.monotonic() > self._deadline:
                self.kill()

    def kill(self) -> None:
        self._child.kill()

    def give(self, tasks: list[tuple[object, ...]]) -> None:
        """In a thread: the pipe is full long before a large batch is through."""

        def write() -> None:
            assert self._child.stdin is not None  # noqa: S101 (asked for above)
            try:
                marshal.dump(tasks, self._child.stdin)
                self._child.stdin.close()
            except OSError:
                return  # it is gone, which its silence tells as well

        self._writer = threading.Thread(target=write, daemon=True)
        self._writer.start()

    def answer(self, limit_s: float) -> tuple[int, bytes, bytes, float] | None:
        assert self._child.stdout is not None  # noqa: S101 (asked for above)
        self._deadline = time.monotonic() + limit_s
        length = int.from_bytes(self._child.stdout.read(4), "little")
        data = self._child.stdout.read(length)
        if not length or len(data) < length:
            return None
        found: tuple[int, bytes, bytes, float] = marshal.loads(data)  # noqa: S302 (our own worker)
        return found

    def end(self) -> None:
        self._over.set()
        self.kill()
        self._child.wait()
        self.alive.discard(self)
        self._writer.join()
        assert self._child.stdout is not None  # noqa: S101 (asked for above)
        self._child.stdout.close()
