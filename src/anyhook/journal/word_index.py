"""Word index: which blocks of a full file of the journal have a word in them, by SQLite's full-text search, in a file
beside it. A process of its own makes it, after a search that it would have made faster. It says where to look, never
what is found there; whoever deletes it loses nothing."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from anyhook.journal.files import blocks_of, full_paths, words_path
from anyhook.journal.record import ASKED_FOR
from anyhook.journal.search import parsed, reached
from anyhook.model import lean_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from anyhook.model.json_types import Json

VERSION = 1
WORTH = 32 << 20
"""How many bytes a search has to look through in vain before an index is worth its making: a tenth of a second."""
TOKENS = "tokenize = 'unicode61 remove_diacritics 0', content = ''"
"""What a word is, and that no text is kept."""
TABLE = f"CREATE VIRTUAL TABLE words USING fts5 (text, {TOKENS})"
"""For a moment, in memory."""
TABLES = {
    "made": "CREATE TABLE made (size INTEGER, changed INTEGER)",
    "blocks": "CREATE TABLE blocks (first INTEGER PRIMARY KEY, last INTEGER)",
    "words": f"CREATE VIRTUAL TABLE words USING fts5 (text, {TOKENS}, detail = none, columnsize = 0)",
}


def texts_of(record: dict[str, Json]) -> Iterator[str]:
    """What words are looked for in, the texts by which somebody remembers an event: what it was about, what hooks said
    to it, what was decided, and by whom."""
    yield from lean_json.every_text(record.get("data"))
    calls, decision = record.get("calls"), record.get("decision")
    for call in (*(calls if isinstance(calls, list) else ()), record):
        run = call.get("run") if isinstance(call, dict) else None
        for stream in ("stdout", "stderr", "error") if isinstance(run, dict) else ():
            yield from lean_json.every_text(run.get(stream))  # type: ignore[union-attr]
    if isinstance(decision, dict):
        for field in (*ASKED_FOR, "problems"):
            yield from lean_json.every_text(decision.get(field))
    yield from reached(record)


def sayable(text: str) -> str:
    """As SQLite takes it: half characters are replaced."""
    return text.encode("utf-8", "replace").decode()


def tokens_of(words: str) -> list[str]:
    """The words in these words, as the index has them."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as table:
        table.execute(TABLE)
        table.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab (words, row)")
        table.execute("INSERT INTO words (rowid, text) VALUES (0, ?)", (sayable(words),))
        return [token for (token,) in table.execute("SELECT term FROM tokens")]


def blocks_with(tokens: Sequence[str], path: str, file: BinaryIO) -> list[tuple[int, int]] | None:
    """Beginning and end of each block of a file in which all these are found, oldest first; None where that is not
    known: the file still grows, or its index is missing, being made, damaged, or that of an earlier content."""
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
    """Have a process of its own make what is missing, which nobody waits for; False where nothing can be kept."""
    if not os.access(state_dir, os.W_OK):
        return False
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, state_dir],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # the terminal may be closed meanwhile
    )
    process.returncode = 0  # it ends after us; without this, Popen complains when it is collected
    return True


def make_all(state_dir: str) -> None:
    """Make the index of each full file that has none, the newest first, unless somebody is at it; forget those of files
    that are gone."""
    folder = os.open(state_dir, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    full = full_paths(state_dir)
    kept = {words_path(path) for path in full}
    for entry in os.scandir(state_dir):
        if entry.name.startswith("journal-") and entry.name.endswith(".words.sqlite") and entry.path not in kept:
            os.unlink(entry.path)
    for path in reversed(full):
        with suppress(FileNotFoundError):  # it became too old this very moment
            _make(path)
    os.close(folder)


def _make(path: str) -> None:
    where = words_path(path)
    with open(path, "rb") as file:
        os.close(os.open(where, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            _fill(where, file)
        except sqlite3.OperationalError:
            return  # the disk is full, or the file system has no locks and somebody else is at it
        except sqlite3.DatabaseError:
            os.unlink(where)  # damaged; the next one rebuilds it


def _fill(where: str, file: BinaryIO) -> None:
    """All of it or nothing, also where this process is killed."""
    with closing(sqlite3.connect(where, timeout=0, isolation_level=None)) as index:
        index.execute("BEGIN IMMEDIATE")
        if _made_of(index) == _stamp(file):
            return
        for name, table in TABLES.items():
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
    """Every text in a block once: records are much alike."""
    records = map(parsed, block.split(b"\n"))
    return sayable("\n".join(dict.fromkeys(text for record in records if record for text in texts_of(record))))


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
