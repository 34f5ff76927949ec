"""`log`, `explain RECORD` and `stats`: they find exactly what was asked for, in constant memory."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from journal_box import Box, made

from anyhook.cli.verb_stats import cost_bar, sparkline
from anyhook.cli.view.console import drawn
from anyhook.journal.journal import Journal
from anyhook.journal.run_index import known_runs
from anyhook.journal.search import Wanted, follow, newest, record_of, search
from anyhook.journal.stats import figures
from anyhook.journal.writer import Bounds, JournalWriter, full_paths
from conftest import World


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def several(box: Box) -> None:
    box.write(
        made(9000, session="old", event="stop", data={}),
        made(500, tag="b", hooks=[("kodik:user:PreToolUse:guard", "block", 0.01, "exited")]),
        made(400, tag="c", project="/q", host="agent", data={"tool": "Edit", "input": {"text": 'Grüße "x" \\ y'}}),
        made(300, tag="d", session="s-2", hooks=[("kode:user:x", "none", 0.5, "timed_out")]),
        made(200, tag="e", event="post_tool", data={"tool": "Bash", "output": "NEEDLE in hay"}),
    )


FILTERS = {
    "": "abcde",
    "--since 2h": "bcde",
    "--since 350s": "de",
    "--until 350s": "abc",
    "--since 450s --until 350s": "c",
    "--session s-2": "d",
    "--project /q": "c",
    "--agent agent": "c",
    "--tool Edit": "c",
    "--tool edit": "",
    "--hook guard": "b",
    "--hook kode:user:x": "d",
    "--verdict block": "b",
    "--event Stop": "a",
    "--event PostToolUse": "e",
    "--text needle": "e",
    "--text GRÜSSE": "",
    "--text grüße": "c",
    "--verdict none --tool Bash": "de",
    "-n 2": "de",
    "--last 1 --verdict block": "b",
    "--search needle": "e",
    "--search 'hay needle'": "e",
    "--search nothing": "",
}


@pytest.mark.parametrize("words", FILTERS)
def test_what_is_asked_for(box: Box, words: str) -> None:
    import shlex

    several(box)
    found = "".join("_abcde"[record["n"]] for record in box.lines(*shlex.split(words)))
    assert found == FILTERS[words]


def test_for_people(box: Box) -> None:
    several(box)
    status, out, _ = box.call("log", "--verdict", "block")
    (line,) = out.splitlines()
    assert status == 0
    assert line.lstrip().startswith("2  20")
    assert line.endswith(" 10.0 ms  fire      ✗ block        pre_tool Bash  kodik:user:PreToolUse:guard")


WRONG = {
    "--since soon": "--since: 'soon' is not a time",
    "--until 2026-13-01": "--until: '2026-13-01' is not a time",
    "--event Nope": "--event: ",
    "--last 0": "--last 0: must be a whole number",
    "--last x": "--last x: must be a whole number",
    "--since=": "--since: '' is not a time",
    "--search=": "--search: give at least one word",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_words(box: Box, words: str) -> None:
    status, out, err = box.call("log", *words.split())
    assert (status, out) == (3, "")
    assert err.startswith(f"anyhook log: {WRONG[words]}")


def test_no_journal_at_all(box: Box) -> None:
    assert box.call("log") == (0, "", "Nothing was recorded yet.\n")
    assert box.call("explain", "1")[0] == 3
    assert box.call("explain", "last")[0] == 3
    status, out, _ = box.call("verify")
    assert (status, out) == (0, "0 records, none changed since they were written\n")
    assert box.json("stats") == {"hooks": []}


def test_damaged_lines_are_said_and_passed_over(box: Box) -> None:
    several(box)
    path = box.world.state / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"\xff\xfe{\n", b"[1]\n", b"null\n", *lines[1:]]))
    status, out, err = box.call("log")
    assert (status, len(out.splitlines())) == (0, 5)
    assert err.count("is damaged") == 3
    status, out, err = box.call("log", "--json")
    assert [json.loads(line)["n"] for line in out.splitlines()] == [1, 2, 3, 4, 5]
    assert err.count("is damaged") == 3
    assert box.json("stats")["hooks"]


def test_a_journal_of_many_files_is_one(tmp_path: Path) -> None:
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=64))
    for number in range(1, 900):
        writer.append([json.dumps(made(1000 - number, data={"x": "y" * 30_000})).encode() + b"\n"])
    assert len(full_paths(str(tmp_path))) == 3
    assert [found.record["n"] for found in search(str(tmp_path), Wanted()) if found.record] == [*range(1, 900)]
    assert [found.record["n"] for found in newest(str(tmp_path), Wanted(), 400) if found.record] == [*range(500, 900)]
    for number in (1, 2, 300, 299, 640, 899):
        found = record_of(str(tmp_path), str(number))
        assert found is not None
        assert found.record is not None
        assert found.record["n"] == number
    assert record_of(str(tmp_path), "900") is None
    assert record_of(str(tmp_path), "0") is None
    at = time.time_ns()
    recent = [found.record["n"] for found in search(str(tmp_path), Wanted(since_ns=at - 301 * 10**9)) if found.record]
    assert recent[-1] == 899
    assert 195 <= len(recent) <= 301


def test_memory_does_not_grow_with_the_journal(tmp_path: Path) -> None:
    line = json.dumps(made(data={"x": "y" * 2000})).encode()
    (tmp_path / "journal.jsonl").write_bytes((line + b"\n") * 20_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in search(str(tmp_path), Wanted(session="s"))) == 20_000
        assert len(newest(str(tmp_path), Wanted(), 3)) == 3
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2_000_000


def test_following_over_a_change_of_files(tmp_path: Path) -> None:
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=8))
    text = json.dumps(made(data={"x": "y" * 50_000})).encode() + b"\n"
    writer.append([text] * 3)
    seen: list[int] = []
    written = 3
    for found in follow(str(tmp_path), Wanted(), 2):
        if found is not None and found.record is not None:
            seen.append(int(str(found.record["n"])))
        elif written < 60:
            writer.append([text] * 7)
            written += 7
        else:
            break
    assert full_paths(str(tmp_path))
    assert seen == [*range(2, written + 1)]


@pytest.mark.parametrize("end", ["unlink", "truncate"])
def test_following_over_a_journal_that_is_taken_away(tmp_path: Path, end: str) -> None:
    """Records that were shown are not shown again, and new ones are shown."""
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=8))
    text = json.dumps(made(data={"x": "y" * 50_000})).encode() + b"\n"
    writer.append([text] * 25)
    writer.append([text] * 2)
    assert len(full_paths(str(tmp_path))) == 1
    seen: list[int] = []
    more = follow(str(tmp_path), Wanted(), 1)
    while (found := next(more)) is not None:
        seen.append(found.number)
    path = tmp_path / "journal.jsonl"
    path.unlink() if end == "unlink" else path.write_bytes(b"")
    assert next(more) is None
    writer.append([text])
    while (found := next(more)) is not None:
        seen.append(found.number)
    assert seen == [27, 26]


@pytest.mark.parametrize("words", ["log -f --json", "log -f"])
def test_a_follower_whose_reader_has_gone(world: World, words: str) -> None:
    journal = Journal(str(world.state))
    journal.put(json.dumps(made()).encode() + b"\n")
    child = subprocess.Popen(
        [sys.executable, "-m", "anyhook", *words.split()], env=world.env, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline()
    child.stdout.close()
    journal.put(json.dumps(made()).encode() + b"\n")
    assert child.wait(timeout=240) == 0


def test_follow_as_a_command(world: World) -> None:
    journal = Journal(str(world.state))
    journal.put(json.dumps(made()).encode() + b"\n")
    command = [sys.executable, "-m", "anyhook", "log", "-f", "--json", "--tool", "Edit"]
    child = subprocess.Popen(command, env=world.env, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    deadline = time.monotonic() + 120
    while "anyhook" not in Path(f"/proc/{child.pid}/cmdline").read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    journal.put(json.dumps(made(data={"tool": "Edit"})).encode() + b"\n")
    try:
        assert json.loads(child.stdout.readline())["n"] == 2
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=240)
    assert child.returncode == 130


@pytest.mark.parametrize("text", ["äpfel", "ÄPFEL", "Äpfel im straße", "STRAßENMARKT", "市場", "Ä", "markt 市"])
def test_a_text_in_letters_of_any_alphabet(box: Box, text: str) -> None:
    box.write(made(data={"prompt": "Äpfel im Straßenmarkt 市場"}), made(data={"prompt": "apfel strasse"}))
    assert [record["n"] for record in box.lines("--text", text)] == [1]
    assert [record["n"] for record in box.lines("--text", text, "-n", "3")] == [1]


# -- explain


def test_a_record_in_full(box: Box) -> None:
    block = "echo no >&2; exit 2"
    box.world.hook("kodik", "PreToolUse", block, name="it")
    box.world.hook("kolega", "PreToolUse", "true")
    box.world.kolega("PreToolUse", {"type": "command", "command": "true"}, matcher="Edit")
    engine = box.world.engine(session="s-9")
    from anyhook import Event

    engine.fire_sync(Event.pre_tool("Bash", {"command": "ls"}))
    engine.fire_sync(Event.stop())
    engine.close_sync()
    record = box.json("explain", "1")
    assert (record["n"], record["event"], record["session"]) == (1, "pre_tool", "s-9")
    assert [call["failed"] for call in record["calls"]] == [None]
    assert record["calls"][0]["native"] == "PreToolUse"
    status, out, _ = box.call("explain", "1")
    assert status == 0
    for text in (
        "record 1, ", "event    pre_tool, fired by library, mode enforce", 'input    {"command": "ls"}',
        f"from    {box.world.home}/Documents/Kodik/Hooks/hooks.json:1", "end     exited, status 2", "stderr  no",
        "skipped: a block by kodik", "unmatched: ", "decision  block (deny_tool), by kodik", "reason   no",
    ):  # fmt: skip
        assert text in out, text
    assert "no hook was considered" in box.call("explain", "last")[1]


def test_a_failure_in_full(box: Box) -> None:
    from anyhook import Event

    box.world.hook("kodik", "Stop", "exit 9")
    engine = box.world.engine()
    engine.fire_sync(Event.stop())
    _, out, _ = box.call("explain", "1")
    assert "end     exited, status 9 (a failure: exit)" in out
    assert "[hook-failed]" in out
    (hook,) = box.json("stats")["hooks"]
    assert (hook["runs"], hook["failures"], hook["timeouts"], hook["blocks"]) == (1, 1, 0, 0)


# -- stats


def test_figures(box: Box) -> None:
    hooks = [[("a", "block" if number % 4 == 0 else "none", number / 1000, "exited")] for number in range(1, 101)]
    box.write(*(made(3600, hooks=hook) for hook in hooks), made(60, hooks=[("b", "none", 2.0, "timed_out")]))
    box.write(made(8 * 86_400, hooks=[("a", "none", 99.0, "exited")]))
    second, first = box.json("stats")["hooks"][::-1]
    assert (first["hook"], first["runs"], first["blocks"], first["failures"]) == ("a", 100, 25, 0)
    assert (first["p50_ms"], first["p95_ms"], first["cost_s"]) == (50.0, 95.0, 5.05)
    assert sum(first["over_time"]) == 100
    assert (second["hook"], second["failures"], second["timeouts"], second["p95_ms"]) == ("b", 1, 1, 2000.0)
    assert box.json("stats", "--since", "30d")["hooks"][0]["runs"] == 101
    assert box.json("stats", "--verdict", "block")["hooks"][0]["runs"] == 25
    box.write(made(hooks=[("b", "none", 1.0, "exited")]))  # new records are added to what the index already has
    assert {hook["hook"]: hook["runs"] for hook in box.json("stats")["hooks"]} == {"a": 100, "b": 2}


def test_a_table_with_pictures(box: Box) -> None:
    box.write(made(hooks=[("dear", "none", 3.0, "exited"), ("cheap", "none", 0.3, "exited")]))
    status, out, _ = box.call("stats")
    head, dear, cheap, total = out.splitlines()
    assert status == 0
    assert head.split() == ["hook", "runs", "p50", "p95", "blocks", "failed", "timeout", "waited", "since", "7d"]
    assert "3 s  ████████████" in dear
    assert "300 ms  █▏  " in cheap
    assert total.split() == ["all", "2", "0", "0", "0", "3.3", "s"]


@pytest.mark.parametrize("spoil", [b"", b"no database at all" * 100, None])
def test_an_index_that_is_spoilt_is_made_anew(box: Box, spoil: bytes | None) -> None:
    several(box)
    before = box.json("stats")
    path = box.world.state / "journal-index.sqlite"
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink() if spoil is None else path.write_bytes(spoil)
    assert box.json("stats") == before


def test_an_index_that_somebody_does_not_let_go_of(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the index is locked, the journal itself is read."""
    several(box)
    before = box.json("stats")
    monkeypatch.setattr("anyhook.journal.run_index.INDEX_WAIT_S", 0.05)
    holder = sqlite3.connect(box.world.state / "journal-index.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert box.json("stats") == before
    holder.close()


def test_what_is_gone_from_the_journal_is_gone_from_the_figures(box: Box) -> None:
    several(box)
    assert len(box.json("stats")["hooks"]) == 2
    assert len(box.lines("--search", "needle")) == 1
    os.unlink(box.world.state / "journal.jsonl")
    box.write(made(hooks=[("new", "none", 1.0, "exited")]))
    assert [hook["hook"] for hook in box.json("stats")["hooks"]] == ["new"]
    assert box.lines("--search", "needle") == []


def test_a_file_that_somebody_has_changed_is_read_anew(tmp_path: Path) -> None:
    """A full file is read once, unless it has changed."""
    writer = JournalWriter(str(tmp_path), Bounds(keep_mb=8))
    for _ in range(60):
        writer.append(
            [json.dumps(made(data={"x": "y" * 30_000}, hooks=[("a", "none", 1.0, "exited")])).encode() + b"\n"]
        )
    writer.close()
    assert runs_in(tmp_path) == 60
    (full,) = full_paths(str(tmp_path))
    lines = Path(full).read_bytes().splitlines(keepends=True)
    Path(full).write_bytes(b"".join(lines[:-1]))
    assert runs_in(tmp_path) == 59
    Path(full).write_bytes(b"".join(lines[:-1]).replace(b'"hook": "a"', b'"hook": "b"'))
    assert runs_in(tmp_path, hook="b") == len(lines) - 1


def runs_in(state: Path, hook: str = "a") -> int:
    with known_runs(str(state), lambda _done, _all: None) as known:
        found = figures(known, Wanted(), time.time_ns())
    return {each.hook: each.runs for each in found}[hook]


def test_no_run_fits(box: Box) -> None:
    several(box)
    assert box.call("stats", "--hook", "no-such")[2] == "No run in the last seven days is one of these.\n"
    assert box.call("stats", "--since", "10s")[2] == "No hook ran in this time.\n"


def test_a_state_folder_that_cannot_be_written(box: Box) -> None:
    box.world.state.parent.mkdir(parents=True, exist_ok=True)
    box.world.state.write_text("a file")
    status, out, err = box.call("stats")
    assert (status, out) == (3, "")
    assert err.startswith(
        f"anyhook stats: the journal cannot be read: {box.world.state}/journal.jsonl (Not a directory)"
    )


def test_pictures() -> None:
    assert sparkline([0, 1, 4, 8]) == " ▁▄█"
    assert sparkline([]) == ""
    assert [drawn(cost_bar(value, 8, 2)) for value in (0, 0.001, 1, 4, 8)] == [[""], ["▏"], ["▎"], ["█"], ["██"]]
    assert drawn(cost_bar(0, 0, 2)) == [""]
