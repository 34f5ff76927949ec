"""Search: which records of the journal a person asked for, in constant memory. A line is parsed only if its bytes
contain what is searched for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import merge
from typing import BinaryIO

from anyhook.journal.files import (
    lines_with,
    marked,
    number_of,
    open_all,
    parts_of_file,
    seek_first,
    whole_lines,
)
from anyhook.journal.machines import NUMBER_STEP, journals_of, name_of
from anyhook.journal.read import JournalLine, parsed, reached, read_line
from anyhook.journal.record import known_by
from anyhook.journal.writer import blocks_backwards, end_of_lines
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.record import Record

Stop = Callable[[], bool]

SLACK_NS = 60_000_000_000
"""Records are in the order in which they were written, which is nearly that of their times."""

PROOF = "setup"
"""The caller of the one call with which `setup` shows that a refusal holds. No agent made it, so no figure counts it,
and a search for a verdict leaves it out."""


class Wanted(Record):
    """What a record must match to be shown. A field of None does not matter."""

    since_ns: int | None = None
    until_ns: int | None = None
    session: str | None = None
    project: str | None = None
    agent: str | None = None
    """Who fired: `fire`, `library`, `agent` or a bridged agent's name."""
    event: str | None = None
    tool: str | None = None
    hook: str | None = None
    """Part of the id of a hook that took part."""
    verdict: str | None = None
    text: str | None = None
    machine: str | None = None
    """How the name of the machine begins, of many."""
    words: tuple[str, ...] = ()
    """All of these must be in its texts, as whole words."""

    def fits(self) -> Callable[[dict[str, Json]], bool]:
        """A function that says whether a record matches."""
        since, until, hook = self.since_ns or 0, self.until_ns, self.hook
        left_out = PROOF if self.verdict is not None and self.agent != PROOF else None
        low_json = _low_json(self.text) if self.text and not self.text.isascii() else None
        words = [re.compile(_whole(word), re.IGNORECASE) for word in self.words]
        asked = [
            (part, key, value)
            for part, key, value in (
                ("", "session", self.session),
                ("", "project", self.project),
                ("", "host", self.agent),
                ("", "event", self.event),
                ("data", "tool", self.tool),
                ("decision", "verdict", self.verdict),
            )
            if value is not None
        ]

        def right(record: dict[str, Json]) -> bool:
            at = record.get("at")
            if not isinstance(at, int) or at < since or (until is not None and at >= until):
                return False
            if left_out is not None and record.get("host") == left_out:
                return False
            for part, key, value in asked:
                inner = record.get(part) if part else record
                if not isinstance(inner, dict) or inner.get(key) != value:
                    return False
            if low_json is not None and low_json[1:-1] not in _low_json(record):
                return False
            if words and not _has_all(words, record):
                return False
            return hook is None or any(hook in name for name in reached(record))

        return right

    def fits_machine(self, name: str) -> bool:
        return self.machine is None or name.startswith(self.machine)

    def marks(self) -> tuple[bytes, ...]:
        """Bytes that every matching line contains, as JSON writes them."""
        texts = (self.session, self.project, self.agent, self.event, self.tool, self.hook, self.verdict)
        return tuple(lean_json.dumps(text)[1:-1].encode() for text in texts if text)

    def low_marks(self) -> list[bytes]:
        """The same of the text and the words, in lower case. Lines have letters beyond ASCII as numbers, without upper
        and lower case, so of a text with such letters this is the longest rest."""
        rests = [max(re.split(r"[^\x00-\x7f]+", text), key=len) for text in (self.text or "", *self.words)]
        return [lean_json.dumps(rest)[1:-1].lower().encode() for rest in rests if rest]

    def rarest_mark(self) -> tuple[bytes, bool]:
        """One thing that every matching line contains, and whether to search for it in lower case; the longest is
        probably the rarest."""
        low = max(self.low_marks(), key=len, default=b"")
        return low or max(self.marks(), key=len, default=b""), bool(low)

    def looks_right(self) -> Callable[[bytes], bool]:
        """A cheap test that every matching line passes."""
        marks, low_marks = self.marks(), self.low_marks()

        def right(line: bytes) -> bool:
            for mark in marks:
                if mark not in line:
                    return False
            low = line.lower() if low_marks else line
            return all(mark in low for mark in low_marks)

        return right


def _low_json(value: Json) -> str:
    """A value as JSON in small letters, every letter as it is."""
    return lean_json.dumps(value, ensure_ascii=False).lower()


