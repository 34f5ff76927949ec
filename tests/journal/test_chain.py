"""The chain: many concurrent writers, killed at any time. A later change to a record is detected."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anyhook.journal.journal import Journal
from anyhook.journal.verify import Proof, verify
from anyhook.journal.writer import Bounds, JournalWriter, current_path, full_paths, link_of
from conftest import World


def line(number: int, size: int = 0) -> bytes:
    return json.dumps({"v": 1, "at": time.time_ns(), "mine": number, "x": "y" * size}).encode() + b"\n"


def written(folder: Path, count: int) -> Path:
    journal = Journal(str(folder))
    for number in range(1, count + 1):
        assert journal.put(line(number))
    journal.close()
    return folder / "journal.jsonl"


def kinds(proof: Proof) -> list[tuple[str, int, int]]:
    return [(each.kind, each.first, each.last) for each in proof.damage]


def records(folder: Path) -> list[dict[str, Any]]:
    found = []
    for path in (*full_paths(str(folder)), current_path(str(folder))):
        with open(path, "rb") as file:
            found += [json.loads(each) for each in file if link_of(each)]
    return found


def test_what_is_written_proves_itself(tmp_path: Path) -> None:
    written(tmp_path, 20)
    proof = verify(str(tmp_path))
    assert (proof.records, proof.first, proof.damage) == (20, 1, ())
    assert isinstance(proof.head, dict)
    assert proof.head["n"] == 20
    assert [record["n"] for record in records(tmp_path)] == [*range(1, 21)]


def swap(lines: list[bytes], first: int, second: int) -> list[bytes]:
    lines[first], lines[second] = lines[second], lines[first]
    return lines


def with_text(lines: list[bytes], index: int, old: bytes, new: bytes) -> list[bytes]:
    assert old in lines[index]
    lines[index] = lines[index].replace(old, new)
    return lines


TOUCHED: dict[str, tuple[Callable[[list[bytes]], list[bytes]], list[tuple[str, int, int]] | None]] = {
    "edited": (lambda lines: with_text(lines, 4, b'"mine": 5', b'"mine": 6'), [("edited", 5, 5)]),
    "the first": (lambda lines: with_text(lines, 0, b'"mine": 1', b'"mine": 2'), [("edited", 1, 1)]),
    "the last": (lambda lines: with_text(lines, 9, b'"mine": 10', b'"mine": 11'), [("edited", 10, 10)]),
    "one deleted": (lambda lines: lines[:3] + lines[4:], [("missing", 4, 4)]),
    "several deleted": (lambda lines: lines[:3] + lines[6:], [("missing", 4, 6)]),
    "the beginning deleted": (lambda lines: lines[2:], [("missing", 1, 2)]),
    "neighbours swapped": (lambda lines: swap(lines, 4, 5), [("moved", 5, 5)]),
    "moved to the end": (lambda lines: [*lines[:2], *lines[3:], lines[2]], [("moved", 3, 3)]),
    "the last to the front": (lambda lines: [lines[9], *lines[:9]], [("moved", 10, 10)]),
    "one to the front": (lambda lines: [lines[6], *lines[:6], *lines[7:]], [("moved", 7, 7)]),
    "one further up": (lambda lines: [*lines[:2], lines[8], *lines[2:8], lines[9]], [("moved", 9, 9)]),
    "the first to the end": (lambda lines: [*lines[1:], lines[0]], [("moved", 1, 1)]),
    "a line before all": (lambda lines: [line(0), *lines], [("inserted", 0, 1)]),
    "copied": (lambda lines: [*lines, lines[3]], [("inserted", 4, 4)]),
    "a line put in": (lambda lines: [*lines[:5], line(99), *lines[5:]], [("inserted", 5, 6)]),
    "rubbish put in": (lambda lines: [*lines[:5], b"\xff{\n", *lines[5:]], [("inserted", 5, 6)]),
    "renumbered": (lambda lines: with_text(lines, 6, b'"n": 7', b'"n": 8'), None),
    "another hash": (lambda lines: with_text(lines, 6, lines[6][-10:], b'00000"}\n'[-10:].rjust(10, b"0")), None),
    "two things": (
        lambda lines: with_text(lines[:7] + lines[8:], 1, b'"mine": 2', b'"mine": 0'),
        [("edited", 2, 2), ("missing", 8, 8)],
    ),
}


@pytest.mark.parametrize("how", TOUCHED)
def test_a_touched_record_is_named(tmp_path: Path, how: str) -> None:
    path = written(tmp_path, 10)
    touch, expected = TOUCHED[how]
    path.write_bytes(b"".join(touch(path.read_bytes().splitlines(keepends=True))))
    found = kinds(verify(str(tmp_path)))
    if expected is None:
        assert found[0][1] == 7
        assert all(first >= 7 for _, first, _ in found)
    else:
        assert found == expected


def test_a_record_sealed_anew_shows_at_the_next_one(tmp_path: Path) -> None:
    path = written(tmp_path, 4)
    lines = path.read_bytes().splitlines(keepends=True)
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / "journal.jsonl").write_bytes(lines[0])
    Journal(str(forged)).put(line(666))
    two = (forged / "journal.jsonl").read_bytes().splitlines(keepends=True)[1]
    path.write_bytes(b"".join([lines[0], two, *lines[2:]]))
    (damage,) = verify(str(tmp_path)).damage
    assert (damage.kind, damage.first) == ("edited", 3)
    assert "record 2 was replaced" in damage.what


def test_what_is_cut_off_shows_against_a_head_only(world: World, tmp_path: Path) -> None:
    path = written(world.state, 10)
    head = tmp_path / "head.json"
    assert world.command("verify", "--export-head", str(head)).returncode == 0
    assert world.command("verify", "--head", str(head)).returncode == 0
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:8]))
    assert world.command("verify").returncode == 0
    cut = world.command("verify", "--head", str(head))
    assert (cut.returncode, cut.stdout.splitlines()[0]) == (
        1,
        f"head: record 10, which was the head when it was exported, is not there ({path})",
    )
    Journal(str(world.state)).put(line(9), line(10))  # the same numbers again, and an intact chain
    assert world.command("verify").returncode == 0
    again = json.loads(world.command("verify", "--head", str(head), "--json").stdout)
    assert [each["kind"] for each in again["damage"]] == ["head"]


HASH = "0" * 64
NO_HEADS = (
    "", "{}", '{"n": 1, "hash": "short"}', "[1]", None, f'{{"n": true, "hash": "{HASH}"}}', "[" * 100_000,
    f'{{"n": 1, "hash": "{HASH[1:]}é"}}',
)  # fmt: skip


@pytest.mark.parametrize("text", NO_HEADS, ids=range(len(NO_HEADS)))
def test_a_head_that_is_none(world: World, tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "head").write_text(text)
    done = world.command("verify", "--head", str(tmp_path / "head"))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("anyhook verify: --head ")


def test_a_head_that_became_too_old(tmp_path: Path) -> None:
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=8))
    for number in range(1, 251):
        writer.append([line(number, 10_000)])
    first, *_ = full_paths(str(tmp_path))
    os.unlink(first)
    begins = int(first[-18:-6]) + 1
    (damage,) = verify(str(tmp_path), (3, b"0" * 64)).damage
    assert damage.kind == "head"
    assert f"the journal begins with record {begins}, and the rest became too old or was deleted" in damage.what


# -- torn lines, full disks, moved files


@pytest.mark.parametrize("kept", [1, 40, 5000])
def test_a_torn_line_is_mended_and_said(tmp_path: Path, kept: int) -> None:
    path = written(tmp_path, 3)
    whole = path.read_bytes()
    torn = line(4, 8000)[:kept]
    path.write_bytes(whole + torn)
    proof = verify(str(tmp_path))
    assert (proof.records, proof.damage, proof.torn) == (3, (), kept)
    assert Journal(str(tmp_path)).put(line(5))
    proof = verify(str(tmp_path))
    assert (proof.records, proof.damage, proof.torn) == (4, (), 0)
    assert records(tmp_path)[-1]["torn"] == kept
    assert path.read_bytes().startswith(whole + torn + b"\n")


def test_gigabytes_of_zeros_hold_up_nobody(tmp_path: Path) -> None:
    """A disk that lost power may leave them. (They take no room in this test.)"""
    path = written(tmp_path, 3)
    os.truncate(path, 4 << 30)
    assert Journal(str(tmp_path)).put(line(4))
    with path.open("rb") as file:
        file.seek(-200, os.SEEK_END)
        assert b'"torn": ' in file.read()


def test_a_torn_first_line(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b'{"v": 1, "at"')
    assert Journal(str(tmp_path)).put(line(1))
    assert (verify(str(tmp_path)).records, verify(str(tmp_path)).damage) == (1, ())


def test_a_torn_end_is_told_by_verify_at_once(world: World) -> None:
    path = written(world.state, 3)
    path.write_bytes(path.read_bytes() + b'{"v": 1')
    done = world.command("verify")
    assert (done.returncode, done.stdout.splitlines()[0][:9]) == (0, "3 records")
    assert "ends with 7 bytes of an unfinished line" in done.stderr


def test_a_record_that_lacks_its_line_break_only(tmp_path: Path) -> None:
    path = written(tmp_path, 3)
    path.write_bytes(path.read_bytes()[:-1])
    assert Journal(str(tmp_path)).put(line(4))
    proof = verify(str(tmp_path))
    assert (proof.records, proof.damage) == (4, ())
    assert [record["mine"] for record in records(tmp_path)] == [1, 2, 3, 4]


def test_a_full_file_with_a_torn_end(tmp_path: Path) -> None:
    """The next record, in the same file, reports the torn end. The record after that starts a new file."""
    bounds = Bounds(keep_mb=8)
    writer = JournalWriter(str(tmp_path), bounds)
    for number in range(1, 151):
        writer.append([line(number, 10_000)])
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'{"v": 1, "x": "' + b"y" * 2**20)
    for number in (151, 152):
        writer.append([line(number)])
    assert full_paths(str(tmp_path))[-1].endswith("-000000000151.jsonl")
    proof = verify(str(tmp_path))
    assert (proof.records, proof.damage) == (152, ())
    assert records(tmp_path)[-2]["torn"] == 2**20 + 15


def test_what_stands_behind_the_last_line_of_a_full_file(tmp_path: Path) -> None:
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=8))
    for number in range(1, 151):
        writer.append([line(number, 10_000)])
    (full,) = full_paths(str(tmp_path))
    with open(full, "ab") as file:
        file.write(b"x")
    last = int(full[-18:-6])
    assert kinds(verify(str(tmp_path))) == [("inserted", last, last + 1)]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(str(tmp_path))
    assert journal.put(line(1))
    before = (tmp_path / "journal.jsonl").read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:50]))
    assert not journal.put(line(2))
    assert journal.broken == "the disk is full"
    assert (tmp_path / "journal.jsonl").read_bytes() == before
    monkeypatch.undo()
    assert journal.put(line(3))
    assert verify(str(tmp_path)).damage == ()


def test_a_holder_of_the_lock_that_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The event still runs, and the journal says that it was not recorded."""
    import fcntl

    path = written(tmp_path, 1)
    monkeypatch.setattr("anyhook.platform.locks.IN_LINE_S", 0.05)
    journal = Journal(str(tmp_path))
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert not journal.put(line(2))
        assert "lock" in str(journal.broken)
    assert journal.put(line(2))
    assert verify(str(tmp_path)).records == 2


