"""Being a well-behaved process while hooks run: when the command is told to end, the hooks it started end with it, and
what a hook in our own process prints stays out of our answer."""

from __future__ import annotations

import os
import sys

# The C module: `signal` wraps its numbers in enums, whose import costs a third of an interpreter start.
from _signal import SIGHUP, SIGINT, SIGTERM, signal  # type: ignore[import-not-found]

from anyhook.process.run import adopt_orphans, end_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def _end(number: int, _frame: FrameType | None) -> None:
    end_all(for_good=True)
    os._exit(128 + number)


def fill_streams() -> None:
    """Where the process was started without stdin, stdout or stderr, nothing else that it opens may take their
    numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class AnswerOnly:
    """stdout is for the answer alone; whatever else is written there meanwhile goes to stderr."""

    def __enter__(self) -> None:
        self.stdout = -1
        try:
            self.stdout = os.dup(1)
            os.dup2(2, 1)
        except OSError:
            return  # one of them was closed from the start

    def __exit__(self, *_: object) -> None:
        try:
            sys.stdout.flush()
        except (OSError, ValueError, AttributeError):
            pass
        if self.stdout >= 0:
            os.dup2(self.stdout, 1)
            os.close(self.stdout)


class OnDuty(AnswerOnly):
    """This process is ours alone while hooks run: what it is told, every orphan of a hook and stdout are ours to
    see to."""

    def __enter__(self) -> None:
        adopt_orphans()
        self.handlers = {number: signal(number, _end) for number in (SIGINT, SIGTERM, SIGHUP)}
        super().__enter__()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        for number, handler in self.handlers.items():
            signal(number, handler)


class Unwinding:
    """While it lasts, a signal to end unwinds the program, so that everything is put away on the way out."""

    def __enter__(self) -> None:
        self.handlers = {number: signal(number, _unwind) for number in (SIGTERM, SIGHUP)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self.handlers.items():
            signal(number, handler)


def _unwind(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
