"""Reads the bytes of one file that a user or a project wrote: with a size limit, and without waiting for pipes."""

from __future__ import annotations

import errno
import os
import stat

MAX_BYTES = 1_048_576
MAX_FOREIGN_BYTES = 16 * MAX_BYTES
"""For files that are not only hook files: an agent's own settings, what a hook wrote."""
MAX_DEPTH = 64
MAX_KEY_PARTS = 16
"""The most parts of one dotted TOML key; tomllib needs quadratic time and memory for them."""
DEPTH_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
NO_BRACKETS = bytes(code for code in range(256) if code not in DEPTH_STEPS)
MAX_DIGITS = 4_300
"""Python refuses to read or print longer decimal numbers."""
MAX_BITS = 14_000
BOM = "\ufeff"
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


class NotFinite(Exception):  # noqa: N818 - a property of the document, as above
    """A number that is not finite; the argument is how it was written."""


def too_deep() -> Unreadable:
    return Unreadable(f"nested more than {MAX_DEPTH} levels deep", "write it flatter")


def clean(text: str) -> str:
    """The text without a byte order mark, if it is text."""
    text = text.removeprefix(BOM)
    if not text.isascii():
        utf8(text)
    return text


def utf8(text: str) -> bytes:
    """A lenient decoder turns bytes that are not UTF-8 into halves of surrogate pairs."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("it is not UTF-8", "save the file as UTF-8", line_at(text, error.start)) from None


def line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


TOML_TEXT = (
    r'"""(?:[^"\\]+|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''(?:[^']+|'(?!''))*+(?:'{3,5})?"
    r'|"(?:[^"\\\n]+|\\.)*+"?'
    r"|'[^'\n]*+'?"
)
"""A text of TOML, in any of its four kinds of quotes, with an end or without."""


def bound_toml(text: str) -> None:
    """Refuses a depth or a key that would overload a parser. Strings and comments are removed first; if one has no end,
    the parsers fail there too."""
    if text.count("[") + text.count("{") <= MAX_DEPTH and text.count(".") < MAX_KEY_PARTS:
        return
    import re

    noise = rf"{TOML_TEXT}|#[^\n]*"
    outside = re.sub(noise, "", text, flags=re.DOTALL)
    bound_depth(outside.encode().translate(None, NO_BRACKETS))
    if any(piece.count(".") >= MAX_KEY_PARTS for piece in re.split(r"[=,\[\]{}\n]", outside)):
        raise Unreadable(f"a key has more than {MAX_KEY_PARTS} parts", "write it flatter")


def bound_depth(brackets: bytes) -> None:
    """Refuses too many nested brackets, without recursion, which parsers use. Removing empty pairs lowers the depth by
    at most one each time, and is enough for ordinary documents; the rest is counted."""
    from itertools import accumulate

    peeled = brackets
    for _ in range(MAX_DEPTH // 8):
        peeled = peeled.replace(b"{}", b"").replace(b"[]", b"")
        if not peeled:
            return
    if max(accumulate(map(DEPTH_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        raise too_deep()
