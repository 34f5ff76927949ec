"""The ways to start a process, and the choice between them. Never waits for what it started."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen
    from typing import TypeAlias

    from anyhook.model.call import Call

    Spawner: TypeAlias = Callable[[Call, str, int, int, int], tuple[int, Popen[bytes] | None]]

_IGNORED_BY_PYTHON = (13, 25)
"""SIGPIPE and SIGXFSZ: what is ignored here would be ignored in the started program, too."""


def spawner(call: Call, lowest_fd: int, is_ours: bool) -> Spawner:
    """The cheapest way that can do all it takes. `posix_spawn` can neither change the directory, nor close what the
    process inherited, nor sort out pipes that lie where stdin, stdout and stderr belong; so it serves a process of our
    own that stays in its directory, and spares it the loading of `subprocess`."""
    if is_ours and lowest_fd > 2 and _is_current(call.cwd):
        return _by_posix_spawn
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
