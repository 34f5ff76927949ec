"""Whether a process is alive, and how a test kills one that it left running."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path


def lives(pid: int) -> bool:
    """Whether the process is running; a zombie is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def gone(pid: str) -> None:
    """Wait until a process that something else has killed is gone. The test's own timeout limits the wait."""
    while lives(int(pid)):
        time.sleep(0.005)


def kill(*pids: int) -> None:
    """Kill a process and wait until it is gone: on a busy machine a killed process may stay for a while, and the next
    check would find it. The test's own timeout limits the wait."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    while any(map(lives, pids)):
        time.sleep(0.005)
