"""Locks: one process at a time changes a shared file, and holds the lock from its first look to its write."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anyhook.documents.places import NO_LOCKS, make_private_dir

try:
    import fcntl
except ImportError:  # as on a file system without locks, the last one to write wins
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def locked(folder: str, file: str = "", *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a folder, which is created if it is missing, or of a lock file in it. The lock ends with the
    process at the latest. Yields whether we have it: always, unless `wait` is false and another process holds it."""
    make_private_dir(folder)
    if file:
        descriptor = os.open(f"{folder}/{file}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    else:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield _taken(descriptor, wait)
    finally:
        os.close(descriptor)


def _taken(descriptor: int, wait: bool) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    return True
