"""Index: what figures and word searches are answered from, a SQLite file beside the journal. It is made and brought up
to date when somebody asks, never while an event waits, and may be deleted at any time."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from anyhook.journal.search import SLACK_NS, parsed, reached
from anyhook.steps.record import ASKED_FOR
from anyhook.stores.journal_files import open_all, whole_lines
from anyhook.stores.places import make_private_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from anyhook.model.json_types import Json

VERSION = 3
BATCH = 5_000
WAIT_S = 60.0
"""How long to wait for another process that is bringing the index up to date."""
TABLES = """
CREATE TABLE files (id INTEGER PRIMARY KEY, inode INTEGER, start BLOB, runs_to INTEGER, words_to INTEGER);
CREATE TABLE runs (file INTEGER, n INTEGER, at INTEGER, hook TEXT, event TEXT, project TEXT, session TEXT, host TEXT,
  tool TEXT, ending TEXT, failed TEXT, verdict TEXT, duration_s REAL, background INTEGER,
  shadow INTEGER);
CREATE INDEX runs_by_time ON runs (at);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61', content = '');
CREATE TABLE places (id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER, place INTEGER, n INTEGER);
"""


def index_path(state_dir: str) -> str:
    return f"{state_dir}/journal-index.sqlite"


def open_index(state_dir: str) -> sqlite3.Connection:
    """The index as it is; a new one where there is none, or one of another make."""
    path = index_path(state_dir)
    make_private_dir(state_dir)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    try:
        return _opened(path)
    except sqlite3.DatabaseError:
        os.unlink(path)  # damaged; it holds nothing that the journal does not
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return _opened(path)


def _opened(path: str) -> sqlite3.Connection:
    index = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
    index.execute("PRAGMA synchronous = OFF")  # what a crash spoils is made anew
    index.execute("BEGIN IMMEDIATE")
    (version,) = index.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        index.execute("ROLLBACK")
        raise sqlite3.DatabaseError("an index of another make")
    if version == 0:
        for statement in TABLES.split(";\n"):
            index.execute(statement)
        index.execute(f"PRAGMA user_version = {VERSION}")
    index.execute("COMMIT")
    return index


def update(
    index: sqlite3.Connection, state_dir: str, kind: str, tell: Callable[[int, int], None], since_ns: int | None = None
) -> None:
    """Read what is new in the journal: `runs` for figures, `words` for searches. `tell` hears how many bytes of how
    many are done. Files that nobody wrote to since `since_ns` wait until somebody asks for their time."""
    index.execute("BEGIN IMMEDIATE")
    files = open_all(state_dir)
    try:
        known = _known_files(index, files)
        ahead = [
            (identity, file, done, os.fstat(file.fileno()).st_size)
            for identity, file in known
            if since_ns is None or os.fstat(file.fileno()).st_mtime_ns >= since_ns - SLACK_NS
            for (done,) in index.execute(f"SELECT {kind}_to FROM files WHERE id = ?", (identity,))  # noqa: S608
        ]
        todo, read = sum(size - done for _, _, done, size in ahead), 0
        for identity, file, done, _ in ahead:
            file.seek(done)
            for place in _taken(index, identity, file, kind):
                index.execute(f"UPDATE files SET {kind}_to = ? WHERE id = ?", (place, identity))  # noqa: S608
                tell(read + place - done, todo)
            read += file.tell() - done
        index.execute("COMMIT")
    except BaseException:
        index.execute("ROLLBACK")
        raise
    finally:
        for _, file in files:
            file.close()


def _known_files(index: sqlite3.Connection, files: list[tuple[str, BinaryIO]]) -> list[tuple[int, BinaryIO]]:
    """Each file with its number in the index. A file keeps its inode and its first bytes when it is renamed; what is
    known of files that are gone is forgotten."""
    found: list[tuple[int, BinaryIO]] = []
    for _, file in files:
        start, inode = file.readline(), os.fstat(file.fileno()).st_ino
        if not start.endswith(b"\n"):
            continue
        row = index.execute("SELECT id FROM files WHERE inode = ? AND start = ?", (inode, start)).fetchone()
        if row is None:
            row = (index.execute("INSERT INTO files VALUES (NULL, ?, ?, 0, 0)", (inode, start)).lastrowid,)
        found.append((row[0], file))
    kept = [identity for identity, _ in found]
    marks = ", ".join("?" * len(kept))
    for table, column in (("runs", "file"), ("places", "file"), ("files", "id")):
        index.execute(f"DELETE FROM {table} WHERE {column} NOT IN ({marks})", kept)  # noqa: S608
    return found


def _taken(index: sqlite3.Connection, identity: int, file: BinaryIO, kind: str) -> Iterator[int]:
    """Puts the lines from here on into the index, and says after each batch how far it has come."""
    take = _take_runs if kind == "runs" else _take_words
    batch: list[tuple[int, bytes]] = []
    place = file.tell()
    for line in whole_lines(file):
        batch.append((place, line))
        place += len(line)
        if len(batch) >= BATCH:
            take(index, identity, batch)
            batch.clear()
            yield place
    take(index, identity, batch)
    yield place


def _take_runs(index: sqlite3.Connection, identity: int, batch: list[tuple[int, bytes]]) -> None:
    rows: list[tuple[object, ...]] = []
    for _, line in batch:
        if b'"calls": []' in line:
            continue
        record = parsed(line)
        if record is not None:
            rows.extend((identity, *map(_held, row)) for row in run_rows(record))
    index.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * 15)})", rows)  # noqa: S608


def _held(value: object) -> object:
    """The value, where SQLite can hold it: a damaged or made-up record may say anything."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return None
    return value if isinstance(value, (str, int, float, bytes)) else None


