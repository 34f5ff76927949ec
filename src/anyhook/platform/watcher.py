"""Hooks with a thread: one that waits for a process, so that several can be watched at the same time, and one that does
the work itself."""

from __future__ import annotations

import contextvars
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from anyhook.model.call import Run
from anyhook.model.words import Ending
from anyhook.platform.child import OUTPUT_LIMIT

if TYPE_CHECKING:
    from anyhook.handlers import Waitable


class Watched:
    """Any thread may wait for it or kill it."""

    def __init__(self, started: Waitable, then: Callable[[Run], None] | None = None) -> None:
        """`then` gets the run before any waiting thread does."""
        self._started, self._then, self._done = started, then, threading.Event()
        self._run: Run | None = None
        threading.Thread(target=self._wait_to_end, name="anyhook-watch", daemon=True).start()

    def wait(self, grace_s: float | None = None) -> Run | None:
        self._done.wait(grace_s)
        return self._run

    def end(self, ending: Ending = "cancelled") -> None:
        self._started.end(ending)

    def _wait_to_end(self) -> None:
        try:
            run = self._started.wait(None)
            if run is not None and self._then is not None:
                self._then(run)
            self._run = run
        finally:
            self._done.set()


class InThread(ABC):
    """Work in a thread, waited for like a process. Any thread may wait for it or end it; a thread cannot be killed, but
    what it says after its end does not count."""

    def __init__(self, name: str, limit_s: float) -> None:
        """Starts it, so a subclass does this last."""
        self._started_ns, self._started_s = time_ns(), monotonic()
        self._until_s = self._started_s + limit_s
        self._done, self._lock = threading.Event(), threading.Lock()
        self._run: Run | None = None
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._work,), name=f"anyhook-{name}", daemon=True).start()

    @abstractmethod
    def _work(self) -> None:
        """In the thread."""

    def wait(self, grace_s: float | None = None) -> Run | None:
        left_s = self._left_s()
        self._done.wait(left_s if grace_s is None else min(grace_s, left_s))
        if self._run is None and not self._left_s():
            self.end("timed_out")
        return self._run

    def end(self, ending: Ending = "cancelled") -> None:
        self._conclude(ending)

    def _left_s(self) -> float:
        return max(0.0, self._until_s - monotonic())

    def _conclude(
        self, ending: Ending, code: int | None = None, stdout: bytes = b"", stderr: str = "", error: str | None = None
    ) -> None:
        if len(stdout) > OUTPUT_LIMIT:
            ending, code, stdout = "overflowed", None, stdout[:OUTPUT_LIMIT]
        told = stderr.encode("utf-8", "replace")[:OUTPUT_LIMIT]
        with self._lock:
            if self._run is None:
                self._run = Run(ending, code, stdout, told, self._started_ns, monotonic() - self._started_s, error)
                self._done.set()
