"""Parallel map: one function over many tasks, in as many processes as there are processors, with the answers in the
order of the tasks. It leaves no process behind, and where it cannot fork it does the tasks one by one."""

from __future__ import annotations

import marshal
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, BinaryIO, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def processors() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def parallel_map(
    function: Callable[[Task], Answer], tasks: Sequence[Task], jobs: int | None = None
) -> Generator[Answer, None, None]:
    """The answer to each task. Answers are plain values, which `marshal` passes between processes. Close the iterator
    to stop early. A process with several threads cannot be forked safely; it works alone."""
    jobs = min(jobs or processors(), len(tasks))
    if jobs < 2 or not hasattr(os, "fork") or threading.active_count() > 1:
        yield from map(function, tasks)
        return
    workers: list[tuple[int, BinaryIO]] = []
    try:
        for first in range(jobs):
            workers.append(_started(function, tasks[first::jobs]))
        for number in range(len(tasks)):
            good, answer = _heard(workers[number % jobs][1])
            if not good:
                raise OSError(answer)
            yield answer
    finally:
        for _, answers in workers:
            answers.close()  # workers that are still running find that nobody reads, and exit
        for pid, _ in workers:
            os.waitpid(pid, 0)


def _started(function: Callable[[Task], Answer], tasks: Sequence[Task]) -> tuple[int, BinaryIO]:
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return pid, os.fdopen(ours, "rb")
    try:
        os.close(ours)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with os.fdopen(theirs, "wb") as answers:
            _answer(function, tasks, answers)
    except OSError:
        pass  # nobody listens any more
    finally:
        os._exit(0)


def _answer(function: Callable[[Task], Answer], tasks: Sequence[Task], answers: BinaryIO) -> None:
    for task in tasks:
        try:
            answer: tuple[bool, Any] = True, function(task)
        except Exception as error:  # noqa: BLE001 (whatever it is, the parent tells it)
            answer = False, str(error)
        marshal.dump(answer, answers)
        answers.flush()
        if not answer[0]:
            return


def _heard(answers: BinaryIO) -> tuple[bool, Any]:
    try:
        heard: tuple[bool, Any] = marshal.load(answers)  # noqa: S302 (our own child wrote it)
    except (EOFError, ValueError, TypeError):
        return False, "a process that helped with reading was ended from outside"
    return heard
