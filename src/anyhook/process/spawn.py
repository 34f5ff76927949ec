"""The ways to start a process, and the choice between them. Never waits for what it started."""

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

    Spawner: TypeAlias = Callable[[Call, str, int, int, int], tuple[int, Popen[bytes] | None]]

_IGNORED_BY_PYTHON = (13, 25)
"""SIGPIPE and SIGXFSZ: what is ignored here would be ignored in the started program, too."""

_CODING = sys.getfilesystemencoding()


def spawner(call: Call, lowest_fd: int, is_ours: bool) -> Spawner:
    """The cheapest way that can do all it takes. `posix_spawn` can neither change the directory, nor close what the
    process inherited, nor sort out pipes that lie where stdin, stdout and stderr belong; so it serves a process of our
    own that stays in its directory. What `Popen` is made of can do it all, for half of what `Popen` costs."""
    if lowest_fd > 2:
        if is_ours and _is_current(call.cwd):
            return _by_posix_spawn
        if fork_exec is not None:
            return _by_fork_exec
    import subprocess  # noqa: F401 (loaded here, where nobody waits with a lock in hand)

    return _by_popen


def _by_posix_spawn(call: Call, program: str, stdin: int, stdout: int, stderr: int) -> tuple[int, None]:
    dup = os.POSIX_SPAWN_DUP2
    pid = os.posix_spawn(
        program,
        call.argv,
        call.env,
        file_actions=((dup, stdin, 0), (dup, stdout, 1), (dup, stderr, 2)),
        setpgroup=0,
        setsigdef=_IGNORED_BY_PYTHON,
    )
    return pid, None


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


def _is_current(folder: str) -> bool:
    try:
        return folder == os.getcwd() or os.path.samefile(folder, ".")
    except OSError:
        return False
