"""The watchdog of `anyhook bridge`: an agent that has no answer within its time limit ends us and goes on as if nothing
had been hooked. So when that time is nearly up, whatever holds us (a network drive that does not answer, a stdin that
nobody closes, a pattern that takes long), the agent gets the answer that the posture has for our own failures.

It is a thread, because a signal handler of Python waits until the call that hangs has come back."""

from __future__ import annotations

import os

# The C module: `threading` costs more than everything that is needed of it.
from _thread import allocate_lock, start_new_thread
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Overdue(Exception):  # noqa: N818 (it says what is wrong)
    """The agent's time was nearly up and there was no decision."""


def begun_s() -> float:
    """When this process was started, by the monotonic clock; now, where the system does not say. Python had to be
    loaded before anything here could look at a clock, and the agent's clock ran meanwhile."""
    try:
        descriptor = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            line = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
        from time import CLOCK_BOOTTIME, clock_gettime

        started_s = int(line.rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age_s = clock_gettime(CLOCK_BOOTTIME) - started_s
    except (OSError, ValueError, IndexError, ImportError):
        return monotonic()
    return monotonic() - min(max(age_s, 0.0), OLDEST_S)


OLDEST_S = 60.0
"""An age beyond this is a clock that nobody understands (a container that was frozen), and not a slow start."""


class Watchdog:
    """Calls `answer` in the main thread's stead when the time has come, and ends the process with what it returns.
    Exactly one of the two answers: the one that asks first."""

    def __init__(self, at_s: float, answer: Callable[[str], int]) -> None:
        self._at_s, self._answer = at_s, answer
        self._claim, self._done = allocate_lock(), allocate_lock()
        self._stdout = -1
        self.refusal = ""
        """Why this call is refused, whatever the hooks say, as far as that is known yet."""

    def start(self) -> None:
        try:
            self._stdout = os.dup(1)  # while hooks run, stdout leads elsewhere
        except OSError:
            pass  # it was closed from the start
        self._done.acquire()
        try:
            start_new_thread(self._watch, ())
        except RuntimeError:
            pass  # no thread available; go on without

    def stop(self) -> None:
        """The main thread has the answer. Comes back only if it is the one to give it."""
        self._claim.acquire()
        self._done.release()
        if self._stdout >= 0:
            os.close(self._stdout)

    def _watch(self) -> None:
        if self._done.acquire(timeout=max(self._at_s - monotonic(), 0.0)) or not self._claim.acquire(blocking=False):
            return
        status = 1
        try:
            if self._stdout >= 0:
                os.dup2(self._stdout, 1)
            status = self._answer(self.refusal)
        finally:
            os._exit(status)