def test_a_file_that_is_full_for_one_of_two_writers(tmp_path: Path) -> None:
    """Two writers with different size limits: when one starts a new file, the other continues in it."""
    small, large = (JournalWriter(str(tmp_path), Bounds(keep_mb=size)) for size in (8, 1024))
    for number in range(1, 401, 2):
        large.append([line(number, 10_000)])
        small.append([line(number + 1, 10_000)])
    assert len(full_paths(str(tmp_path))) == 3
    proof = verify(str(tmp_path))
    assert (proof.records, proof.damage) == (400, ())


def test_a_file_that_was_moved_away(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    assert journal.put(line(1))
    (tmp_path / "journal.jsonl").rename(tmp_path / "mine.jsonl")
    assert journal.put(line(2))
    assert [record["mine"] for record in records(tmp_path)] == [2]
    assert verify(str(tmp_path)).damage == ()


def test_a_forked_child_has_a_lock_of_its_own(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    assert journal.put(line(1))
    child = os.fork()
    if child == 0:
        for number in range(200):
            journal.put(line(number))
        os._exit(0)
    for number in range(200):
        assert journal.put(line(number))
    os.waitpid(child, 0)
    proof = verify(str(tmp_path))
    assert (proof.records, proof.damage) == (401, ())


# -- full files and limits


def test_full_files_and_the_oldest_deleted(tmp_path: Path) -> None:
    bounds = Bounds(keep_mb=8)  # a file is full at 1 MB
    writer = JournalWriter(str(tmp_path), bounds)
    for number in range(1, 13 * 110):
        writer.append([line(number, 10_000)])
    writer.close()
    size = sum(path.stat().st_size for path in tmp_path.glob("journal*.jsonl"))
    assert len(full_paths(str(tmp_path))) in (7, 8)
    assert size <= 9.2 * 2**20
    proof = verify(str(tmp_path))
    assert proof.damage == ()
    assert proof.first > 1
    numbers = [record["n"] for record in records(tmp_path)]
    assert numbers == [*range(proof.first, 13 * 110)]


def test_a_file_deleted_from_the_middle(tmp_path: Path) -> None:
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=8))
    for number in range(1, 400):
        writer.append([line(number, 10_000)])
    writer.close()
    _, second, *_ = full_paths(str(tmp_path))
    os.unlink(second)
    ((kind, first, last),) = kinds(verify(str(tmp_path)))
    assert (kind, last) == ("missing", int(second[-18:-6]))
    assert first > 1


def test_old_files_go(tmp_path: Path) -> None:
    day = 86_400
    path = written(tmp_path, 1)
    old = time.time() - 40 * day
    path.write_bytes(path.read_bytes().replace(b'"at": ', b'"at": %d, "was": ' % int(old * 1e9)))
    assert Journal(str(tmp_path), Bounds(keep_days=90)).put(line(2))
    (full,) = full_paths(str(tmp_path))  # a quarter of `keep_days` is over, so a new file is started
    os.utime(full, (old - 60 * day, old - 60 * day))
    (tmp_path / "journal.jsonl").write_bytes(
        (tmp_path / "journal.jsonl").read_bytes().replace(b'"at": ', b'"at": %d, "was": ' % int(old * 1e9))
    )
    assert Journal(str(tmp_path), Bounds(keep_days=90)).put(line(3))
    assert full not in full_paths(str(tmp_path))
