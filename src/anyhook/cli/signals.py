"""Being a well-behaved process while hooks run: when the command is told to end, the hooks it started end with it, and
what a hook in our own process prints stays out of our answer."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress

from anyhook.steps.run import adopt_orphans, end_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _end(number: int, _frame: FrameType | None) -> None:
    end_all()
    os._exit(128 + number)


@contextmanager
def end_hooks_on_signals() -> Iterator[None]:
    """This process is ours alone: what it is told to do, and every orphan of a hook, is ours to see to."""
    adopt_orphans()
    before = {number: signal.signal(number, _end) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def nobody_else_prints() -> Iterator[None]:
    """Meanwhile everything written to stdout goes to stderr: stdout is for the answer alone."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
