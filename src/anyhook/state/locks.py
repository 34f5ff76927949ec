"""One process at a time changes a file that several change: it holds its folder's lock from its look to its write."""

from __future__ import annotations

import os
from contextlib import contextmanager

from anyhook.state.places import make_private_dir

try:
    import fcntl
except ImportError:  # a system without such locks: the last one to write wins
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Holds the lock of a folder of ours, which is made where it is missing. It ends with the process at the latest."""
    make_private_dir(folder)
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
