"""Standard input that is read and put back, so that the next program of a script can read it too. Only Linux can."""

from __future__ import annotations

import os

from anyhook.platform.places import NO_WAIT

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

F_SETPIPE_SZ, F_GETPIPE_SZ = 1031, 1032
"""Linux: request a larger pipe, so that a long payload fits in again; an ordinary user gets no more than 1 MiB."""


def put_back(data: bytes) -> bool:
    """Fill the pipe again, if it can hold everything: part of a payload would be worse than none."""
    if fcntl is None:
        return False
    try:
        end = os.open("/proc/self/fd/0", os.O_WRONLY | NO_WAIT)
    except OSError:
        return False
    try:
        if fcntl.fcntl(end, F_GETPIPE_SZ) < len(data):
            fcntl.fcntl(end, F_SETPIPE_SZ, len(data))
        if os.write(end, data) == len(data):
            return True
        _drain()
    except OSError:
        return False
    finally:
        os.close(end)
    return False


def _drain() -> None:
    """Empties the pipe without waiting for its end: we hold its other end ourselves."""
    begin = os.open("/proc/self/fd/0", os.O_RDONLY | NO_WAIT)
    try:
        while os.read(begin, 1 << 20):
            pass
    except BlockingIOError:
        return
    finally:
        os.close(begin)
