"""The memory pages that a call writes to. A fork copies a page when it first writes to it, and most of a call's
thousand copies are of the same pages every time. So one fork makes a test call and reports which they were, and so do
the first workers, because hooks differ. Each worker copies them before its call arrives; the code that it runs is
mapped then, too. Only speed depends on this: if the system does not report the pages, none are copied in advance."""

from __future__ import annotations

import ctypes
import mmap
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
LESSONS, MAX_LESSON = 3, 1 << 16
"""How many calls with hooks the server learns from, and how many bytes one of them can report."""


class HotPages:
    """Shared by a server and its workers."""

    def __init__(self, pages: list[Span]) -> None:
        self._pages = pages
        self._lesson = mmap.mmap(-1, MAX_LESSON)
        """What one worker reports: the number of spans, and the spans."""
        self._before: list[Span] = []
        self.lessons_left = LESSONS if pages else 0

    def copy(self, teaches: bool) -> None:
        """In a worker: copy these pages now, and map all code and constants. `teaches` says that this worker will
        report what its call has copied."""
        if self._pages:
            advise = ctypes.CDLL(None).madvise
            constant = [*_mapped("r-xp"), *_mapped("r--p")]
            for kind, parts in ((POPULATE_WRITE, self._pages), (POPULATE_READ, constant)):
                for start, end in parts:
                    advise(ctypes.c_void_p(start * PAGE), ctypes.c_size_t((end - start) * PAGE), kind)
        if teaches:
            self._before = _mapped("rw-p")

    @property
    def teaches(self) -> bool:
        return bool(self._before)

    def teach(self) -> None:
        """In a worker, after its answer."""
        found = _copied(self._before)[: MAX_LESSON // SPAN.size - 1]
        for number, span in enumerate(found, 1):
            SPAN.pack_into(self._lesson, number * SPAN.size, *span)
        SPAN.pack_into(self._lesson, 0, len(found), 0)

    def learn(self) -> None:
        """In the server, when a worker that teaches has ended. It has nothing to report if no hook ran."""
        count = SPAN.unpack_from(self._lesson)[0]
        if count:
            told = list(SPAN.iter_unpack(self._lesson[SPAN.size : (count + 1) * SPAN.size]))
            SPAN.pack_into(self._lesson, 0, 0, 0)
            self._pages = _joined(sorted({page for span in (*self._pages, *told) for page in range(*span)}))
            self.lessons_left -= 1


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
    found: list[int] = []
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        for start, end in spans:
            file.seek(start * 8)
            entries = struct.iter_unpack("=Q", file.read((end - start) * 8))
            found += [page for page, (entry,) in enumerate(entries, start) if entry & PRESENT and entry & OURS_ALONE]
    return _joined(found)


def _joined(pages: list[int]) -> list[Span]:
    found: list[Span] = []
    for page in pages:
        if found and page - found[-1][1] <= GAP:
            found[-1] = found[-1][0], page + 1
        else:
            found.append((page, page + 1))
    return found
