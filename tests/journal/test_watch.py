"""`anyhook watch`: the list as the journal grows. It runs in this process with Textual's pilot, and once in a real
terminal."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from journal_box import Box, made
from terminal_box import Terminal
from test_answers import ask
from textual.pilot import Pilot
from textual.widgets import Input, Static

from anyhook.cli import BadCall
from anyhook.cli.journal_input import wanted_by
from anyhook.cli.tui import terminal
from anyhook.cli.tui.terminal import RecordScreen, Watch
from anyhook.cli.view.rows import DAMAGED, MAX_CELL, row_of
from anyhook.journal.read import JournalLine
from anyhook.journal.writer import Bounds, JournalWriter
from conftest import World

Steps = Callable[[Pilot[None]], Awaitable[None]]
BLOCKS = [("kodik:user:PreToolUse:guard", "block", 0.012, "exited")]
HOSTILE = "\x1b[2J\x1b]0;owned\x07 [bold red]x[/] \u202e <script>alert(1)</script>"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def watched(box: Box, steps: Steps, query: str = "") -> None:
    async def whole() -> None:
        async with Watch(str(box.world.state), query).run_test(size=(130, 30)) as pilot:
            await steps(pilot)

    asyncio.run(whole())


def test_guards_that_are_off_are_shown_above_the_list(box: Box) -> None:
    lines = iter(["1 guard OFF: g: changed", ""])
    world = box.world

    async def whole() -> None:
        async with Watch(str(world.state), banner=lambda: next(lines)).run_test(size=(130, 30)) as pilot:
            off = pilot.app.query_one("#off", Static)
            await until(pilot, lambda: off.display)
            assert "OFF: g" in str(off.render())
            app_of(pilot)._show_banner()
            await until(pilot, lambda: not off.display)

    asyncio.run(whole())


async def until(pilot: Pilot[None], true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline, shown(pilot)
        await pilot.pause(0.05)


def shown(pilot: Pilot[None]) -> list[list[str]]:
    grid = app_of(pilot).grid
    return [[cell.plain for cell in grid.get_row_at(number)] for number in range(grid.row_count)]


def app_of(pilot: Pilot[None]) -> Watch:
    app = pilot.app
    assert isinstance(app, Watch)
    return app


def text_of(pilot: Pilot[None], name: str) -> str:
    return str(app_of(pilot).query_one(name, Static).render())


def test_what_was_and_what_comes(box: Box) -> None:
    box.write(made(3), made(2, hooks=BLOCKS))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 2)
        assert shown(pilot)[1][1:] == ["fire", "✗ block", "12", "pre_tool Bash", BLOCKS[0][0]]
        box.write(made(1, event="stop", data={}, host="agent"))
        await until(pilot, lambda: len(shown(pilot)) == 3)
        assert shown(pilot)[2][1:] == ["agent", "· none", "", "stop", ""]
        assert "3 events" in text_of(pilot, "#head")
        assert "1 blocked" in text_of(pilot, "#head")
        assert app_of(pilot).grid.cursor_row == 2, "the cursor stays at the newest"
        await pilot.press("up")
        box.write(made(1))
        await until(pilot, lambda: len(shown(pilot)) == 4)
        assert app_of(pilot).grid.cursor_row == 1, "a cursor that was moved stays"

    watched(box, steps)


def test_an_empty_journal_and_its_first_event(box: Box) -> None:
    async def steps(pilot: Pilot[None]) -> None:
        await pilot.pause()
        assert text_of(pilot, "#nothing") == terminal.NOTHING
        assert not app_of(pilot).grid.display
        box.write(made(1))
        await until(pilot, lambda: len(shown(pilot)) == 1)
        assert app_of(pilot).grid.display
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordScreen))

    watched(box, steps)


def test_one_record_in_full_is_what_explain_tells(box: Box) -> None:
    box.write(made(2, hooks=BLOCKS), made(1))
    told = box.call("explain", "1")[1]

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 2)
        await pilot.press("up", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordScreen))
        assert str(pilot.app.screen.query_one(Static).render()).rstrip() == told.rstrip()
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, RecordScreen))

    watched(box, steps)


def test_a_filter_by_typing(box: Box) -> None:
    box.write(made(4, tag="hay"), made(3, hooks=BLOCKS, tag="a Needle"), made(2, tag="needle"))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 3)
        await pilot.press("slash", *"needle")
        await until(pilot, lambda: len(shown(pilot)) == 2)
        await pilot.press(*" verdict", "colon", *"block", "enter")
        await until(pilot, lambda: len(shown(pilot)) == 1)
        box.write(made(1, tag="needle"), made(1, hooks=BLOCKS, tag="needle"))
        await until(pilot, lambda: len(shown(pilot)) == 2)
        assert "2 events" in text_of(pilot, "#head")
        await pilot.press("escape")
        await until(pilot, lambda: len(shown(pilot)) == 5)
        assert app_of(pilot).query_one(Input).value == ""

    watched(box, steps)


def test_a_filter_that_cannot_be(box: Box) -> None:
    box.write(made(1))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 1)
        await pilot.press("slash", *"verdict", "colon", *"maybe", "enter")
        await until(pilot, lambda: app_of(pilot).query_one("#said").display)
        assert "verdict:maybe: one of" in text_of(pilot, "#said")
        assert len(shown(pilot)) == 1, "what was there stays"

    watched(box, steps)


def test_a_pause(box: Box) -> None:
    box.write(made(2))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 1)
        await pilot.press("p")
        box.write(made(1), made(1))
        await until(pilot, lambda: "paused, 2 waiting" in text_of(pilot, "#head"))
        assert len(shown(pilot)) == 1
        await pilot.press("p")
        await until(pilot, lambda: len(shown(pilot)) == 3)
        assert "live" in text_of(pilot, "#head")
        await pilot.press("p", "slash", *"tool", "colon", *"Bash", "enter")
        await until(pilot, lambda: "3 events" in text_of(pilot, "#head") and len(shown(pilot)) == 3)
        assert "live" in text_of(pilot, "#head"), "a new filter does not wait"

    watched(box, steps)


def test_rows_are_bounded_and_files_may_be_rotated(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are written to many files while they are watched. The list keeps the newest ones, paused or not."""
    monkeypatch.setattr(terminal, "KEPT", 30)
    monkeypatch.setattr(terminal, "SLACK", 10)
    writer = JournalWriter(str(box.world.state), Bounds())
    monkeypatch.setattr(writer, "_full_at", 4_000)

    def write(start: int, end: int) -> None:
        for number in range(start, end):
            writer.append([_line(made(1, data={"tool": f"T{number}"}))])

    async def steps(pilot: Pilot[None]) -> None:
        for start in range(0, 200, 20):
            write(start, start + 20)
            await until(pilot, lambda end=start + 19: shown(pilot) and shown(pilot)[-1][4] == f"pre_tool T{end}")  # type: ignore[misc]
            tools = [row[4] for row in shown(pilot)]
            assert len(tools) <= 40
            assert tools == [f"pre_tool T{number}" for number in range(start + 20 - len(tools), start + 20)]
        assert "200 events" in text_of(pilot, "#head")
        assert len([name for name in os.listdir(box.world.state) if name.startswith("journal-")]) > 3
        await pilot.press("p")
        write(200, 300)
        await until(pilot, lambda: "100 waiting" in text_of(pilot, "#head"))
        assert len(app_of(pilot)._held) <= 30
        await pilot.press("p")
        await until(pilot, lambda: shown(pilot)[-1][4] == "pre_tool T299")
        assert len(shown(pilot)) <= 40

    watched(box, steps)
    writer.close()


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def test_hostile_text_steers_no_terminal(box: Box) -> None:
    decision = {"verdict": "block", "hook": HOSTILE, "reason": HOSTILE, "enforced": True, "hooks": []}
    box.write(made(1, event=HOSTILE, host=HOSTILE, data={"tool": HOSTILE, "input": HOSTILE}, decision=decision))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 1)
        (row,) = shown(pilot)
        assert all(cell.isprintable() for cell in row)
        assert "\\x1b[2J" in row[1]
        assert "[bold red]x[/]" in row[4], "no markup is read out of it"
        await until(pilot, lambda: "[bold red]x[/]" in text_of(pilot, "#chosen"))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RecordScreen))
        text = str(pilot.app.screen.query_one(Static).render())
        assert text.replace("\n", "").isprintable()
        assert "[bold red]x[/]" in text

    watched(box, steps)


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
    for width in (20, 80, 200):
        assert set(terminal.columns_for(width)) <= set(terminal.cells_of(row))
    json.dumps(row.as_dict(), allow_nan=False).encode()


