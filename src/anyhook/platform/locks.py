"""Locks: one process at a time changes a shared file, and holds the lock from its first look to its write."""

from __future__ import annotations

import os
from time import monotonic, sleep

from anyhook.platform.places import NO_LOCKS, make_private_dir

try:
    import fcntl
except ImportError:  # as on a file system without locks, the last one to write wins
    fcntl = None  # type: ignore[assignment]

POLL_S = 0.001


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
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        return os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)

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
