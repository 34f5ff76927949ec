"""Programs that are not hooks: a small one whose answer we read within a limit, and one that outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from anyhook.platform.leftovers import unmark
from anyhook.platform.run import leave_alone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ProgramAnswer(NamedTuple):
    """How a program ended, and what it printed."""

    status: int
    out: bytes
    err: bytes

    def complaint(self) -> str:
        """Why it failed: what it printed, or its status."""
        return self.err.decode("utf-8", "replace").strip() or f"it exited with status {self.status}"


def ask(
    words: Sequence[str],
    limit_s: float,
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    keeps_terminal: bool = False,
) -> ProgramAnswer:
    """Run a small program and read its answer. Raises OSError if it cannot be started, and TimeoutError, which is one
    too, if it does not answer within the limit. No process of it is left.

    It gets a session of its own, unless it `keeps_terminal`: then it may ask for a password there, and what it leaves
    running after a good answer stays (git starts a process that remembers the password)."""
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=not keeps_terminal,
        )
    except ValueError as error:  # a zero byte in a word
        raise OSError(str(error)) from None
    with child:
        try:
            out, err = child.communicate(stdin or None, timeout=limit_s)
        except subprocess.TimeoutExpired:
            _close(child)
            raise TimeoutError(f"{words[0]} did not answer within {limit_s:g} s") from None
        finally:
            _end(child, in_own_session=not keeps_terminal)
    return ProgramAnswer(child.returncode, out, err)


def _close(child: subprocess.Popen[bytes]) -> None:
    """A process that has left the session may hold the pipes forever."""
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _end(child: subprocess.Popen[bytes], *, in_own_session: bool) -> None:
    """Kill whatever is left of its session."""
    try:
        if in_own_session and hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except (ProcessLookupError, PermissionError):
        return


def outlive(
    words: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None, is_told: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program that goes on after us: no signal to our terminal or group reaches it, and neither a
    hook's end nor ours kills it. If it `is_told` something, its stdin is a pipe that the caller closes."""
    child = subprocess.Popen(
        words,
        stdin=subprocess.PIPE if is_told else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    leave_alone(child.pid)
    unmark(child.pid)
    child.returncode = 0  # we do not wait for it; without this, Popen warns when it is collected
    return child
