"""The journal: one JSON line per fired event, by one append, from many processes at once. It never fails an event."""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

from anyhook.stores.places import make_private_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyhook.model.problem import Problem

LATER_S = 0.25


class Journal:
    """Appends whole lines. Opened for each line, so that a file that was moved away is simply begun anew."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/journal.jsonl"
        self.broken: str | None = None
        """Why the last line could not be written."""
        self.soon = False
        """Whether a flush is on its way."""
        self._later: Callable[[], list[bytes]] | None = None
        self._flushing = allocate_lock()

    def append(self, line: bytes) -> bool:
        try:
            try:
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:
                make_private_dir(os.path.dirname(self.path))
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                written = os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError as error:
            self.broken = error.strerror or str(error)
            return False
        if written != len(line):
            self.broken = "the disk is full"
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
                self.append(b"".join(made))

    def close(self) -> None:
        """Write what was put off; nothing of it is left to be done at the end of the program."""
        self.flush()
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
            "Make the state directory writable.",
            WARNING,
        )

    def lines(self) -> Iterator[bytes]:
        """Every line, oldest first; none where there is no journal."""
        try:
            with open(self.path, "rb") as file:
                yield from file
        except FileNotFoundError:
            return