def _whole(word: str) -> str:
    """A pattern for a word that is not part of a longer one."""
    before, behind = (r"(?<![^\W_])" if word[0].isalnum() else "", r"(?![^\W_])" if word[-1].isalnum() else "")
    return f"{before}{re.escape(word)}{behind}"


def _has_all(words: Sequence[re.Pattern[str]], record: dict[str, Json]) -> bool:
    text = "\n".join(texts_of(JournalLine.of(record)))
    return all(word.search(text) for word in words)


def texts_of(line: JournalLine) -> Iterator[str]:
    """The texts that words are searched in, those that people remember: what the event was about, what hooks printed,
    what was decided, and by which hook."""
    yield from lean_json.every_text(line.data)
    for call in line.calls:
        if call.run is not None:
            for said in (call.run.stdout, call.run.stderr, call.run.error):
                yield from lean_json.every_text(said)
    decision = line.decision
    if decision is not None:
        yield from lean_json.every_text([*decision.asked.values()])
        yield from lean_json.every_text(decision.raw.get("problems"))
    yield from line.reached


def search(state_dir: str, wanted: Wanted) -> Iterator[JournalLine]:
    """The records, oldest first; damaged lines among them. Those of many machines are merged by time."""
    many = _many(state_dir, wanted)
    if many is not None:
        each = [placed(place, journal, search(journal, wanted)) for place, journal in many]
        yield from merge(*each, key=_time)
        return
    chosen = chooser(wanted)
    for _, file in open_all(state_dir):
        with file:
            if wanted.since_ns is not None:
                seek_first(file, b"at", wanted.since_ns - SLACK_NS)
            yield from _fitting(file, wanted, chosen)


@contextmanager
def open_parts(state_dir: str, wanted: Wanted) -> Iterator[list[tuple[int, int, int]]]:
    """The parts of files to search, for processes that share the work: descriptor, beginning and end of each part,
    oldest first."""
    files = open_all(state_dir)
    try:
        parts: list[tuple[int, int, int]] = []
        for path, file in files:
            if not wanted.fits_machine(name_of(os.path.dirname(path))):
                continue
            if wanted.since_ns is not None:
                seek_first(file, b"at", wanted.since_ns - SLACK_NS)
            parts += [(file.fileno(), first, last) for first, last in parts_of_file(file, file.tell())]
        yield parts
    finally:
        _close(files)


def chooser(wanted: Wanted) -> Callable[[bytes], JournalLine | None]:
    """A line → what is shown of it, if anything."""
    right, fits = wanted.looks_right(), wanted.fits()

    def chosen(line: bytes) -> JournalLine | None:
        if not right(line):
            return None
        record = parsed(line)
        return JournalLine(line, record) if record is None or fits(record) else None

    return chosen


def _fitting(file: BinaryIO, wanted: Wanted, chosen: Callable[[bytes], JournalLine | None]) -> Iterator[JournalLine]:
    past = None if wanted.until_ns is None else wanted.until_ns + SLACK_NS
    mark, low = wanted.rarest_mark()
    for line in lines_with(file, mark, low=low) if mark and past is None else whole_lines(file):
        if past is not None and (number_of(line, b"at") or 0) > past:
            return
        if (found := chosen(line)) is not None:
            yield found


def newest(state_dir: str, wanted: Wanted, max_count: int) -> list[JournalLine]:
    """The last N records, oldest first, read from the end."""
    many = _many(state_dir, wanted)
    if many is not None:
        return _newest_of(many, wanted, max_count)
    files = open_all(state_dir)
    try:
        return _last(files, wanted, max_count, None)
    finally:
        _close(files)


def _newest_of(many: list[tuple[int, str]], wanted: Wanted, max_count: int) -> list[JournalLine]:
    """The same of many machines. Each is read only back to the oldest line that may still be among the last."""
    found: list[JournalLine] = []
    for place, journal in many:
        if len(found) == max_count:
            wanted = wanted.replace(since_ns=max(wanted.since_ns or 0, _time(found[0])))
        found = sorted((*found, *placed(place, journal, newest(journal, wanted, max_count))), key=_time)[-max_count:]
    return found


def _time(line: JournalLine) -> int:
    return line.at_ns or 0


def _many(folder: str, wanted: Wanted) -> list[tuple[int, str]] | None:
    """The wanted journals of a directory of machines, and the place of each among all; None if the folder is the wanted
    journal."""
    journals = journals_of(folder)
    if journals == [folder] and wanted.fits_machine(name_of(folder)):
        return None
    return [(place, journal) for place, journal in enumerate(journals) if wanted.fits_machine(name_of(journal))]