def test_the_command_comes_first_where_a_column_may_be_cut() -> None:
    row = row_of(JournalLine(b"", made(data={"tool": "Bash", "input": {"command": "git push --force"}})))
    assert terminal.cells_of(row)["what"].plain == "git push --force  pre_tool Bash"
    for width in (80, 100):
        assert terminal.columns_for(width)["what"] > terminal.columns_for(width)["why"]


@pytest.mark.parametrize("width", [40, 60, 80, 99, 100, 200])
def test_columns_fit_any_width(width: int) -> None:
    columns = terminal.columns_for(width)
    assert sum(columns.values()) + 2 * len(columns) <= width - 2
    assert {"time", "verdict", "what"} <= set(columns)


def test_terminals_of_any_size(box: Box) -> None:
    """The terminal may be resized while it is open: the most important columns and the selected row stay visible."""
    box.write(
        *(made(90 - n, data={"tool": f"T{n}", "input": {"command": "ls"}}) for n in range(60)), made(hooks=BLOCKS)
    )

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(shown(pilot)) == 61)
        await until(pilot, lambda: "record 61  fire  pre_tool Bash" in text_of(pilot, "#chosen"))
        grid = app_of(pilot).grid
        for width, height, columns in ((40, 10, 3), (80, 24, 5), (200, 60, 6)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda columns=columns: len(grid.ordered_columns) == columns)  # type: ignore[misc]
            await until(pilot, lambda: grid.scroll_offset.y == grid.max_scroll_y)
            assert grid.cursor_row == 60
            assert shown(pilot)[-1][1 if width < 100 else 2] == "✗ block"
            assert app_of(pilot).query_one("#chosen").display == (height > 10)
        await pilot.press("up")
        await until(pilot, lambda: "record 60  fire  pre_tool T59  ls" in text_of(pilot, "#chosen"))

    watched(box, steps)


