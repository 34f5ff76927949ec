"""Reads the bytes of one file that a user or a project wrote: with a size limit, and without waiting for pipes."""

from __future__ import annotations

import errno
import os
import stat

MAX_BYTES = 1_048_576
MAX_FOREIGN_BYTES = 16 * MAX_BYTES
"""For files that are not only hook files: an agent's own settings, what a hook wrote."""
_OPEN_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class Unreadable(Exception):  # noqa: N818 - a state of the document, not a fault of the program
    """Why a document cannot be used: what is wrong, what to do, and the line where it is known."""

    def __init__(self, what: str, fix: str, line: int | None = None) -> None:
        super().__init__(what, fix, line)
        self.what = what
        self.fix = fix
        self.line = line

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.what}; {self.fix}"


def read_bytes(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file. Anything else is refused without waiting for it.

    Raises FileNotFoundError for a missing path, and Unreadable for a dangling symbolic link.
    """
    try:
        handle = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError:
        if os.path.islink(path):
            raise Unreadable("it is a symbolic link to nothing", "restore its target or remove the link") from None
        raise
    except (OSError, ValueError) as error:
        raise _refused(error) from None
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            kind = next((name for test, name in _KINDS if test(state.st_mode)), "something else")
            raise Unreadable(f"it is {kind}, not a file", "put a regular file in its place")
        if state.st_size > limit:
            raise _too_large(limit)
        return _read_all(handle, limit)
    except OSError as error:
        raise _refused(error) from None
    finally:
        os.close(handle)


def _read_all(handle: int, limit: int) -> bytes:
    """Reads to the end rather than to the announced size: a file may grow, and kernel files announce none."""
    parts: list[bytes] = []
    room = limit + 1
    while room > 0 and (part := os.read(handle, min(room, 262_144))):
        parts.append(part)
        room -= len(part)
    if room <= 0:
        raise _too_large(limit)
    return b"".join(parts)


def _too_large(limit: int) -> Unreadable:
    return Unreadable(f"it is larger than {limit:,} bytes", "make it smaller")


def _refused(error: OSError | ValueError) -> Unreadable:
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.ELOOP:
        return Unreadable("its symbolic links run in a circle", "remove the link")
    if code in (errno.EACCES, errno.EPERM):
        return Unreadable("permission to read it is denied", "give yourself read permission (chmod u+r)")
    if code == errno.ENOTDIR:
        return Unreadable("a part of its path is a file, not a directory", "rename or remove that file")
    if code == errno.ENXIO:
        return Unreadable("it is a socket or a device, not a file", "put a regular file in its place")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Unreadable(f"it cannot be read: {reason}", "check the path and the file")
