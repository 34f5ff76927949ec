"""The journal's one writer: complete lines, each sealed into the chain, written by one call under one lock, from many
processes at once. It starts a new file when one is full or old, and deletes files beyond the limits."""

from __future__ import annotations

import os
from _thread import allocate_lock
from stat import S_ISREG
from time import time, time_ns

from anyhook.model.lean_json import digest
from anyhook.model.record import Record
from anyhook.platform.locks import lock_in_line, unlock
from anyhook.platform.places import after_fork, make_private_dir, open_regular, read_at
from anyhook.platform.store import DAY_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Link = tuple[int, bytes]
    """Number and hash of a record; the next one's hash is over this one's."""
    from collections.abc import Iterator
    from typing import BinaryIO

CURRENT = "journal.jsonl"
"""The file that is written to."""
START: Link = (0, b"0" * 64)
"""What the first record of all follows."""
MAX_SEAL = 128
"""No seal is longer than this many bytes."""
_NUMBER, _HASH, _END = b', "n": ', b', "hash": "', b'"}\n'
_HASHED = len(_HASH) + 64 + len(_END)
"""How many bytes at the end of a line its hash does not cover."""

MAX_TORN = 16 << 20
"""How much of a damaged end is looked at, for the last whole line: a lost disk may leave gigabytes of zeros."""


class forks:  # noqa: N801 (a counter, not a type)
    """How often this process was forked since it loaded this module: asking for its number takes a system call for
    every line."""

    forks = 0

    @classmethod
    def count(cls) -> None:
        cls.forks += 1


after_fork(forks.count)


class Bounds(Record):
    """How much of the past is kept."""

    keep_days: int = 90
    keep_mb: int = 1024


