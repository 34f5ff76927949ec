"""Word search: the records that contain words, newest first, with SQLite's full-text search.

A full file of the journal gets an index next to it, which says in which blocks a word is. A separate process creates it
after a search that was slow without it, and it can be deleted at any time. Blocks that an index names, and files
without an index, are searched for bytes that must be in a line; only lines that have these are parsed."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing, suppress
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from anyhook.journal.files import blocks_of
from anyhook.journal.machines import journals_of
from anyhook.journal.read import read_line
from anyhook.journal.search import chooser, open_parts, placed
from anyhook.journal.writer import current_path, full_paths, words_path
from anyhook.model import lean_json
from anyhook.platform.locks import locked
from anyhook.platform.other_programs import outlive
from anyhook.platform.parallel import parallel_map

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import BinaryIO

    from anyhook.journal.read import JournalLine
    from anyhook.journal.search import Wanted

VERSION = 1
WORTH = 32 << 20
"""How many bytes a search must scan in vain before an index is worthwhile: a tenth of a second."""
TOKENIZER = "tokenize = 'unicode61 remove_diacritics 0', content = ''"
"""What a word is, and that no text is stored."""
MEMORY_TABLE = f"CREATE VIRTUAL TABLE words USING fts5 (text, {TOKENIZER})"
"""A temporary table in memory."""
WORD_TABLES = {
    "made": "CREATE TABLE made (size INTEGER, changed INTEGER)",
    "blocks": "CREATE TABLE blocks (first INTEGER PRIMARY KEY, last INTEGER)",
    "words": f"CREATE VIRTUAL TABLE words USING fts5 (text, {TOKENIZER}, detail = none, columnsize = 0)",
}


ALONE = 16 << 20
"""How much one process can scan before others would have started."""
LETTERS_OF = {"k": b"\\u212a", "s": b"\\u017f"}
"""Letters that count as these two: the sign for kelvin, and the long s."""


class WordSearch:
    """The records that are wanted and have all these words."""

    def __init__(self, state_dir: str, words: str, wanted: Wanted) -> None:
        self._state_dir, self._words, self._wanted = state_dir, words, wanted
        self._tokens = tokens_of(words)
        self._unknown = set[int]()
        self._journals: dict[int, str] = {}
        """Descriptor of a file → the journal that it belongs to."""
        self.missed = 0
        """How many bytes were scanned that an index could have avoided."""

    def lines(self, tell: Callable[[int, int], None]) -> Generator[JournalLine, None, None]:
        """Their lines, newest first in each journal. `tell` is called with the number of bytes scanned, and of all."""
        if not self._words.split():
            return
        look = PartSearch(self._words, self._wanted)
        places = {journal: place for place, journal in enumerate(journals_of(self._state_dir))}
        with open_parts(self._state_dir, self._wanted, self._known) as parts:
            parts.reverse()
            whole, read = sum(last - first for _, first, last in parts), 0
            # Usually the newest part already has enough, and starting other processes is not worth it.
            with closing(parallel_map(look, parts[1:], 1 if whole < ALONE else None)) as others:
                for (file, first, last), found in zip(parts, chain(map(look, parts[:1]), others), strict=True):
                    read += last - first
                    self.missed += last - first if file in self._unknown else 0
                    tell(read, whole)
                    journal = self._journals[file]
                    yield from placed(places.get(journal, 0), journal, map(read_line, found))

    def _known(self, path: str, file: BinaryIO) -> list[tuple[int, int]] | None:
        self._journals[file.fileno()] = os.path.dirname(path)
        blocks = blocks_with(self._tokens, path, file)
        if blocks is None and self._tokens and path != current_path(self._state_dir):
            self._unknown.add(file.fileno())
        return blocks


def query_of(words: str) -> str:
    """A query for SQLite: all words, literally. SQLite would end the text at a NUL."""
    each = words.replace("\0", " ").split()
    return sayable(" ".join('"{}"'.format(word.replace('"', '""')) for word in each))


def marks_of(words: str) -> list[tuple[bytes, ...]]:
    """For each piece of these words, what a line with the words must contain one of: the piece in lower case as JSON
    writes it, or a special letter that counts as one of its letters. Letters beyond ASCII with two cases are left
    out."""
    pieces = (
        "".join(
            letter if letter.isalnum() and (letter.isascii() or letter.lower() == letter.upper()) else " "
            for letter in words
        )
        .lower()
        .split()
    )
    return [
        (lean_json.dumps(piece)[1:-1].encode(), *(LETTERS_OF[letter] for letter in LETTERS_OF if letter in piece))
        for piece in pieces
    ] or [(b"",)]


class PartSearch:
    """Searches one part of a file."""

    def __init__(self, words: str, wanted: Wanted) -> None:
        self._query, self._marks, self._chosen = query_of(words), marks_of(words), chooser(wanted)

    def __call__(self, part: tuple[int, int, int]) -> list[bytes]:
        """The lines in it that are wanted, the last one first."""
        lines: list[bytes] = []
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as table:
            table.execute(MEMORY_TABLE)
            for block in blocks_of(*part):
                found = [each for line in self._candidates(block) if (each := self._chosen(line)) is not None]
                lines += self._with_words(table, found) if found else []
        return lines[::-1]

    def _candidates(self, block: bytes) -> Iterator[bytes]:
        """The lines that have the rarest piece, or may have it in other letters."""
        low = block.lower()
        rarest = self._marks[0]
        if len(self._marks) > 1:
            rarest = min(self._marks, key=lambda marks: sum(map(low.count, marks)))
        starts = set[int]()
        for mark in rarest:
            place = low.find(mark)
            while place >= 0:
                starts.add(block.rfind(b"\n", 0, place) + 1)
                after = block.find(b"\n", place) + 1
                place = low.find(mark, after) if after < len(block) else -1
        for start in sorted(starts):
            yield block[start : block.find(b"\n", start) + 1]

    def _with_words(self, table: sqlite3.Connection, candidates: list[JournalLine]) -> list[bytes]:
        table.execute("BEGIN")
        for number, found in enumerate(candidates):
            if found.record is not None:
                table.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, text_of(found)))
        rows = table.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (self._query,))
        lines = [candidates[number].raw for (number,) in rows]
        table.execute("ROLLBACK")
        return lines


def text_of(line: JournalLine) -> str:
    """The text that words are searched in."""
    return sayable("\n".join(texts_of(line)))


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


def sayable(text: str) -> str:
    """A text for SQLite: half characters are replaced."""
    return text.encode("utf-8", "replace").decode()


def tokens_of(words: str) -> list[str]:
    """The words in these words, as the index has them."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as table:
        table.execute(MEMORY_TABLE)
        table.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab (words, row)")
        table.execute("INSERT INTO words (rowid, text) VALUES (0, ?)", (sayable(words),))
        return [token for (token,) in table.execute("SELECT term FROM tokens")]


