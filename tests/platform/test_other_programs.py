"""A small program whose answer is read within a limit, and one that outlives us."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from anyhook.platform import above, tree
from anyhook.platform.other_programs import ask

BOUND_S = 60.0
"""A limit that no test should reach."""


def eventually(is_so: Callable[[], bool]) -> bool:
    until = time.monotonic() + BOUND_S
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)
    return is_so()


def is_gone(pid: int) -> bool:
    row = tree.read_process(pid)
    return row is None or row.zombie


def test_the_answer() -> None:
    done = ask(("sh", "-c", "cat; echo bad >&2; exit 3"), BOUND_S, stdin=b"x" * 200_000)
    assert (done.status, len(done.out), done.complaint()) == (3, 200_000, "bad")
    assert ask(("sh", "-c", "exit 4"), BOUND_S).complaint() == "it exited with status 4"
    assert ask(("cat",), BOUND_S).out == b"", "without input, stdin is empty"


@pytest.mark.parametrize("program", ["/nowhere/program", "a\0b", "/"])
def test_it_cannot_be_started(program: str) -> None:
    with pytest.raises(OSError):  # noqa: PT011 (whichever it is)
        ask((program,), BOUND_S)


@pytest.mark.parametrize("line", ["sleep 600 & echo $! > pid; wait", "sleep 600 & echo $! > pid; sleep 600"])
def test_after_the_limit_nothing_is_left(tmp_path: Path, line: str) -> None:
    with pytest.raises(TimeoutError, match="sh did not answer within 1 s"):
        ask(("sh", "-c", line), 1.0, cwd=str(tmp_path))
    assert eventually(lambda: is_gone(int((tmp_path / "pid").read_text())))


def test_a_terminal_is_shared_if_it_is_needed() -> None:
    """Its session is ours, so it can ask for a password."""
    own = ("sh", "-c", "ps -o sid= -p $$")
    session = str(os.getsid(0)).encode()
    assert ask(own, BOUND_S, keeps_terminal=True).out.strip() == session
    assert ask(own, BOUND_S).out.strip() != session


@pytest.mark.parametrize("keeps_terminal", [False, True])
def test_a_process_that_holds_the_pipes_does_not_hold_us(tmp_path: Path, keeps_terminal: bool) -> None:
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        ask(("setsid", "sh", "-c", "sleep 20 & exit"), 1.0, cwd=str(tmp_path), keeps_terminal=keeps_terminal)
    assert time.monotonic() - begun < 15


def test_what_outlives_us(tmp_path: Path) -> None:
    """The process that started it, and its whole group, are gone."""
    code = (
        "import os, signal; from anyhook.platform.other_programs import outlive\n"
        "child = outlive(('sh', '-c', 'read word; sleep 0.5; echo $word > said'), is_told=True)\n"
        "child.stdin.write(b'hello\\n'); child.stdin.close()\n"
        "os.killpg(0, signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=False, start_new_session=True)
    assert eventually(lambda: (tmp_path / "said").exists() and (tmp_path / "said").read_text() == "hello\n")


def test_what_is_above_by_proc_and_by_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both know the same processes."""
    by_proc = [pid for pid, _ in above.above(os.getpid())]
    monkeypatch.setattr(above, "read_process", lambda _: None)
    monkeypatch.setattr(above, "contents", lambda _: b"")
    by_ps = list(above.above(os.getpid()))
    assert [pid for pid, _ in by_ps] == by_proc
    assert all(words for _, words in by_ps)


def test_a_row_of_this_process() -> None:
    row = tree.read_process("self")
    assert row is not None
    assert (row.pid, row.parent, row.group, row.session) == (os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0))
