"""Locks: one process at a time changes a shared file, and holds the lock from its first look to its write."""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

from anyhook.platform.places import NO_LINK, NO_LOCKS, make_private_dir

try:
    import fcntl
except ImportError:  # as on a file system without locks, the last one to write wins
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
POLL_S = 0.001
IN_LINE_S = 5.0
"""How long to wait in line for a lock that nobody uses. A process holds it only for a moment, unless it was stopped."""
MAX_PAUSE = 0.002
"""How long to sleep between two tries for the lock; after that, wait in line."""


class locked:  # noqa: N801 (it reads as what a `with` says; contextlib takes time to import)
    """Hold the lock of a folder, which is created if it is missing, or of a lock file in it. The lock ends with the
    process at the latest. Gives whether we have it: always, unless another process still holds it after `wait_s`
    seconds. With None it waits as long as it takes."""

    def __init__(self, folder: str, file: str = "", *, wait_s: float | None = None) -> None:
        self._folder, self._path, self._wait_s = folder, f"{folder}/{file}" if file else "", wait_s
        self.descriptor = -1
        """The open lock file or folder, while it is held."""

    def __enter__(self) -> bool:
        make_private_dir(self._folder)
        until_s = None if self._wait_s is None else monotonic() + self._wait_s
        while True:
            self.descriptor = self._opened()
            try:
                has_it = _taken(self.descriptor, until_s)
                if not has_it or self._is_current():
                    return has_it
            except BaseException:
                os.close(self.descriptor)
                raise
            os.close(self.descriptor)

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def _opened(self) -> int:
        if self._path:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        return os.open(self._folder if HAS_LOCKS else os.devnull, os.O_RDONLY)

    def _is_current(self) -> bool:
        """Whether the lock file is still the one that others would open: it may have been deleted as old while we
        waited. A lock that is in use is young."""
        if not self._path:
            return True
        try:
            if not os.path.samestat(os.fstat(self.descriptor), os.stat(self._path)):
                return False
            os.utime(self.descriptor)
        except FileNotFoundError:
            return False
        return True


def _taken(descriptor: int, until_s: float | None) -> bool:
    if fcntl is None:
        return True
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if until_s is None else fcntl.LOCK_NB))
        except BlockingIOError:
            if until_s is None or monotonic() >= until_s:
                return False
            sleep(POLL_S)
            continue
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        return True


def lock_in_line(descriptor: int) -> None:
    """Lock a file that many processes write to. Wait, but not forever: its holder may have been stopped. Without locks,
    lines are whole all the same; where two write at once, the chain shows it."""
    if fcntl is None:
        return
    pause = 0.00005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nearly always ours at once
            return
        except BlockingIOError:
            if pause == MAX_PAUSE:
                _wait_in_line(descriptor)
                return
        except OSError as error:
            if error.errno in NO_LOCKS:
                return
            raise
        sleep(pause)
        pause = min(pause * 1.5, MAX_PAUSE)


def unlock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _wait_in_line(descriptor: int) -> None:
    """Wait in the kernel's queue. Very many processes that poll would take the holder's time, and the one that just
    released the lock would have it again before them. Such a wait cannot be interrupted, so another thread does it:
    if it is in vain, the lock goes with that thread's descriptor."""
    own, seen = os.dup(descriptor), os.fstat(descriptor).st_size
    failures: list[OSError] = []
    ours = allocate_lock()
    ours.acquire()

    def wait() -> None:
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
        except OSError as error:
            failures.append(error)
        os.close(own)
        ours.release()

    start_new_thread(wait, ())
    while not ours.acquire(timeout=IN_LINE_S):
        size = os.fstat(descriptor).st_size
        if size == seen:
            raise OSError(11, "another process holds the journal's lock and does not let go")
        seen = size  # others write, so our turn will come
    if failures:
        raise failures[0]