def placed(place: int, journal: str, lines: Iterable[JournalLine]) -> Iterator[JournalLine]:
    """The lines of one of many machines, with its name, and with numbers that no other has."""
    name = name_of(journal)
    return (line.replace(offset=place * NUMBER_STEP, machine=name) for line in lines) if name else iter(lines)


def _last(
    files: list[tuple[str, BinaryIO]], wanted: Wanted, max_count: int, end: int | None, stop: Stop = lambda: False
) -> list[JournalLine]:
    chosen, (mark, low) = chooser(wanted), wanted.rarest_mark()
    earliest = (wanted.since_ns or 0) - SLACK_NS
    found: list[JournalLine] = []
    for _, file in reversed(files):
        for block in blocks_backwards(file, end):
            last_line = block[block.rfind(b"\n", 0, -1) + 1 :]
            if stop() or (number_of(last_line, b"at") or SLACK_NS) < earliest:
                return found[::-1]
            for line in reversed([*marked(block, mark, low=low)]):
                if (each := chosen(line)) is not None:
                    found.append(each)
                    if len(found) >= max_count:
                        return found[::-1]
        end = None
    return found[::-1]


def _close(files: list[tuple[str, BinaryIO]]) -> None:
    for _, file in files:
        file.close()


def follow(state_dir: str, wanted: Wanted, max_count: int, stop: Stop = lambda: False) -> Iterator[JournalLine | None]:
    """The last N records, and then new ones, from all files; None whenever there are no more for now. Finding the last
    ones may take a while; `stop` says whether the caller still wants them."""
    many = _many(state_dir, wanted)
    if many is not None:
        yield from _follow_all(many, wanted, newest(state_dir, wanted, max_count))
        return
    chosen = chooser(wanted)
    files = open_all(state_dir)
    # A line that is being written has its end still to come.
    ends = [end_of_lines(file, file.seek(0, os.SEEK_END)) for _, file in files]
    seen = {os.fstat(file.fileno()).st_ino: end for (_, file), end in zip(files, ends, strict=True)}
    found = _last(files, wanted, max_count, ends[-1] if ends else None, stop)
    _close(files)
    yield from found
    while True:
        yield None
        before, seen = seen, {}
        for _, file in open_all(state_dir):
            with file:
                state = os.fstat(file.fileno())
                place = before.get(state.st_ino, 0)
                file.seek(place if place <= state.st_size else 0)  # else it was emptied, or is another one
                yield from _fitting(file, wanted, chosen)
                seen[state.st_ino] = file.tell()


def _follow_all(many: list[tuple[int, str]], wanted: Wanted, last: list[JournalLine]) -> Iterator[JournalLine | None]:
    """The same for many machines."""
    each = [(place, journal, follow(journal, wanted, 0)) for place, journal in many]
    for _, _, one in each:
        next(one)  # it begins after what is there now
    yield from last
    while True:
        yield None
        fresh = [placed(place, journal, iter(one.__next__, None)) for place, journal, one in each]
        yield from sorted((line for lines in fresh for line in lines), key=_time)


def record_of_call(state_dir: str, host: str, session: str, who: str, at_ns: int) -> int | None:
    """The number of the record of a call that a session's memory knows: the first one about it after it was asked
    about. Of a call without an id, it is the first of its session."""
    until_ns = at_ns + 10 * SLACK_NS
    for line in search(state_dir, Wanted(since_ns=at_ns, until_ns=until_ns, agent=host)):
        call_id = line.data.get("call_id")
        is_it = known_by(host, str(call_id)) == who if call_id else line.tool and line.session == session
        if is_it:
            return line.n
    return None


def record_of(state_dir: str, name: str) -> JournalLine | None:
    """The record of that number; `last` for the newest."""
    if name == "last":
        return next(iter(newest(state_dir, Wanted(), 1)), None)
    number, journals = int(name), journals_of(state_dir)
    if journals != [state_dir]:
        place, number = divmod(number, NUMBER_STEP)
        found = record_of(journals[place], str(number)) if place < len(journals) else None
        return next(placed(place, journals[place], [found])) if found is not None else None
    files = open_all(state_dir)
    try:
        for _, file in reversed(files):
            if (number_of(file.readline(), b"n") or 0) > number:
                continue
            seek_first(file, b"n", number)
            line = file.readline()
            if number_of(line, b"n") == number:
                return read_line(line)
        return None
    finally:
        _close(files)
