"""`anyhook watch`: the journal live in the terminal, with what needs its user."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from anyhook.cli import DONE, BadCall, render
from anyhook.cli.journal_input import wanted_by
from anyhook.cli.options import Options
from anyhook.cli.standing import here
from anyhook.cli.verb_log import LOOK_S, show_records
from anyhook.cli.verbs import verb
from anyhook.cli.view.approval_text import waiting_line
from anyhook.journal.search import follow
from anyhook.platform.places import state_dir
from anyhook.platform.run import END_SIGNALS
from anyhook.state.approvals import Approvals
from anyhook.tables.isolation import error_line

FIRST_SHOWN = 20
"""How many of the newest records come first."""
BANNER_S = 15.0
"""How often the state of the guards is checked."""


class WatchOptions(Options):
    """`anyhook watch`."""


@verb("watch", WatchOptions, "anyhook watch verdict:block", [click.Argument(["filter"], nargs=-1)])
def watch(words: tuple[str, ...], _options: WatchOptions) -> int:
    """Watch events as agents fire them: the newest, then each as it comes; in between, which guards are off, and which
    calls wait for you. FILTER is options of `anyhook log` as name:value, and any text. `anyhook explain NUMBER` shows a
    record in full. q ends it."""
    wanted, folder = wanted_by(" ".join(words)), state_dir(os.environ)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadCall("this needs a terminal. `anyhook log --follow` prints the same anywhere.")
    notices = _notices(folder)
    with _keys():
        for found in follow(folder, wanted, FIRST_SHOWN):
            if found is not None:
                show_records([found])
                continue
            for line in next(notices):
                render.out(line, "bold")
            if select.select([sys.stdin], [], [], LOOK_S)[0] and os.read(sys.stdin.fileno(), 1) in (b"q", b""):
                break
    return DONE


def _notices(folder: str) -> Iterator[list[str]]:
    """What has to be said now: which guards are off and which calls wait, when that changes."""
    banner, looked_s, off, asked = here(), 0.0, "", ""
    while True:
        before = off, asked
        if not looked_s or time.monotonic() - looked_s >= BANNER_S:
            try:
                off = banner()
            except Exception as error:  # noqa: BLE001 (the list goes on, and says what it does not know)
                off = f"whether guards are off cannot be told: {error_line(error)}"
            looked_s = time.monotonic()
        waiting = Approvals(folder).waiting()
        line, asked = waiting_line(waiting), " ".join(each.id for each in waiting)
        yield [text for text, now, then in ((off, off, before[0]), (line, asked, before[1])) if text and now != then]


@contextmanager
def _keys() -> Iterator[None]:
    """Keys count without Enter, and are not shown. The terminal is as before at the end, whatever ends it."""
    before = termios.tcgetattr(sys.stdin)
    for number in END_SIGNALS:
        signal.signal(number, _end)
    tty.setcbreak(sys.stdin)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
