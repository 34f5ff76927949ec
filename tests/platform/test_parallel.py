"""Parallel reading in several processes: answers come in order, no process is left behind, and errors are reported."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from anyhook.platform.parallel import parallel_map

TESTS = os.getpid()


@pytest.fixture
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that this process has no other threads, even if earlier tests left some."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


def asked(number: int) -> tuple[int, int]:
    if number == 33:
        raise ValueError("thirty-three cannot be")
    if number == 55 and os.getpid() != TESTS:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.usefixtures("_alone")
def test_answers_come_in_order_and_nobody_is_left() -> None:
    answers = parallel_map(asked, [*range(30)], jobs=3)
    heard = [next(answers) for _ in range(7)]
    assert [number for number, _ in heard] == [*range(7)]
    pids = {pid for _, pid in heard}
    assert len(pids) == 3
    assert os.getpid() not in pids
    answers.close()
    assert all(map(is_gone, pids))
    assert [number for number, _ in parallel_map(asked, [*range(30)], jobs=3)] == [*range(30)]
    assert [*parallel_map(asked, [], jobs=3)] == []


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize(("number", "what"), [(33, "thirty-three cannot be"), (55, "was ended from outside")])
def test_what_goes_wrong_there_is_told_here(number: int, what: str) -> None:
    heard: list[int] = []
    with pytest.raises(OSError, match=what):
        heard.extend(answer for answer, _ in parallel_map(asked, [1, 2, number, 4], jobs=2))
    assert heard == [1, 2]


def test_a_process_with_threads_works_alone() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert {pid for _, pid in parallel_map(asked, [1, 2, 3], jobs=2)} == {os.getpid()}
    finally:
        end.set()
        thread.join()
