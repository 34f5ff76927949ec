"""The journal's files: the current one, and the full ones before it. This module names them and reads them in constant
memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from errno import EINVAL
from io import BytesIO
from stat import S_ISREG
from typing import BinaryIO

from anyhook.journal.machines import journals_of
from anyhook.journal.writer import BLOCK, LARGE_BLOCK, current_path, end_of_lines, full_paths
from anyhook.platform.places import read_at


class UnreadableJournal(OSError):  # noqa: N818 (it says what is wrong)
    """A file of the journal that exists and cannot be read."""


PART = 4 << 20
"""How much of a file one process reads at once, if several share it."""


def open_all(folder: str) -> list[tuple[str, BinaryIO]]:
    """Every file of a journal, oldest first, open; of a directory of machines, one journal after the other."""
    return [each for journal in journals_of(folder) for each in _open_journal(journal)]


def _open_journal(state_dir: str) -> list[tuple[str, BinaryIO]]:
    """The current one is opened first: if it becomes full in the meantime, it is seen
    twice and used once, and nothing is missed."""
    found: list[tuple[str, BinaryIO]] = []
    last = _opened(current_path(state_dir))
    for path in full_paths(state_dir):
        file = _opened(path)
        if file is None:
            continue  # it was just deleted because of its age
        if last is not None and os.path.sameopenfile(file.fileno(), last.fileno()):
            file.close()
        else:
            found.append((path, file))
    if last is not None:
        found.append((current_path(state_dir), last))
    return found


def _opened(path: str) -> BinaryIO | None:
    """The file, for the caller to close, or None."""
    try:
        if not S_ISREG(os.stat(path).st_mode):  # reading a pipe or a device might never end
            raise UnreadableJournal(EINVAL, "it is not a regular file", path)
        return open(path, "rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableJournal(error.errno, error.strerror, path) from None


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines from here on; the last one only if it is complete, since it may be being written."""
    for line in file:
        if not line.endswith(b"\n"):
            file.seek(-len(line), os.SEEK_CUR)
            return
        yield line


def parts_of_file(file: BinaryIO, start: int = 0) -> list[tuple[int, int]]:
    """The beginnings and ends of the parts of a file, from a position on: complete lines, about the same number of
    bytes each."""
    end = file.seek(0, os.SEEK_END)
    found: list[tuple[int, int]] = []
    while start < end:
        file.seek(start + PART - 1)
        last = file.tell() if file.readline().endswith(b"\n") else end_of_lines(file, end)
        if last <= start:
            break
        found.append((start, last))
        start = last
    return found


def lines_of(descriptor: int, first: int, last: int) -> Iterator[bytes]:
    """The complete lines of a part. It does not move the file position, so processes can share the descriptor."""
    size = LARGE_BLOCK
    while first < last:
        block = read_at(descriptor, min(size, last - first), first)
        end = block.rfind(b"\n") + 1
        if end:
            yield from BytesIO(block[:end])
            first, size = first + end, LARGE_BLOCK
        elif first + len(block) >= last:
            return
        else:
            size *= 2  # a line longer than that


def lines_with(file: BinaryIO, mark: bytes, *, low: bool) -> Iterator[bytes]:
    """The complete lines from here on that contain a mark (in lower case with `low`). A block is searched at once: most
    lines contain nothing that is searched for, and so cost nothing."""
    while block := file.read(LARGE_BLOCK):
        if b"\n" not in block:
            block += file.readline()  # a line longer than that
        end = block.rfind(b"\n") + 1
        if end < len(block):  # the rest of it comes with the next block, or is just being written
            file.seek(end - len(block), os.SEEK_CUR)
        yield from marked(block[:end], mark, low=low)
        if not end:
            return


def marked(block: bytes, mark: bytes, *, low: bool) -> Iterator[bytes]:
    """The lines of a block of complete lines that contain a mark (in lower case with `low`)."""
    looked = block.lower() if low else block
    end = len(block)
    place = looked.find(mark)
    while 0 <= place < end:
        after = block.find(b"\n", place) + 1
        yield block[block.rfind(b"\n", 0, place) + 1 : after]
        place = looked.find(mark, after)


def seek_first(file: BinaryIO, key: bytes, minimum: int) -> None:
    """Go to the first line whose number under this key is at least this large, in a file in which it grows."""
    low, high = 0, file.seek(0, os.SEEK_END)
    while high - low > BLOCK:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline()
        here = file.tell()
        value = number_of(file.readline(), key)
        while value is None and file.tell() < high:  # a damaged line is skipped
            value = number_of(file.readline(), key)
        if value is None or value >= minimum:
            high = middle
        else:
            low = here
    file.seek(low)
    while True:
        here = file.tell()
        line = file.readline()
        value = number_of(line, key)
        if not line or (value is not None and value >= minimum):
            file.seek(here)
            return


def number_of(line: bytes, key: bytes) -> int | None:
    """The number that a line has under a key of its outermost object, without reading the whole line. `at` is
    among its first keys and `n` among its last."""
    mark = b'"%s": ' % key
    place = line.find(mark) if key == b"at" else line.rfind(mark)
    if place < 0:
        return None
    digits = line[place + len(mark) : place + len(mark) + 20].partition(b",")[0]
    return int(digits) if digits.isdigit() else None