def test_a_journal_that_cannot_be_read(box: Box) -> None:
    box.world.state.mkdir(parents=True)
    (box.world.state / "journal.jsonl").mkdir()

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "cannot be read" in text_of(pilot, "#said"))

    watched(box, steps)


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
    dumb = Terminal(world, "watch", env={"TERM": "dumb"})
    assert dumb.end() == 3
    assert "TERM=dumb" in dumb.said
    done = world.command("watch", "since:soon")
    assert done.returncode == 3
    assert "'soon' is not a time" in done.stderr


def test_without_the_extra(world: World) -> None:
    """One sentence says how to install it."""
    script = (
        "import sys; sys.modules['textual'] = None; sys.modules['uvicorn'] = None\n"
        "sys.stdin.isatty = sys.stdout.isatty = lambda: True\n"
        "from anyhook.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    for verb, extra in (("watch", "anyhook[tui]"), ("serve", "anyhook[web]")):
        command = [sys.executable, "-c", script, verb]
        done = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
        assert done.returncode == 3
        assert f"pip install '{extra}'" in done.stderr
        assert "Traceback" not in done.stderr


def test_without_colours_everything_can_be_read(world: World, box: Box) -> None:
    """The greys that replace colours differ from the background."""
    box.write(made(2, hooks=BLOCKS), made(1, hooks=[("kode:user:x", "none", 0.5, "timed_out")]))
    seen = Terminal(world, "watch", env={"NO_COLOR": "1"})
    seen.read("1 with a failure")
    seen.read("failed: timed out")
    os.write(seen.ours, b"q")
    assert seen.end() == 0
    shades = re.findall(r"38;5;(\d+);48;5;(\d+)m([^\x1b]*\w[^\x1b]*)", seen.said)
    assert {text.strip() for _, _, text in shades} >= {"1 blocked", "✗ block", "! failed"}
    assert [shade for shade in shades if abs(int(shade[0]) - int(shade[1])) < 6] == []


@pytest.mark.parametrize("way", ["q", "\x03", "SIGTERM", "SIGHUP"])
def test_in_a_real_terminal(world: World, box: Box, way: str) -> None:
    """A hook blocks while `watch` runs. The terminal is restored, whichever way `watch` ends."""
    world.hook("kodik", "PreToolUse", "echo 'not today' >&2; exit 2")
    box.write(made(5, event="stop", data={"tool": HOSTILE}))
    seen = Terminal(world, "watch")
    seen.read("stop")
    assert world.fire("pre_tool", "--tool", "Bash")["verdict"] == "block"
    seen.read("not today")
    if way.startswith("SIG"):
        seen.process.signal(signal.Signals[way])
    else:
        os.write(seen.ours, way.encode())
    assert seen.end() == 0, seen.said[-500:]
    assert "\x1b[?1049h" in seen.said, "the other screen"
    assert "\x1b[?1049l" in seen.said, "and back"
    assert "owned\x07" not in seen.said
    assert "Traceback" not in seen.said


def test_a_call_that_waits_is_shown(world: World) -> None:
    waiting = ask(world)
    shown = Terminal(world, "watch", columns=160)
    shown.read(f"anyhook approvals allow {waiting.id}")
    os.write(shown.ours, b"q")
    assert shown.end() == 0
