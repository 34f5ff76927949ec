"""A started hook with a thread that waits for it, so that several can be watched at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from anyhook.model.call import Run
from anyhook.model.words import Ending

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