def run_rows(record: dict[str, Json]) -> Iterator[tuple[object, ...]]:
    """What the figures need of each run in a record."""
    n, at = record.get("n"), record.get("at")
    if "background" in record:
        run = record.get("run")
        if isinstance(run, dict):
            failed = None if run.get("exit_code") == 0 else run.get("ending")
            yield (
                n,
                at,
                record["background"],
                None,
                None,
                None,
                None,
                None,
                *_ending(run, failed),
                "none",
                _s(run),
                1,
                0,
            )
        return
    decision, data, calls = record.get("decision"), record.get("data"), record.get("calls")
    hooks = decision.get("hooks") if isinstance(decision, dict) else None
    verdicts = {row.get("id"): row.get("verdict") for row in hooks if isinstance(row, dict)} if hooks else {}  # type: ignore[union-attr]
    tool = data.get("tool") if isinstance(data, dict) else None
    shadow = int(record.get("mode") == "shadow")
    about = [record.get(key) for key in ("event", "project", "session", "host")]
    for call in calls if isinstance(calls, list) else ():
        run = call.get("run") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(run, dict):
            failed = call.get("failed") or (None if run.get("ending") == "exited" else run.get("ending"))
            verdict = verdicts.get(call.get("hook"), "none")
            yield n, at, call.get("hook"), *about, _text(tool), *_ending(run, failed), verdict, _s(run), 0, shadow


def _ending(run: dict[str, Json], failed: Json) -> tuple[str | None, str | None]:
    return _text(run.get("ending")), _text(failed)


def _text(value: Json) -> str | None:
    return None if value is None else str(value)


def _s(run: dict[str, Json]) -> float:
    spent = run.get("duration_s")
    return float(spent) if isinstance(spent, (int, float)) else 0.0


def _take_words(index: sqlite3.Connection, identity: int, batch: list[tuple[int, bytes]]) -> None:
    for place, line in batch:
        record = parsed(line)
        if record is None:
            continue
        row = index.execute("INSERT INTO places VALUES (NULL, ?, ?, ?)", (identity, place, record.get("n"))).lastrowid
        text = "\n".join([*_said(record), *reached(record)])
        index.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row, text))


def _said(record: dict[str, Json]) -> Iterator[str]:
    """The texts by which somebody remembers an event: what it was about, what hooks said to it, what was decided. The
    names and paths that every record repeats would make the index several times as large."""
    yield from _texts(record.get("data"), 0)
    calls, decision = record.get("calls"), record.get("decision")
    for call in (*(calls if isinstance(calls, list) else ()), record):
        run = call.get("run") if isinstance(call, dict) else None
        for stream in ("stdout", "stderr", "error") if isinstance(run, dict) else ():
            yield from _texts(run.get(stream), 0)  # type: ignore[union-attr]
    if isinstance(decision, dict):
        for field in (*ASKED_FOR, "problems"):
            yield from _texts(decision.get(field), 0)


def _texts(value: Json, depth: int) -> Iterator[str]:
    """Every text in a value, keys apart."""
    if isinstance(value, str):
        yield value
    elif depth < 70:
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _texts(item, depth + 1)


def find_words(index: sqlite3.Connection, state_dir: str, words: str) -> Iterator[bytes]:
    """The lines of the records that have all these words, newest first."""
    quoted = " ".join('"{}"'.format(word.replace('"', '""')) for word in words.split())
    if not quoted:
        return
    rows = index.execute(
        "SELECT files.inode, place FROM words "
        "JOIN places ON places.id = words.rowid JOIN files ON files.id = places.file "
        "WHERE words MATCH ? ORDER BY words.rowid DESC",
        (quoted,),
    )
    files = open_all(state_dir)
    try:
        by_inode = {os.fstat(file.fileno()).st_ino: file for _, file in files}
        for inode, place in rows:
            file = by_inode.get(inode)
            if file is not None:
                file.seek(place)
                yield file.readline()
    finally:
        for _, file in files:
            file.close()
