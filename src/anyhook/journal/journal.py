"""The journal: one JSON line per fired event, from many processes at once. It never fails an event."""

from __future__ import annotations

import sys
from _thread import allocate_lock

from anyhook.journal.writer import Bounds, JournalWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.problem import Problem

LATER_S = 0.25


class Journal:
    """Takes lines, now or in a moment, and remembers why it could not."""

    def __init__(self, state_dir: str, bounds: Bounds | None = None) -> None:
        self._writer = JournalWriter(state_dir, bounds or Bounds())
        self.broken: str | None = None
        """Why the last line could not be written."""
        self.soon = False
        """Whether a flush is on its way."""
        self._later: Callable[[], list[bytes]] | None = None
        self._flushing = allocate_lock()

    @property
    def path(self) -> str:
        return self._writer.path

    def append(self, *lines: bytes) -> bool:
        """Write the lines, all or none; whether that was possible."""
        try:
            self._writer.append(lines)
        except OSError as error:
            self.broken = error.strerror or str(error)
            return False
        return True

    def later(self, lines: Callable[[], list[bytes]]) -> None:
        """For events that reached no hook: their lines are asked for and written in a moment, so that such an event
        costs its caller almost nothing. What a killed process loses by that are events in which nothing happened."""
        import atexit
        import threading

        self.soon = True
        self._later = lines
        timer = threading.Timer(LATER_S, self.flush)
        timer.daemon = True
        timer.start()
        atexit.unregister(self.flush)
        atexit.register(self.flush)

    def flush(self) -> None:
        """Write what was put off. One at a time, or two would write the same lines."""
        with self._flushing:
            self.soon = False  # before the lines are taken: one that comes after that asks for another flush
            made = self._later() if self._later is not None else []
            if made:
                self.append(*made)

    def close(self) -> None:
        """Write what was deferred, so that nothing is left to do at the end of the program."""
        self.flush()
        self._writer.close()
        if "atexit" in sys.modules:
            sys.modules["atexit"].unregister(self.flush)

    def problem(self) -> Problem:
        """What to say once a line could not be written."""
        from anyhook.model.problem import WARNING, Problem

        return Problem(
            "journal-failed",
            "events are not recorded",
            self.path,
            self.broken or "",
            "Make the state directory writable, and make sure its disk is not full.",
            WARNING,
        )
