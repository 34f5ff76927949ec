"""Programs that are not hooks: a small one whose answer we read within a limit, and one that outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anyhook.platform.spawn import leave_alone, unmark

REST_S = 5.0
"""How long the output of a program that was killed may take to end."""


class ProgramAnswer(NamedTuple):
    """How a program ended, and what it printed."""

    status: int
    out: bytes
    err: bytes
    timed_out: bool = False

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
    answer = _ended(words, limit_s, stdin or None, env, cwd, keeps_terminal=keeps_terminal)
    if answer.timed_out:
        raise TimeoutError(f"{words[0]} did not answer within {limit_s:g} s")
    return answer


def run_to_end(
    words: Sequence[str],
    limit_s: float,
    *,
    stdin: bytes | None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> ProgramAnswer:
    """The same, with what it printed until its limit. What it leaves running stays. Without `stdin` it reads from
    /dev/null."""
    return _ended(words, limit_s, stdin, env, cwd, keeps_rest=True)


def _ended(
    words: Sequence[str],
    limit_s: float,
    stdin: bytes | None,
    env: Mapping[str, str] | None,
    cwd: str | None,
    *,
    keeps_terminal: bool = False,
    keeps_rest: bool = False,
) -> ProgramAnswer:
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=not keeps_terminal,
        )
    except ValueError as error:  # a zero byte in a word
        raise OSError(str(error)) from None
    timed_out = False
    with child:
        try:
            out, err = child.communicate(stdin, timeout=limit_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            # Not reaped yet, so the pid is still ours, even if it has ended and only a pipe is still open.
            _end(child, in_own_session=not keeps_terminal)
            out, err = _rest(child)
        finally:
            if not keeps_rest:
                _end(child, in_own_session=not keeps_terminal)
    return ProgramAnswer(child.returncode, out, err, timed_out)


def _rest(child: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What it printed before it was killed. A process that has left the session may hold the pipes forever."""
    try:
        return child.communicate(timeout=REST_S)
    except subprocess.TimeoutExpired as late:
        _close(child)
        return late.stdout or b"", late.stderr or b""


def until_told(words: Sequence[str], stdin: str, limit_s: float) -> ProgramAnswer:
    """The same for a program that has work of its own to clean up: it is told to end, not killed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as around:
        try:
            out, err = around.communicate(stdin.encode(), timeout=limit_s)
        except subprocess.TimeoutExpired:
            around.terminate()
            return ProgramAnswer(-signal.SIGTERM, b"", b"", timed_out=True)
        except BaseException:
            around.terminate()
            raise
    return ProgramAnswer(around.returncode, out, err)


def partner(words: Sequence[str], env: Mapping[str, str], cwd: str) -> subprocess.Popen[bytes]:
    """Start one of our processes, which reads tasks and writes answers, in its own process group."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, cwd=cwd, process_group=0
    )


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
