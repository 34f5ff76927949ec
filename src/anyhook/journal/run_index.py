"""Index: a SQLite file next to the journal with what is known about its unchanging parts. It is updated on demand,
never while an event waits, and may be deleted at any time."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import BinaryIO

from anyhook.journal.files import lines_of, open_all, parts_of_file
from anyhook.journal.machines import name_of
from anyhook.journal.runs import HookRuns, Kind, Plain, columns_of, from_plain, plain
from anyhook.journal.search import SLACK_NS, Wanted
from anyhook.journal.writer import current_path
from anyhook.model import lean_json
from anyhook.platform.parallel import parallel_map
from anyhook.platform.places import make_private_dir
from anyhook.platform.store import Store

VERSION = 8
MEMORY = ":memory:"
INDEX_WAIT_S = 60.0
"""How long to wait for another process that is bringing the index up to date."""
SMALL_PART = 256 << 10
RUN_TABLES = """
CREATE TABLE files (id INTEGER PRIMARY KEY, inode INTEGER, start BLOB, size INTEGER, changed INTEGER,
  machine TEXT);
CREATE TABLE parts (file INTEGER, first INTEGER, last INTEGER, oldest INTEGER, newest INTEGER, hooks TEXT, at BLOB,
  kind BLOB, spent BLOB, took BLOB, PRIMARY KEY (file, first));
"""


def index_path(state_dir: str) -> str:
    return f"{state_dir}/journal-index.sqlite"


def index_elsewhere(own: str, folder: str) -> str:
    """The path of the index of a directory that others share: in our own state. Nothing is written there."""
    store, key = Store(own, "indexes"), os.path.realpath(folder)
    path = store.path(key)
    if os.path.exists(path):
        with suppress(OSError):
            os.utime(path)  # what is read lives on
    else:
        store.write(key, b"")
    return path


def open_index(path: str) -> sqlite3.Connection:
    """The index; a new one if it does not exist or another version wrote it. If none can be stored, one in memory is
    used."""
    try:
        make_private_dir(os.path.dirname(path))
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            return _opened(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            os.unlink(path)  # damaged, or from another version; the journal has everything in it
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            return _opened(path)
    except (OSError, sqlite3.OperationalError):
        return _opened(MEMORY)


def _opened(path: str) -> sqlite3.Connection:
    index = sqlite3.connect(path, timeout=INDEX_WAIT_S, isolation_level=None)
    try:
        _prepare(index)
    except BaseException:
        index.close()
        raise
    return index


def _prepare(index: sqlite3.Connection) -> None:
    index.execute("PRAGMA synchronous = OFF")  # an index that a crash damages is rebuilt
    index.execute("BEGIN IMMEDIATE")
    (version,) = index.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        raise sqlite3.DatabaseError("an index from another version")
    if version == 0:
        for statement in RUN_TABLES.split(";\n"):
            index.execute(statement)
        index.execute(f"PRAGMA user_version = {VERSION}")
    index.execute("COMMIT")


class Runs:
    """The runs of all hooks: those of the journal's unchanging parts from the index, the latest from the journal."""

    def __init__(self, index: sqlite3.Connection, latest: Sequence[HookRuns]) -> None:
        self._index, self._latest = index, latest

    def between(self, wanted: Wanted) -> Iterator[HookRuns]:
        """Part by part; runs outside the wanted times may be included."""
        asked = wanted.machine or ""
        rows = self._index.execute(
            "SELECT machine, hooks, at, kind, spent, took FROM parts JOIN files ON files.id = file "
            "WHERE newest >= ? AND oldest < ? AND substr(machine, 1, ?) = ? ORDER BY file, first",
            (wanted.since_ns or 0, 2**63 - 1 if wanted.until_ns is None else wanted.until_ns, len(asked), asked),
        )
        for machine, hooks, *columns in rows:
            names: list[tuple[str, list[Kind], int]] = lean_json.loads(hooks)  # type: ignore[assignment]
            yield from from_plain((names, *columns), machine)
        if not asked:
            yield from self._latest


@contextmanager
def known_runs(
    state_dir: str, tell: Callable[[int, int], None], since_ns: int | None = None, path: str = ""
) -> Iterator[Runs]:
    """The runs up to now. New parts of the journal are read first; `tell` gets the number of bytes done, and of all.
    Files without changes since `since_ns` are not read until their time is asked for. `path` is that of the index, if
    it is not in the journal's own folder."""
    with closing(open_index(path or index_path(state_dir))) as index:
        try:
            latest = _taken(index, state_dir, tell, since_ns)
        except sqlite3.OperationalError:  # somebody does not let go of it, or it may only be read
            latest = None
        if latest is not None:
            yield Runs(index, latest)
            return
    with closing(_opened(MEMORY)) as index:
        yield Runs(index, _taken(index, state_dir, tell, since_ns))


