"""`anyhook watch`: the journal live in the terminal."""

from __future__ import annotations

import os
import sys

import click

from anyhook.cli import BadCall
from anyhook.cli.journal_input import wanted_by
from anyhook.cli.options import Options
from anyhook.cli.standing import here
from anyhook.cli.verbs import of_extra, verb
from anyhook.platform.places import state_dir

INSTEAD = "`anyhook log --follow` prints the same line by line."


class WatchOptions(Options):
    """`anyhook watch`."""


@verb("watch", WatchOptions, "anyhook watch verdict:block", [click.Argument(["filter"], nargs=-1)])
def watch(words: tuple[str, ...], _options: WatchOptions) -> int:
    """Watch events as agents fire them. FILTER is what you can type after `/`: options of `anyhook log` as
    name:value, and any text. Enter shows a record in full, p pauses, q quits."""
    query = " ".join(words)
    wanted_by(query)  # report mistakes before anything is drawn
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadCall(f"this needs a terminal. {INSTEAD}")
    if os.environ.get("TERM") == "dumb":
        raise BadCall(f"nothing can be drawn on this terminal (TERM=dumb). {INSTEAD}")
    view = of_extra("anyhook.cli.tui.terminal", "tui", "the view is not installed")
    app = view.Watch(state_dir(os.environ), query, here())
    app.run()
    status: int = app.return_code or 0
    return status
