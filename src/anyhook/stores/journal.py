"""The journal: one JSON line per fired event, by one append, from many processes at once. It never fails an event."""

from __future__ import annotations

import os

from anyhook.stores.places import make_private_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyhook.model.problem import Problem

LATER_S = 0.25
LATER_MOST = 1000


class Journal:
    """Appends whole lines. Opened for each line, so that a file that was moved away is simply begun anew."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/journal.jsonl"
        self.broken: str | None = None
        """Why the last line could not be written."""
        self._later: list[Callable[[], bytes]] = []

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

    def later(self, line: Callable[[], bytes]) -> None:
        """For events that reached no hook: kept in memory for a moment, so that they cost their caller almost nothing.
        What a killed process loses by that are events in which nothing happened."""
        self._later.append(line)
        waiting = len(self._later)
        if waiting == 1:
            self._flush_soon()
        elif waiting >= LATER_MOST:
            self.flush()

    def _flush_soon(self) -> None:
        import atexit
        import threading

        timer = threading.Timer(LATER_S, self.flush)
        timer.daemon = True
        timer.start()
        atexit.unregister(self.flush)
        atexit.register(self.flush)

    def flush(self) -> None:
        """Write what was put off."""
        lines: list[bytes] = []
        while self._later:
            try:
                lines.append(self._later.pop(0)())  # one by one: other threads add to the list and flush it, too
            except IndexError:
                break
            except (TypeError, ValueError, RecursionError) as error:
                self.broken = f"an event cannot be written down: {error}"
        if lines:
            self.append(b"".join(lines))

    def problem(self) -> Problem:
        """What to say once a line could not be written."""
        from anyhook.model.problem import WARNING, Problem

        return Problem("journal-failed", "events are not recorded", self.path, self.broken or "",
                       "Make the state directory writable.", WARNING)  # fmt: skip

    def lines(self) -> Iterator[bytes]:
        """Every line, oldest first; none where there is no journal."""
        try:
            with open(self.path, "rb") as file:
                yield from file
        except FileNotFoundError:
            return
