"""Progress of a long read, as a bar on the terminal; nothing without a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

REFRESH_S = 0.2


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a function that takes how much is done, and of how much. The bar disappears at the end."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield lambda _done, _total: None
        return
    drawn = Progress(
        TextColumn("{task.description}"),
        BarColumn(30),
        TaskProgressColumn(),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = drawn.add_task(what, total=None)
    shown_s, started = time.monotonic(), False

    def tell(done: int, total: int) -> None:
        nonlocal shown_s, started
        if time.monotonic() - shown_s < REFRESH_S or done >= total:
            return
        if not started:
            drawn.start()
        shown_s, started = time.monotonic(), True
        drawn.update(task, completed=done, total=total, refresh=True)

    try:
        yield tell
    finally:
        if started:
            drawn.stop()
