"""Verify: whether the journal is as it was written. It names every record that was edited, is missing or was moved, and
every line that is no record. It trusts nothing but the hashes, and mends nothing."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from anyhook.journal.search import Wanted, open_parts, parsed, record_of
from anyhook.journal.side_by_side import side_by_side
from anyhook.model import lean_json
from anyhook.model.digest import hasher
from anyhook.model.record import Record
from anyhook.stores.journal_chain import SEAL_MOST, START, follows, link_of
from anyhook.stores.journal_files import lines_of, open_all, whole_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.json_types import Json
    from anyhook.stores.journal_chain import Link

DAMAGE_MOST = 1_000
"""More than this is told by its number only."""


class Damage(Record):
    """One place where the journal is not as it was written."""

    kind: str
    """`edited`, `missing`, `moved`, `inserted` or `head`."""
    first: int
    """The first record it is about."""
    last: int
    where: str
    """File and line."""
    what: str

    def as_dict(self) -> dict[str, Json]:
        return {field: getattr(self, field) for field in self.fields}


class Proof(Record):
    """What was found."""

    records: int
    first: int
    """The number of the first record that is there; those before it were deleted for age or size, or by somebody."""
    unsealed: int
    """Lines from before the journal was chained; nothing can be said about them."""
    head: Json
    """Number, hash and time of the last record: kept elsewhere, it proves later that nothing up to it was changed."""
    damage: tuple[Damage, ...]


def verify(state_dir: str, expected: Link | None = None, tell: Callable[[int, int], None] = lambda a, b: None) -> Proof:
    """Read everything, in constant memory. `expected` is a head that was kept elsewhere."""
    sound = _all_sound(state_dir, expected, tell)
    if sound is not None:
        return sound
    reading = _Reading(expected)
    files = open_all(state_dir)
    todo, done = 0, 0
    for _, file in files:
        todo += file.seek(0, 2)
        file.seek(0)
    for path, file in files:
        with file:
            reading.file = path
            for number, line in enumerate(whole_lines(file), 1):
                reading.take(line, number)
                done += len(line)
                if number % 4096 == 0:
                    tell(done, todo)
    tell(todo, todo)
    return reading.end()


def _all_sound(state_dir: str, expected: Link | None, tell: Callable[[int, int], None]) -> Proof | None:
    """The proof where every line is the record that follows the one before it, found side by side: each part is held
    against the end of the part before. None where anything is otherwise, so that it takes one reader to say what."""
    with open_parts(state_dir, Wanted()) as parts:
        if not parts:
            return None
        first_line = _line_at(*parts[0])
        link = link_of(first_line)
        if link is None:
            return None
        first, before = link[0], _Reading(None).beginning(first_line, START[1])
        tasks: list[tuple[int, int, int, int, bytes]] = []
        link = first - 1, before
        for descriptor, start, end in parts:
            tasks.append((descriptor, start, end, *link))
            link = link_of(os.pread(descriptor, SEAL_MOST, max(start, end - SEAL_MOST)))
            if link is None:
                return None
        whole, read, seen = sum(end - start for _, start, end in parts), 0, expected is None
        with closing(side_by_side(_Follows(expected), tasks)) as answers:
            for (_, start, end), (sound, head) in zip(parts, answers, strict=True):
                if not sound:
                    return None
                seen, read = seen or head, read + end - start
                tell(read, whole)
        if not seen or (before == START[1] and first != 1):
            return None
        record = record_of(state_dir, str(link[0]))
        at = record.record.get("at") if record is not None and record.record is not None else None
        return Proof(link[0] - first + 1, first, 0, {"n": link[0], "hash": link[1].decode(), "at": at}, ())


def _line_at(descriptor: int, start: int, end: int) -> bytes:
    return next(lines_of(descriptor, start, end))


class _Follows:
    """Whether the lines of a part follow a link, each the one before; and whether the expected head is among them."""

    def __init__(self, expected: Link | None) -> None:
        self._expected = expected

    def __call__(self, task: tuple[int, int, int, int, bytes]) -> tuple[bool, bool]:
        descriptor, start, end, number, before = task
        digest, head = hasher(), False
        for line in lines_of(descriptor, start, end):
            link = link_of(line)
            if link is None or link[0] != number + 1 or not follows(line, before, digest):
                return False, False
            number, before = link
            head = head or link == self._expected
        return True, head


class _Reading:
    """Exists for the length of one verification."""

    def __init__(self, expected: Link | None) -> None:
        self.expected = expected
        self.digest = hasher()
        self.file = ""
        self.last: Link = START
        self.records = self.first = self.unsealed = 0
        self.sound = True
        """Whether the last record was as written."""
        self.line = b""
        self.fragment: tuple[bytes, str] | None = None
        self.seen_head = False
        self.damage: list[Damage] = []

    def add(self, kind: str, first: int, last: int, where: str, what: str) -> None:
        if len(self.damage) < DAMAGE_MOST:
            self.damage.append(Damage(kind, first, last, where, what))

    def take(self, line: bytes, number: int) -> None:
        where = f"{self.file}:{number}"
        link = link_of(line)
        if link is None:
            self.no_record(line, where)
            return
        before = self.last[1]
        if not self.records:
            before, self.first = self.beginning(line, before), link[0]
        self.mend(line)
        n = link[0]
        sound = follows(line, before, self.digest)
        if self.expected is not None and n == self.expected[0]:
            self.seen_head = self.seen_head or link[1] == self.expected[1]
        if self.records and n <= self.last[0]:
            self.add("moved", n, n, where, f"record {n} stands behind record {self.last[0]}")
            return
        if (self.records or before == START[1]) and n > self.last[0] + 1:
            self.skipped(n, where)
        elif not sound:
            neighbour = f", or record {n - 1} was replaced by another" if self.records and self.sound else ""
            self.add("edited", n, n, where, f"record {n} is not as it was written{neighbour}")
        self.records, self.last, self.sound = self.records + 1, link, sound
        self.line = line

    def beginning(self, line: bytes, before: bytes) -> bytes:
        """What the first record of all says that it follows."""
        record = parsed(line) if b'"after": "' in line else None
        after = record.get("after") if record else None
        return after.encode() if isinstance(after, str) else before

    def skipped(self, n: int, where: str) -> None:
        first, last = self.last[0] + 1, n - 1
        what = f"record {first} is missing" if first == last else f"records {first} to {last} are missing"
        self.add("missing", first, last, where, what)

    def no_record(self, line: bytes, where: str) -> None:
        if not self.records and self.fragment is None and parsed(line) is not None:
            self.unsealed += 1
            return
        self.told_of_fragment()
        self.fragment = (line, where)

    def mend(self, line: bytes) -> None:
        """A torn line is no damage where the next record says that it found one of that length."""
        if self.fragment is None:
            return
        torn = b'"torn": %d' % len(self.fragment[0].rstrip(b"\n"))
        if torn in line:
            self.fragment = None
        self.told_of_fragment()

    def told_of_fragment(self) -> None:
        if self.fragment is not None:
            _, where = self.fragment
            n = self.last[0]
            self.add("inserted", n, n + 1, where, f"the line behind record {n} is no record of this journal")
            self.fragment = None

    def end(self) -> Proof:
        self.told_of_fragment()
        head = self.expected
        if head is not None and not self.seen_head:
            gone = "is not there" if head[0] > self.last[0] or head[0] < self.first else "is another one"
            what = f"record {head[0]}, which was the head when it was exported, {gone}"
            self.add("head", head[0], head[0], self.file, what)
        record = parsed(self.line) if self.records else None
        shown: Json = None
        if record is not None:
            shown = {"n": self.last[0], "hash": self.last[1].decode(), "at": record.get("at")}
        return Proof(self.records, self.first, self.unsealed, shown, tuple(_settled(self.damage)))


def _settled(damage: list[Damage]) -> list[Damage]:
    """A record that is missing in one place and stands in another was moved; one that stands in both was copied."""
    moved = {each.first for each in damage if each.kind == "moved"}
    settled: list[Damage] = []
    gone: set[int] = set()
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
    """A head as it was exported; ValueError where it is none."""
    value = lean_json.loads(text)
    number, digest = (value.get("n"), value.get("hash")) if isinstance(value, dict) else (None, None)
    if not isinstance(number, int) or not isinstance(digest, str) or len(digest) != 64:
        raise ValueError('a head is an object with "n" and "hash"')
    return number, digest.encode()
