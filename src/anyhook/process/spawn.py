"""The ways to start a process that can do more than `posix_spawn`, and the choice between them; and what this
process has started. Never waits for it."""

from __future__ import annotations

import os
import sys

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
    from anyhook.process.child import Child

    Spawner: TypeAlias = Callable[[Call, str, int, int, int], tuple[int, Popen[bytes] | None]]

_CODING = sys.getfilesystemencoding()


class Here:
    """What is known of the process that we live in, and of what it started."""

    __slots__ = ("afterwards", "alive", "is_closed", "is_ours", "marks", "spared", "tell_duty", "warm_child")

    def __init__(self) -> None:
        self.alive: set[Child] = set()
        """Every child that was not concluded yet, from before its process exists."""
        self.is_closed = False
        """Whether nothing may be started any more (see `end_all`)."""
        self.is_ours = False
        """Whether every child of this process is started here (see `adopt_orphans`)."""
        self.marks: list[str] = []
        """Of all calls so far, where the process is ours."""
        self.spared: set[int] = set()
        """Children that do not belong to a hook (see `leave_alone`)."""
        self.tell_duty: Callable[[], None] | None = None
        """Called before the first hook may run, in a process that somebody else answers for."""
        self.warm_child: Callable[[Call], Child] | None = None
        """Starts a call that may run in an interpreter that is already there; None where none is."""
        self.afterwards: list[Callable[[], None]] = []
        """What to do after the answer is given."""


here = Here()
os.register_at_fork(after_in_child=here.alive.clear)  # a fork of the host must not end the hooks of its parent


def spawner(has_pipes_apart: bool) -> Spawner:
    """The cheapest way that can do all it takes, where `posix_spawn` cannot. What `Popen` is made of can do it all, for
    half of what `Popen` costs, where the pipes lie apart from stdin, stdout and stderr."""
    if has_pipes_apart and fork_exec is not None:
        return _by_fork_exec
    import subprocess  # noqa: F401 (loaded here, where nobody waits with a lock in hand)

    return _by_popen


def _by_fork_exec(call: Call, program: str, stdin: int, stdout: int, stderr: int) -> tuple[int, Popen[bytes] | None]:
    """As `Popen` does it. A private door of the standard library: where it has changed or fails, `Popen` has its turn,
    and says why it fails."""
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
