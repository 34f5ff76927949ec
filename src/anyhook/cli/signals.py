"""Signals: when the command is told to end, the hooks it started end with it. It handles nothing else."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

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
