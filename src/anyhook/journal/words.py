"""Words: the records in which words are found, newest first. Blocks that an index knows to have them, and whatever has
no index, are looked through for bytes that must be in a line; only lines that have these are parsed, and SQLite's
full-text search says which have the words. It keeps nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

from anyhook.journal.files import blocks_of, current_path
from anyhook.journal.parallel import side_by_side
from anyhook.journal.search import Found, chooser, open_parts
from anyhook.journal.word_index import TABLE, blocks_with, sayable, texts_of, tokens_of
from anyhook.model import lean_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import BinaryIO

    from anyhook.journal.search import Wanted
    from anyhook.model.json_types import Json

ALONE = 16 << 20
"""What one process looks through before others would have started."""
LETTERS_OF = {"k": b"\\u212a", "s": b"\\u017f"}
"""Letters that count as these two: the sign for kelvin, and the long s."""


class WordSearch:
    """The records that are wanted and have all these words."""

    def __init__(self, state_dir: str, words: str, wanted: Wanted) -> None:
        self._state_dir, self._words, self._wanted = state_dir, words, wanted
        self._tokens = tokens_of(words)
        self._unknown = set[int]()
        self.missed = 0
        """How many bytes were looked through that an index could have spared."""

    def lines(self, tell: Callable[[int, int], None]) -> Generator[bytes, None, None]:
        """Their lines, newest first. `tell` hears how many bytes of how many were looked through."""
        if not self._words.split():
            return
        look = Look(self._words, self._wanted)
        with open_parts(self._state_dir, self._wanted, self._known) as parts:
            parts.reverse()
            whole, read = sum(last - first for _, first, last in parts), 0
            # Mostly the newest part has enough already, and other processes are not worth their start.
            with closing(side_by_side(look, parts[1:], 1 if whole < ALONE else None)) as others:
                for (file, first, last), found in zip(parts, chain(map(look, parts[:1]), others), strict=True):
                    read += last - first
                    self.missed += last - first if file in self._unknown else 0
                    tell(read, whole)
                    yield from found

    def _known(self, path: str, file: BinaryIO) -> list[tuple[int, int]] | None:
        blocks = blocks_with(self._tokens, path, file)
        if blocks is None and self._tokens and path != current_path(self._state_dir):
            self._unknown.add(file.fileno())
        return blocks


def query_of(words: str) -> str:
    """As SQLite wants it: each word as it is, all of them. It takes a NUL for the end of the text."""
    each = words.replace("\0", " ").split()
    return sayable(" ".join('"{}"'.format(word.replace('"', '""')) for word in each))


def marks_of(words: str) -> list[tuple[bytes, ...]]:
    """Pieces of these words of which every line that has the words has each, in lower case and as JSON writes it; or
    something that counts as a letter of it. Letters beyond ASCII that have two cases are not part of a piece."""
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


class Look:
    """Looks through one part of a file."""

    def __init__(self, words: str, wanted: Wanted) -> None:
        self._query, self._marks, self._chosen = query_of(words), marks_of(words), chooser(wanted)
        self._table: sqlite3.Connection | None = None

    def __call__(self, part: tuple[int, int, int]) -> list[bytes]:
        """The lines in it that are wanted, the last one first."""
        lines: list[bytes] = []
        for block in blocks_of(*part):
            found = [each for line in self._candidates(block) if (each := self._chosen(line)) is not None]
            lines += self._with_words(found) if found else []
        return lines[::-1]

    def _candidates(self, block: bytes) -> Iterator[bytes]:
        """The lines that have the piece that is rarest here, or may have it in other letters."""
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

    def _with_words(self, candidates: list[Found]) -> list[bytes]:
        if self._table is None:  # each process has its own
            self._table = sqlite3.connect(":memory:", isolation_level=None)
            self._table.execute(TABLE)
        self._table.execute("BEGIN")
        for number, found in enumerate(candidates):
            if found.record is not None:
                self._table.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, text_of(found.record)))
        rows = self._table.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (self._query,))
        lines = [candidates[number].line for (number,) in rows]
        self._table.execute("ROLLBACK")
        return lines


def text_of(record: dict[str, Json]) -> str:
    """What words are looked for in."""
    return sayable("\n".join(texts_of(record)))
