"""Whether a process lives, and how a test ends one that it left running."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path


def lives(pid: int) -> bool:
    """Whether it runs; what has ended and is not yet waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def kill(*pids: int) -> None:
    """Kill, and wait until it has happened: a signal is only sent, and on a busy machine a process that was killed may
    live on for a while, for the next check to find. The test's own limit bounds the wait."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while any(map(lives, pids)):
        time.sleep(0.005)
