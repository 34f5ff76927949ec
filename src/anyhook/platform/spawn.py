"""How to start a process if `posix_spawn` is not enough; and a record of what this process has started."""

from __future__ import annotations

import os
import sys
from _contextvars import ContextVar  # `contextvars` only re-exports this, from one more file

from anyhook.platform.places import after_fork

try:
    from _posixsubprocess import fork_exec
except ImportError:
    fork_exec = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from subprocess import Popen
    from typing import TypeAlias

    from anyhook.model.call import Call
    from anyhook.platform.child import Child

    Spawner: TypeAlias = Callable[[Call, str, int, int, int], tuple[int, Popen[bytes] | None]]

_CODING = sys.getfilesystemencoding()


class Here:
    """What we know about this process and its children."""

    __slots__ = (
        "afterwards", "alive", "at_first", "is_closed", "is_ours", "marks", "spared", "tell_duty", "unless",
        "warm_child",
    )  # fmt: skip

    def __init__(self) -> None:
        self.alive: set[Child] = set()
        """Every child until `conclude`, even before its process exists."""
        self.is_closed = False
        """Whether no new process may be started (see `end_all`)."""
        self.is_ours = False
        """Whether this process is ours alone: we start all its children (see `adopt_orphans`)."""
        self.marks: list[str] = []
        """The marks of all calls so far, if the process is ours."""
        self.spared: set[int] = set()
        """Children that do not belong to a hook and are never killed (see `leave_alone`)."""
        self.at_first: Callable[[], object] | None = None
        """Called before the first hook runs (see `expect_hooks`)."""
        self.tell_duty: Callable[[], None] | None = None
        """Called before the first hook runs, in a worker: its caller must then no longer start the hooks itself."""
        self.unless: Callable[[], None] | None = None
        """Raises if this process may run no hook: another one may have run them."""
        self.warm_child: Callable[[Call], Child] | None = None
        """Starts a call in an interpreter that is already running; None if there is none."""
        self.afterwards: list[Callable[[], None]] = []
        """Functions to call after the answer is given."""

    def begin(self) -> None:
        """A hook is about to run."""
        if self.at_first is not None:
            act, self.at_first = self.at_first, None
            act()

    def after_answer(self, act: Callable[[], None]) -> None:
        """Do it when the agent has its answer, in a worker; elsewhere at once."""
        if self.tell_duty is None:
            act()
        else:
            self.afterwards.append(act)


here = Here()
after_fork(here.alive.clear)  # a fork of the host must not kill its parent's hooks
inside_hook: ContextVar[bool] = ContextVar("inside_hook", default=False)
"""True in the context in which an in-process hook runs: events fired from there reach no hook."""


def is_running(pid: object) -> bool:
    """Whether a process can still answer: it is there, and not stopped."""
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", "rb", 0) as file:
            return file.read(512).rpartition(b")")[2].split()[0] not in (b"T", b"t", b"Z", b"X")
    except (FileNotFoundError, PermissionError):
        return not os.path.exists("/proc/self/stat")  # without /proc, the caller's own limit has to do
    except (OSError, OverflowError, IndexError):
        return False


def leave_alone(pid: int) -> None:
    """Never kill this child: it was started elsewhere and does not belong to a hook."""
    here.spared.add(pid)


def spawner(*, has_pipes_apart: bool) -> Spawner:
    """The cheapest alternative to `posix_spawn`. The C function under `Popen` can do everything for half the cost of
    `Popen`, if the pipes do not have the numbers of stdin, stdout and stderr."""
    if has_pipes_apart and fork_exec is not None:
        return _by_fork_exec
    import subprocess  # noqa: F401 (loaded here, where nobody waits with a lock in hand)

    return _by_popen


def _by_fork_exec(call: Call, program: str, stdin: int, stdout: int, stderr: int) -> tuple[int, Popen[bytes] | None]:
    """Does what `Popen` does, with a private function of the standard library. If that has changed or fails, `Popen`
    tries again and reports why it fails."""
    failure, tell = os.pipe()
    try:
        pid = fork_exec(
            call.argv, (program.encode(_CODING, "surrogateescape"),), True, (tell,), call.cwd, _entries(call.env),
            stdin, -1, -1, stdout, -1, stderr, failure, tell,
            True, False, 0, None, None, None, -1, None, True,  # type: ignore[arg-type]
        )  # fmt: skip
        os.close(tell)
        tell = -1
        if not os.read(failure, 1):
            return pid, None
        os.waitpid(pid, 0)
    except (TypeError, ValueError, OSError):
        pass
    finally:
        os.close(failure)
        if tell >= 0:
            os.close(tell)
    return _by_popen(call, program, stdin, stdout, stderr)


def _entries(env: Mapping[str, str]) -> list[bytes]:
    entries = "\0".join(map("=".join, env.items())).encode(_CODING, "surrogateescape").split(b"\0")
    if len(entries) != len(env) or "=" in "".join(env):
        raise ValueError("a variable that cannot be passed on")
    return entries


def _by_popen(call: Call, program: str, stdin: int, stdout: int, stderr: int) -> tuple[int, Popen[bytes]]:
    import subprocess

    popen = subprocess.Popen(
        call.argv,
        executable=program,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=call.cwd,
        env=call.env,
        process_group=0,
    )
    return popen.pid, popen


class OwnMark:
    """The mark of this process, or ""."""

    mark = ""


def unmark(pid: int) -> None:
    """Remove the mark from a child whose work must continue after this process ends."""
    if not OwnMark.mark:
        return
    import resource

    try:
        hard = resource.prlimit(pid, resource.RLIMIT_RTTIME)[1]
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (hard, hard))
    except (OSError, ValueError):
        return  # it has already ended