class JournalWriter:
    """Keeps the file open. Every method raises OSError if the disk, the lock or the permissions do not allow it."""

    def __init__(self, state_dir: str, bounds: Bounds | None = None) -> None:
        bounds = bounds or Bounds()
        self.state_dir, self.bounds = state_dir, bounds
        self.path = f"{state_dir}/{CURRENT}"
        self._full_at = min(64, max(1, bounds.keep_mb // 8)) << 20
        """When a file is full: at a fraction of the limit, so that deleting one deletes only a fraction."""
        self._descriptor = -1
        self._fork = 0
        """Which fork opened the file."""
        self._identity = 0, 0
        """Which file it is, by inode and device."""
        self._end = -1
        """Where the file ended after our last write; while it still ends there, no other process has written."""
        self._last: Link = START
        self._threads = allocate_lock()

    def append(self, lines: Sequence[bytes]) -> None:
        """Write the lines, or none of them."""
        with self._threads:
            try:
                end = self._open_and_lock()
                last: Link | None = self._last
                line_break = tail = b""
                if end != self._end:
                    tail = read_at(self._descriptor, MAX_SEAL, max(0, end - MAX_SEAL))
                    last = link_of(tail)
                if last is None and (last := link_of(tail + b"\n")) is not None:
                    line_break = b"\n"  # all of a record but its line break
                elif last is None:
                    last, torn = self._last_of_all(end)
                    if torn:  # a process was killed, or the machine lost its power, in the middle of a line
                        line_break = b"\n"
                        lines = [_with(lines[0], b'"torn": %d' % torn), *lines[1:]]
                if not end and last != START:  # a file's first line names what it follows: that may be deleted
                    lines = [_with(lines[0], b'"after": "%b"' % last[1]), *lines[1:]]
                made, self._last = sealed(lines, last)
                data = made[0] if len(made) == 1 and not line_break else line_break + b"".join(made)
                written = os.write(self._descriptor, data)
                if written != len(data):
                    os.ftruncate(self._descriptor, end)  # nobody else writes while we hold the lock
                    raise OSError(28, "the disk is full")
                self._end = end + written
            except BaseException:
                self._close()  # which lets go of the lock as well
                raise
            unlock(self._descriptor)

    def close(self) -> None:
        with self._threads:
            self._close()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0 and self._fork == forks.forks:
            os.close(descriptor)

    __del__ = _close

    # -- the file and its lock

    def _open_and_lock(self) -> int:
        """Open and lock the current file; returns its length. It may stop being the current one while we wait for the
        lock."""
        while True:
            fresh = self._descriptor < 0 or self._fork != forks.forks  # a lock is shared with a forked child
            if fresh:
                flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
                try:
                    self._descriptor = os.open(self.path, flags, 0o600)
                except FileNotFoundError:
                    make_private_dir(self.state_dir)
                    self._descriptor = os.open(self.path, flags, 0o600)
                opened = os.fstat(self._descriptor)
                if not S_ISREG(opened.st_mode):
                    from errno import EINVAL

                    raise OSError(EINVAL, "is not a file")
                self._fork, self._identity, self._end = forks.forks, (opened.st_ino, opened.st_dev), -1
            lock_in_line(self._descriptor)
            try:
                state = os.stat(self.path)
            except FileNotFoundError:
                state = None
            if state is None or (state.st_ino, state.st_dev) != self._identity:
                self._close()  # deleted, moved, or full for somebody with other bounds
                continue
            end = state.st_size
            full = end >= self._full_at
            if fresh and not full:  # start a new file if the first record is old
                at = read_at(self._descriptor, 64, 0).partition(b'"at": ')[2].partition(b",")[0]
                full = at.isdigit() and time_ns() - int(at) > self.bounds.keep_days * DAY_S * 1_000_000_000 // 4
            last = link_of(read_at(self._descriptor, MAX_SEAL, max(0, end - MAX_SEAL))) if full else None
            if last is None:  # not full; or its end is torn, and the next record says so in the same file
                return end
            os.rename(self.path, _free_name(self.state_dir, last[0]))
            self._close()
            _delete_old(self.state_dir, self.bounds)

    # -- the chain

    def _last_of_all(self, end: int) -> tuple[Link, int]:
        """The last sealed line in any file, and how many bytes of a torn line are at the end of the current one."""

        torn = 0
        if end:
            with os.fdopen(os.dup(self._descriptor), "rb") as file:
                for line in lines_backwards(file, end, max(0, end - MAX_TORN)):
                    if link := link_of(line):
                        return link, self._torn(end)
            torn = self._torn(end)
        for path in reversed(full_paths(self.state_dir)):
            with open_regular(path, 1 << 62) as file:  # it is read from its end
                for line in lines_backwards(file):
                    if link := link_of(line):
                        return link, torn
        return START, torn

    def _torn(self, end: int) -> int:
        """How many bytes come after the last line break, at most those that are looked at."""
        count = 0
        while count < min(end, MAX_TORN):
            step = min(4096, end - count)
            block = read_at(self._descriptor, step, end - count - step)
            if (place := block.rfind(b"\n")) >= 0:
                return count + len(block) - place - 1
            count += step
        return count


def _with(line: bytes, more: bytes) -> bytes:
    return b"%b, %b}\n" % (line[:-2], more)


def _free_name(state_dir: str, number: int) -> str:

    while os.path.exists(path := full_path(state_dir, number)):
        number += 1  # left over from a journal that somebody has moved away
    return path


def _delete_old(state_dir: str, bounds: Bounds) -> None:
    """Delete the files that are full and too old, or too much."""

    left = bounds.keep_mb << 20
    for path in reversed(full_paths(state_dir)):
        try:
            state = os.stat(path)
            left -= state.st_size
            if left < 0 or time() - state.st_mtime > bounds.keep_days * DAY_S:
                os.unlink(path)
                os.unlink(f"{path.removesuffix('.jsonl')}.words.sqlite")
        except OSError:
            continue  # somebody else was faster, or may and we may not; or no earlier version has made that index


# -- the chain: every line ends with its number and a hash over itself and the hash before it, so that an edited,
# missing or moved line shows


def sealed(lines: Iterable[bytes], last: Link) -> tuple[list[bytes], Link]:
    """The lines, each with its seal, and the last link. A line is a JSON object and its line break."""
    number, before = last
    made: list[bytes] = []
    for line in lines:
        number += 1
        body, numbered = line[:-2], b"%b%d" % (_NUMBER, number)
        before = digest(b"".join((before, body, numbered))).encode()
        made.append(b"".join((body, numbered, _HASH, before, _END)))
    return made, (number, before)


def link_of(line: bytes) -> Link | None:
    """The seal of a line, or of its end; None if there is none."""
    if not line.endswith(_END) or line[-_HASHED : 64 - _HASHED + len(_HASH) - 64] != _HASH:
        return None
    found = line[-len(_END) - 64 : -len(_END)]
    start = line.rfind(_NUMBER, -MAX_SEAL)
    digits = line[start + len(_NUMBER) : -_HASHED] if start >= 0 else b""
    return (int(digits), found) if digits.isdigit() else None


def follows(line: bytes, before: bytes) -> bool:
    """Whether a sealed line is as it was written, after the record with that hash."""
    return digest(before + line[:-_HASHED]).encode() == line[-len(_END) - 64 : -len(_END)]


BLOCK = 65_536
LARGE_BLOCK = 1 << 18


def current_path(state_dir: str) -> str:
    return f"{state_dir}/{CURRENT}"


def full_path(state_dir: str, last: int) -> str:
    """The name that a full file gets, by the number of its last record."""
    return f"{state_dir}/journal-{last:012d}.jsonl"


def full_paths(state_dir: str) -> list[str]:
    """The files that are full, oldest first."""
    try:
        names = os.listdir(state_dir)
    except OSError:
        return []
    return [f"{state_dir}/{name}" for name in sorted(names) if is_full_name(name)]


def is_full_name(name: str) -> bool:
    return name.startswith("journal-") and name.endswith(".jsonl") and name[8:-6].isdigit()


def end_of_lines(file: BinaryIO, end: int, floor: int = 0) -> int:
    """Where the last complete line before a position ends; 0 if none ends behind `floor`."""
    at = end
    while at > floor:
        start = max(floor, at - BLOCK)
        file.seek(start)
        cut = file.read(at - start).rfind(b"\n")
        if cut >= 0:
            return start + cut + 1
        at = start
    return 0


def blocks_backwards(file: BinaryIO, end: int | None = None, floor: int = 0) -> Iterator[bytes]:
    """The complete lines of a file up to a position, several at once, the last ones first. Nothing is read before
    `floor`."""
    position = end_of_lines(file, file.seek(0, os.SEEK_END) if end is None else end, floor)
    size = LARGE_BLOCK
    while position > floor:
        start = max(floor, position - size)
        block = read_at(file.fileno(), position - start, start)
        cut = block.find(b"\n") + 1 if start else 0
        if start and cut in (0, len(block)):
            if start == floor:
                return
            size *= 2  # a line longer than that
            continue
        yield block[cut:]
        position, size = start + cut, LARGE_BLOCK


def lines_backwards(file: BinaryIO, end: int | None = None, floor: int = 0) -> Iterator[bytes]:
    """The same line by line."""
    for block in blocks_backwards(file, end, floor):
        yield from (line + b"\n" for line in reversed(block.split(b"\n")[:-1]))
