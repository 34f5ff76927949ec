"""The memory pages that a call writes to. A fork copies a page when it first writes to it, and most of a call's
thousand copies are of the same pages every time. So one fork makes a test call and reports which they were, and each
worker copies them before its call arrives; the code that it runs is mapped then, too. Only speed depends on this: if
the system does not report the pages, none are copied in advance."""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Span = tuple[int, int]
    """Where a part of memory begins and ends, in pages."""

PAGE = 4096
POPULATE_READ, POPULATE_WRITE = 22, 23
"""MADV_POPULATE_READ, MADV_POPULATE_WRITE: map these pages as if each had been read, or written to."""
PRESENT, OURS_ALONE = 1 << 63, 1 << 56
"""Flags of an entry in /proc/self/pagemap."""
GAP = 2
"""Up to this many pages between two hot ones are copied too: another system call costs more."""
SPAN = struct.Struct("=2Q")


def hot_pages(call: Callable[[Callable[[], None]], None]) -> list[Span]:
    """The pages that a fork writes to while it makes this call. `call` gets a function to call at its end, instead of
    exiting."""
    before = _mapped("rw-p")
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        leave = os._exit

        def tell() -> None:
            with open(writing, "wb") as file:
                file.writelines(SPAN.pack(*span) for span in _copied(before))
            leave(0)

        try:
            call(tell)
        finally:
            leave(1)
    os.close(writing)
    with open(reading, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    return list(SPAN.iter_unpack(data[: len(data) - len(data) % SPAN.size]))


def copy_pages(spans: list[Span]) -> None:
    """Copy these pages now, and map all code."""
    if spans:
        advise = ctypes.CDLL(None).madvise
        for kind, parts in ((POPULATE_WRITE, spans), (POPULATE_READ, _mapped("r-xp"))):
            for start, end in parts:
                advise(ctypes.c_void_p(start * PAGE), ctypes.c_size_t((end - start) * PAGE), kind)


def _mapped(wanted: str) -> list[Span]:
    """Memory with these permissions: `rw-p` is shared with a fork until one of them writes to it."""
    found: list[Span] = []
    with open("/proc/self/maps") as file:
        for line in file:
            place, rights, rest = line.split(maxsplit=2)
            if rights == wanted and "[v" not in rest and "[stack]" not in rest:
                start, _, end = place.partition("-")
                found.append((int(start, 16) // PAGE, int(end, 16) // PAGE))
    return found


def _copied(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        for start, end in spans:
            file.seek(start * 8)
            entries = file.read((end - start) * 8)
            for number, (entry,) in enumerate(struct.iter_unpack("=Q", entries), start):
                if entry & PRESENT and entry & OURS_ALONE:
                    if found and number - found[-1][1] <= GAP:
                        found[-1] = found[-1][0], number + 1
                    else:
                        found.append((number, number + 1))
    return found
