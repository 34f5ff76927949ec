"""Verify: whether the journal was changed. It names every record that was edited, removed or moved, and every line that
is not a record. It trusts only the hashes."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from time import sleep
from typing import TYPE_CHECKING, Literal

from anyhook.journal.files import open_all, whole_lines
from anyhook.journal.read import read_line
from anyhook.journal.writer import START, end_of_lines, follows, link_of
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.journal.writer import Link

    DamageKind = Literal["edited", "missing", "moved", "inserted", "head"]

WRITE_S = 0.05
"""A line that is just being written is complete by then."""
MAX_DAMAGE = 1_000
"""Above this, only the number is reported."""


class Damage(Record):
    """One place where the journal was changed."""

    kind: DamageKind
    first: int
    """The first record it is about."""
    last: int
    where: str
    """File and line."""
    what: str


class Proof(Record):
    """What was found."""

    records: int
    first: int
    """The number of the first existing record; earlier ones were deleted because of age or size, or by someone."""
    head: Json
    """Number, hash and time of the last record. Stored elsewhere, it proves later that nothing before it was
    changed."""
    damage: tuple[Damage, ...]
    torn: int = 0
    """How many bytes of an unfinished line are at the end; the next record says so as well."""


def verify(state_dir: str, expected: Link | None = None, tell: Callable[[int, int], None] = lambda a, b: None) -> Proof:
    """Read everything, in constant memory. `expected` is a head that was kept elsewhere."""
    reading = _ChainReader(expected)
    files = open_all(state_dir)
    todo, done = 0, 0
    for _, file in files:
        todo += file.seek(0, 2)
        file.seek(0)
    for path, file in files:
        with file:
            reading.file = path
            number = 0
            for number, line in enumerate(whole_lines(file), 1):
                reading.take(line, number)
                done += len(line)
                if number % 4096 == 0:
                    tell(done, todo)
            if file is not files[-1][1] and (rest := file.read()):
                reading.no_record(len(rest), f"{path}:{number + 1}")
    tell(todo, todo)
    return reading.end().replace(torn=_torn(state_dir))


def _torn(state_dir: str) -> int:
    """How many bytes the journal has after its last line break, if they are still there a moment later."""
    torn = _behind_last_break(state_dir)
    if torn[1]:
        sleep(WRITE_S)
    return torn[1] if torn[1] and torn == _behind_last_break(state_dir) else 0


def _behind_last_break(state_dir: str) -> tuple[int, int]:
    """The size of the newest file, and how much of it comes after its last line break."""
    *others, newest = open_all(state_dir) or [("", BytesIO())]
    for _, other in others:
        other.close()
    with newest[1] as file:
        size = file.seek(0, os.SEEK_END)
        return size, size - end_of_lines(file, size)


class _ChainReader:
    """The state of one verification."""

    def __init__(self, expected: Link | None) -> None:
        self.expected = expected
        self.file = ""
        self.last: Link = START
        self.records = self.first = 0
        self.sound = True
        """Whether the last record was as written."""
        self.line = b""
        self.fragment: tuple[int, str] | None = None
        """Length and place of a line that is not a record."""
        self.gap: tuple[Link, bool, int, str] | None = None
        """What comes before a gap and whether it is intact; the record after it, and its position."""
        self.seen_head = False
        self.damage: list[Damage] = []

    def add(self, kind: DamageKind, first: int, last: int, where: str, what: str) -> None:
        if len(self.damage) < MAX_DAMAGE:
            self.damage.append(Damage(kind, first, last, where, what))

    def take(self, line: bytes, number: int) -> None:
        where = f"{self.file}:{number}"
        link = link_of(line)
        if link is None:
            self.no_record(len(line) - 1, where)
            return
        self.close_gap(link[0])
        before = self.last[1]
        if not self.records:
            before, self.first = self.beginning(line, before), link[0]
        self.first = min(self.first, n := link[0])
        self.accept_torn(line)
        sound = follows(line, before)
        if self.expected is not None and n == self.expected[0]:
            self.seen_head = self.seen_head or link[1] == self.expected[1]
        if self.records and n <= self.last[0]:
            self.add("moved", n, n, where, f"record {n} comes after record {self.last[0]}")
            return
        if (self.records or before == START[1]) and n > self.last[0] + 1:
            self.gap = (self.last, self.sound, n, where)
        elif not sound:
            neighbour = f", or record {n - 1} was replaced by another" if self.records and self.sound else ""
            self.add("edited", n, n, where, f"record {n} is not as it was written{neighbour}")
        self.records, self.last, self.sound = self.records + 1, link, sound
        self.line = line

    def beginning(self, line: bytes, before: bytes) -> bytes:
        """What the first record of all says that it follows."""
        after = read_line(line).after if b'"after": "' in line else None
        return before if after is None else after.encode()

    def close_gap(self, following: int = 0) -> None:
        """Report what a gap means, by the number of the next record: if that is the first one of the gap, none is
        missing, and the record after the gap is in the wrong place."""
        if self.gap is None:
            return
        (before, sound, n, where), self.gap = self.gap, None
        first, last = before[0] + 1, n - 1
        if following == first < last:
            self.add("moved", n, n, where, f"record {n} comes before record {first}")
            self.last, self.sound = before, sound
            return
        what = f"record {first} is missing" if first == last else f"records {first} to {last} are missing"
        self.add("missing", first, last, where, what)

    def no_record(self, size: int, where: str) -> None:
        self.close_gap()
        self.report_fragment()
        self.fragment = (size, where)

    def accept_torn(self, line: bytes) -> None:
        """A torn line is not damage if the next record says that it found one of that length."""
        if self.fragment is None:
            return
        torn = b'"torn": %d' % self.fragment[0]
        if torn in line:
            self.fragment = None
        self.report_fragment()

    def report_fragment(self) -> None:
        if self.fragment is not None:
            _, where = self.fragment
            n = self.last[0]
            place = f"behind record {n}" if n else "before record 1"
            self.add("inserted", n, n + 1, where, f"the line {place} is not a record of this journal")
            self.fragment = None

    def end(self) -> Proof:
        self.close_gap()
        self.report_fragment()
        head = self.expected
        if head is not None and not self.seen_head:
            gone = "is not there" if head[0] > self.last[0] or head[0] < self.first else "is another one"
            if 0 < head[0] < self.first:
                gone += f": the journal begins with record {self.first}, and the rest became too old or was deleted"
            what = f"record {head[0]}, which was the head when it was exported, {gone}"
            self.add("head", head[0], head[0], self.file, what)
        last = read_line(self.line)
        shown: Json = None
        if self.records and last.record is not None:
            shown = {"n": self.last[0], "hash": self.last[1].decode(), "at": last.at_ns}
        return Proof(self.records, self.first, shown, tuple(_settled(self.damage, self.last[0])))


def _settled(damage: list[Damage], last_n: int) -> list[Damage]:
    """A record that is missing in one place and found in another was moved; one that is in both was copied."""
    moved = {each.first for each in damage if each.kind == "moved"}
    settled: list[Damage] = []
    gone = {n for n in moved if n > last_n}
    for each in damage:
        if each.kind != "missing":
            settled.append(each)
            continue
        elsewhere = {n for n in moved if each.first <= n <= each.last}
        gone |= elsewhere
        if len(elsewhere) <= each.last - each.first:
            settled.append(each)
    return [
        each.replace(kind="inserted", what=f"{each.what} as well as in its own place")
        if each.kind == "moved" and each.first not in gone
        else each
        for each in settled
    ]


def head_of(text: str) -> Link:
    """A head as it was exported; ValueError if it is not one."""
    try:
        value = lean_json.loads(text)
    except RecursionError:
        value = None
    number, digest = (value.get("n"), value.get("hash")) if isinstance(value, dict) else (None, None)
    if type(number) is not int or not isinstance(digest, str) or len(digest) != 64 or not digest.isascii():
        raise ValueError('a head is an object with "n" and "hash"')
    return number, digest.encode()
