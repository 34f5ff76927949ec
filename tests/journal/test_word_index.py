"""The word index: it says where to look, and no result is lost if it is missing, damaged or outdated."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from journal_box import made

from anyhook.journal.search import Wanted
from anyhook.journal.word_search import WORTH, WordSearch, blocks_with, make_all, tokens_of
from anyhook.journal.writer import LARGE_BLOCK, Bounds, JournalWriter, full_paths, words_path
from anyhook.model import lean_json
from conftest import World


def written(state: Path, count: int, bounds: Bounds, filler: int = 30_000) -> str:
    """Write this many records with this much filler text; returns the first full file."""
    writer = JournalWriter(str(state), bounds)
    for number in range(count):
        record = made(data={"tool": "Bash", "input": {"command": f"needle-{number} common {'y' * filler}"}})
        writer.append([lean_json.dumps(record).encode() + b"\n"])
    writer.close()
    return full_paths(str(state))[0]


def small(state: Path) -> str:
    return written(state, 60, Bounds(keep_mb=8))


def known(words: str, path: str) -> list[tuple[int, int]] | None:
    with open(path, "rb") as file:
        return blocks_with(tokens_of(words), path, file)


def found(state: Path, words: str) -> tuple[int, int]:
    """The number of records found, and the number of bytes that an index would have saved reading."""
    search = WordSearch(str(state), words, Wanted())
    return len([*search.lines(lambda _done, _all: None)]), search.missed


def test_it_says_which_blocks_have_all_the_words(tmp_path: Path) -> None:
    path = small(tmp_path)
    assert known("needle-3", path) is None
    assert found(tmp_path, "needle-3") == (1, os.path.getsize(path))
    make_all(str(tmp_path))
    ((first, last),) = known("needle-3", path) or [(0, 0)]
    assert b"needle-3 " in Path(path).read_bytes()[first:last]
    assert last - first <= LARGE_BLOCK
    assert known("needle-3 nowhere", path) == []
    everywhere = known("COMMON", path) or []
    assert (everywhere[0][0], everywhere[-1][1]) == (0, os.path.getsize(path))
    assert [last for _, last in everywhere[:-1]] == [first for first, _ in everywhere[1:]]
    assert [found(tmp_path, words) for words in ("needle-3", "common", "nowhere")] == [(1, 0), (60, 0), (0, 0)]


def test_it_keeps_words_and_no_texts_for_its_user_alone(tmp_path: Path) -> None:
    where = Path(words_path(small(tmp_path)))
    make_all(str(tmp_path))
    assert stat.S_IMODE(where.stat().st_mode) == 0o600
    assert b"needle-3" not in where.read_bytes()


def damaged(where: str) -> None:
    Path(where).write_bytes(b"no database at all" * 100)


def cut(where: str) -> None:
    os.truncate(where, 5000)


def of_another_make(where: str) -> None:
    with closing(sqlite3.connect(where)) as index:
        index.execute("PRAGMA user_version = 99")


def outdated(where: str) -> None:
    os.utime(where.replace(".words.sqlite", ".jsonl"), ns=(1, 1))


def emptied(where: str) -> None:
    Path(where).write_bytes(b"")


@pytest.mark.parametrize("spoil", [damaged, cut, of_another_make, outdated, emptied, os.unlink])
def test_a_spoilt_one_is_not_believed_and_is_made_anew(spoil: object, tmp_path: Path) -> None:
    path = small(tmp_path)
    make_all(str(tmp_path))
    assert callable(spoil)
    spoil(words_path(path))
    assert found(tmp_path, "needle-3") == (1, os.path.getsize(path))
    make_all(str(tmp_path))
    make_all(str(tmp_path))  # a damaged index is deleted first
    assert found(tmp_path, "needle-3") == (1, 0)


def test_while_it_is_being_made_the_journal_answers(tmp_path: Path) -> None:
    path = small(tmp_path)
    make_all(str(tmp_path))
    maker = sqlite3.connect(words_path(path), isolation_level=None)
    maker.execute("BEGIN EXCLUSIVE")
    assert found(tmp_path, "needle-3")[0] == 1
    maker.close()


def test_one_makes_it_at_a_time(tmp_path: Path) -> None:
    path = small(tmp_path)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    make_all(str(tmp_path))
    assert not os.path.exists(words_path(path))
    os.close(folder)
    make_all(str(tmp_path))
    assert known("common", path)


def test_it_goes_with_its_file(tmp_path: Path) -> None:
    """When a journal file is deleted, its index is deleted too. The index of a file that was moved is deleted later."""
    path = small(tmp_path)
    make_all(str(tmp_path))
    written(tmp_path, 330, Bounds(keep_mb=8))
    assert not os.path.exists(path)
    assert not os.path.exists(words_path(path))
    make_all(str(tmp_path))
    moved = full_paths(str(tmp_path))[0]
    os.rename(moved, tmp_path / "elsewhere")
    make_all(str(tmp_path))
    assert sorted(tmp_path.glob("*.words.sqlite")) == [Path(words_path(each)) for each in full_paths(str(tmp_path))]


def test_killed_at_any_moment(tmp_path: Path) -> None:
    path = small(tmp_path)
    deal = random.Random(7)
    for _ in range(8):
        maker = subprocess.Popen([sys.executable, "-P", "-m", "anyhook.journal.word_search", str(tmp_path)])
        deadline = time.monotonic() + 120
        while not os.path.exists(words_path(path)) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(deal.random() * 0.05)
        maker.send_signal(signal.SIGKILL)
        maker.wait()
        assert found(tmp_path, "needle-3")[0] == 1
        if deal.random() < 0.5:
            os.unlink(words_path(path))
    make_all(str(tmp_path))
    assert found(tmp_path, "needle-3") == (1, 0)


def test_a_search_that_took_long_has_it_made(world: World) -> None:
    """A background process builds it. The search finds the same before and after."""
    size = WORTH >> 20
    path = written(world.state, size * 9 + 20, Bounds(keep_mb=size * 8), 120_000)
    assert os.path.getsize(path) >= WORTH
    first = world.command("log", "--search", "needle-40", "--json")
    assert "being made in the background" in first.stderr
    deadline = time.monotonic() + 120
    while known("common", path) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = world.command("log", "--search", "needle-40", "--json")
    assert (second.stdout, second.stderr) == (first.stdout, "")
    assert len(first.stdout.splitlines()) == 1