def blocks_with(tokens: Sequence[str], path: str, file: BinaryIO) -> list[tuple[int, int]] | None:
    """Start and end of each block of a file that contains all of these, oldest first. None if that is not known: the
    file still grows, or its index is missing, damaged, outdated or being made."""
    where = words_path(path)
    if not tokens or not os.path.exists(where):
        return None
    asked = " ".join(f'"{token}"' for token in tokens)
    matching = (
        "SELECT first, last FROM blocks WHERE first IN (SELECT rowid FROM words WHERE words MATCH ?) ORDER BY first"
    )
    try:
        with closing(sqlite3.connect(f"file:{quote(where)}?mode=ro", uri=True, timeout=0)) as index:
            if _made_of(index) != _stamp(file):
                return None
            return index.execute(matching, (asked,)).fetchall()
    except sqlite3.Error:
        return None


def make_elsewhere(state_dir: str) -> bool:
    """Start a background process that creates what is missing; False if nothing can be stored."""
    if not os.access(state_dir, os.W_OK):
        return False
    outlive((sys.executable, "-P", "-m", __name__, state_dir))
    return True


def make_all(state_dir: str) -> None:
    """Create the index of each full file that has none, the newest first, unless another process does. Delete those of
    files that are gone."""
    with locked(state_dir, wait_s=0) as ours:
        if ours:
            _make_missing(state_dir)


def _make_missing(state_dir: str) -> None:
    full = full_paths(state_dir)
    kept = {words_path(path) for path in full}
    for entry in os.scandir(state_dir):
        if entry.name.startswith("journal-") and entry.name.endswith(".words.sqlite") and entry.path not in kept:
            os.unlink(entry.path)
    for path in reversed(full):
        with suppress(FileNotFoundError):  # it was just deleted because of its age
            _make(path)


def _make(path: str) -> None:
    where = words_path(path)
    with open(path, "rb") as file:
        os.close(os.open(where, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            _fill(where, file)
        except sqlite3.OperationalError:
            return  # the disk is full, or the file system has no locks and another process does it
        except sqlite3.DatabaseError:
            os.unlink(where)  # damaged; the next one rebuilds it


def _fill(where: str, file: BinaryIO) -> None:
    """All of it or nothing, even if this process is killed."""
    with closing(sqlite3.connect(where, timeout=0, isolation_level=None)) as index:
        index.execute("BEGIN IMMEDIATE")
        if _made_of(index) == _stamp(file):
            return
        for name, table in WORD_TABLES.items():
            index.execute(f"DROP TABLE IF EXISTS {name}")
            index.execute(table)
        first = 0
        for block in blocks_of(file.fileno(), 0, os.fstat(file.fileno()).st_size):
            last = first + len(block)
            index.execute("INSERT INTO blocks VALUES (?, ?)", (first, last))
            index.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (first, _text(block)))
            first = last
        index.execute("INSERT INTO made VALUES (?, ?)", _stamp(file))
        index.execute(f"PRAGMA user_version = {VERSION}")
        index.execute("COMMIT")


def _text(block: bytes) -> str:
    """Every text in a block, once: records are similar."""
    lines = map(read_line, block.split(b"\n"))
    return sayable("\n".join(dict.fromkeys(text for line in lines if line.record for text in texts_of(line))))


def _stamp(file: BinaryIO) -> tuple[int, int]:
    state = os.fstat(file.fileno())
    return state.st_size, state.st_mtime_ns


def _made_of(index: sqlite3.Connection) -> tuple[int, int] | None:
    """The stamp of the file that it was made from; None if it is not ready, or from another version."""
    if index.execute("PRAGMA user_version").fetchone() != (VERSION,):
        return None
    size, changed = index.execute("SELECT size, changed FROM made").fetchone()
    return size, changed


if __name__ == "__main__":
    os.nice(19)
    make_all(sys.argv[1])
