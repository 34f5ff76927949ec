"""`anyhook watch`: the journal as it grows, in a real terminal. Its rows, and the filter that is typed, here and on the
page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from journal_box import Box, made
from terminal_box import Terminal
from test_answers import ask

from anyhook.cli import BadCall
from anyhook.cli.journal_input import wanted_by
from anyhook.cli.view.rows import DAMAGED, MAX_CELL, row_of
from anyhook.journal.read import JournalLine
from conftest import World

BLOCKS = [("kodik:user:PreToolUse:guard", "block", 0.012, "exited")]
HOSTILE = "\x1b[2J\x1b]0;owned\x07 [bold red]x[/] \u202e <script>alert(1)</script>"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


ODD_RECORDS: list[dict[str, Any]] = [
    {"v": 1},
    {"at": "no", "event": None, "data": [], "calls": {}, "decision": "x"},
    {"at": 10**30, "n": True, "calls": [1, {"run": []}, {"run": {"duration_s": "x"}}], "decision": {"hooks": [None]}},
    {"background": {"a": 1}, "run": None},
    {
        "at": 2,
        "event": "\ud800",
        "calls": [{"run": {"duration_s": float("inf")}}, {"run": {"duration_s": float("nan")}}],
    },
    {"at": 1, "events": -1, "decision": {"verdict": ["x"], "hook": 7, "reason": {"a": 1}}},
]


@pytest.mark.parametrize("record", ODD_RECORDS)
def test_a_record_of_any_shape_is_a_row(record: dict[str, Any]) -> None:
    row = row_of(JournalLine(b"", record))
    assert all(text.isprintable() for text in (row.host, row.event, row.hook, row.verdict))
    json.dumps(row.as_dict(), allow_nan=False).encode()


def test_rows_are_short_and_damage_is_told() -> None:
    row = row_of(JournalLine(b"", made(1, event="x" * 5_000)))
    assert len(row.event) <= MAX_CELL + 1
    damaged = row_of(JournalLine(b'{"v": 1, \x1b', None))
    assert (damaged.verdict, damaged.n) == (DAMAGED, None)
    assert damaged.reason == '{"v": 1, \\x1b'


def test_queries() -> None:
    wanted = wanted_by("tool:Bash rm  -rf event:PreToolUse http://x since: hook:a:b")
    assert (wanted.tool, wanted.text, wanted.event) == ("Bash", "rm -rf http://x", "pre_tool")
    assert (wanted.since_ns, wanted.hook) == (None, "a:b")
    for bad in ("verdict:maybe", "since:soon", "event:Nonsense"):
        with pytest.raises(BadCall):
            wanted_by(bad)


def test_no_terminal_and_a_bad_filter(world: World) -> None:
    done = world.command("watch")
    assert (done.returncode, "needs a terminal" in done.stderr) == (3, True), done.stderr
    done = world.command("watch", "since:soon")
    assert done.returncode == 3
    assert "'soon' is not a time" in done.stderr


def test_without_the_extra(world: World) -> None:
    """One sentence says how to install it."""
    script = "import sys; sys.modules['uvicorn'] = None\nfrom anyhook.cli.app import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "serve"]
    done = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "pip install 'anyhook[web]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_was_and_what_comes(world: World, box: Box) -> None:
    box.write(made(3, tag="hay"), made(2, hooks=BLOCKS, tag="hay"))
    seen = Terminal(world, "watch", "verdict:block")
    seen.read("✗ block")
    box.write(made(1, tag="needle one"), made(1, hooks=BLOCKS, tag="needle two"))
    seen.read("needle two")
    assert "needle one" not in seen.said
    os.write(seen.ours, b"q")
    assert seen.end() == 0


@pytest.mark.parametrize("way", ["q", "\x03", "SIGTERM", "SIGHUP"])
def test_it_ends_in_every_way(world: World, box: Box, way: str) -> None:
    """A hook blocks while `watch` runs. The terminal is restored, whichever way `watch` ends."""
    world.hook("kodik", "PreToolUse", "echo 'not today' >&2; exit 2")
    box.write(made(5, event="stop", data={"tool": HOSTILE}))
    seen = Terminal(world, "watch", env={"TERM": "dumb"} if way == "q" else {})
    seen.read("stop")
    assert world.fire("pre_tool", "--tool", "Bash")["verdict"] == "block"
    seen.read("not today")
    if way.startswith("SIG"):
        seen.process.signal(signal.Signals[way])
    else:
        os.write(seen.ours, way.encode())
    assert seen.end() == 0, seen.said[-500:]
    assert "owned\x07" not in seen.said
    assert "Traceback" not in seen.said


def test_guards_that_are_off_are_said(world: World, box: Box) -> None:
    world.hook("kodik", "PreToolUse", "exit 2", scope="project")
    seen = Terminal(world, "watch")
    seen.read("OFF")
    os.write(seen.ours, b"q")
    assert seen.end() == 0
    assert seen.said.count("OFF") == 1, "once, as long as it stays so"


def test_a_call_that_waits_is_shown(world: World) -> None:
    waiting = ask(world)
    shown = Terminal(world, "watch", columns=160)
    shown.read(f"anyhook approvals allow {waiting.id}")
    os.write(shown.ours, b"q")
    assert shown.end() == 0
    assert shown.said.count("anyhook approvals allow") == 1, "once, though its time runs"


def test_a_journal_that_cannot_be_read(world: World) -> None:
    world.state.mkdir(parents=True)
    (world.state / "journal.jsonl").mkdir()
    shown = Terminal(world, "watch")
    shown.read("the journal cannot be read")
    assert shown.end() == 3