def _taken(
    index: sqlite3.Connection, state_dir: str, tell: Callable[[int, int], None], since_ns: int | None
) -> list[HookRuns]:
    """Put every missing part into the index; returns the runs after the last part, which is still growing."""
    files = open_all(state_dir)
    try:
        index.execute("BEGIN IMMEDIATE")
        latest = _new_parts(index, state_dir, files, tell, since_ns)
        index.execute("COMMIT")
        return latest
    finally:
        for _, file in files:
            file.close()


def _new_parts(
    index: sqlite3.Connection,
    state_dir: str,
    files: list[tuple[str, BinaryIO]],
    tell: Callable[[int, int], None],
    since_ns: int | None,
) -> list[HookRuns]:
    latest, todo = list[HookRuns](), []
    for identity, path, file in _known_files(index, files):
        if since_ns is not None and os.fstat(file.fileno()).st_mtime_ns < since_ns - SLACK_NS:
            continue
        done = _done(index, identity, os.fstat(file.fileno()).st_size)
        parts = [(identity, file.fileno(), first, last) for first, last in parts_of_file(file, done)]
        if path == current_path(state_dir) and parts:
            _, descriptor, first, last = parts.pop()
            latest = columns_of(lines_of(descriptor, first, last))
        todo += parts
    whole, read = sum(last - first for _, _, first, last in todo), 0
    answers = parallel_map(_columns, todo)
    for (identity, _, first, last), (names, *columns) in zip(todo, answers, strict=True):
        oldest, newest = _span(columns[0])
        values = (identity, first, last, oldest, newest, lean_json.dumps(names), *columns)  # type: ignore[arg-type]  # tuples are lists there
        index.execute(f"INSERT INTO parts VALUES ({', '.join('?' * 10)})", values)  # noqa: S608
        read += last - first
        tell(read, whole)
    return latest


def _done(index: sqlite3.Connection, identity: int, size: int) -> int:
    """How far a file is known. A small part at the end of a file that grew is read again with what came after it, so
    that parts stay few."""
    row = index.execute("SELECT first, last FROM parts WHERE file = ? ORDER BY last DESC", (identity,)).fetchone()
    first, last = row or (0, 0)
    if size == last or last - first >= SMALL_PART:
        return int(last)
    index.execute("DELETE FROM parts WHERE file = ? AND first = ?", (identity, first))
    return int(first)


def _columns(part: tuple[int, int, int, int]) -> Plain:
    _, descriptor, first, last = part
    return plain(columns_of(lines_of(descriptor, first, last)))


def _span(at: bytes) -> tuple[int, int]:
    """The first and the last of these times; an empty span if there are none."""
    times = array("q", at)
    return (min(times), max(times)) if times else (0, -1)


def _known_files(index: sqlite3.Connection, files: list[tuple[str, BinaryIO]]) -> list[tuple[int, str, BinaryIO]]:
    """Each file with its number in the index. A renamed file keeps its inode and its first bytes; deleted files are
    removed from the index."""
    found: list[tuple[int, str, BinaryIO]] = []
    for path, file in files:
        start, state = file.readline(), os.fstat(file.fileno())
        if not start.endswith(b"\n"):
            continue
        stamp = (state.st_size, state.st_mtime_ns)
        row = index.execute(
            "SELECT id, size, changed FROM files WHERE inode = ? AND start = ?", (state.st_ino, start)
        ).fetchone()
        # A file that is full does not change any more, and none becomes shorter, unless somebody has a hand in it.
        if row is None or state.st_size < row[1] or (state.st_size == row[1] and stamp != row[1:]):
            values = (state.st_ino, start, *stamp, name_of(os.path.dirname(path)))
            row = (index.execute("INSERT INTO files VALUES (NULL, ?, ?, ?, ?, ?)", values).lastrowid,)
        else:
            index.execute("UPDATE files SET size = ?, changed = ? WHERE id = ?", (*stamp, row[0]))
        found.append((row[0], path, file))
    kept = [identity for identity, _, _ in found]
    marks = ", ".join("?" * len(kept))
    for table, column in (("parts", "file"), ("files", "id")):
        index.execute(f"DELETE FROM {table} WHERE {column} NOT IN ({marks})", kept)  # noqa: S608
    return found
