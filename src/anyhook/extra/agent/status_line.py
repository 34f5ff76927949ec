"""A status line: what the agent waits for, and for how long, as one line on the terminal that disappears again. Without
a terminal it draws nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import TextIO

from anyhook.extra.frameworks.run_state import running
from anyhook.model.decision import Decision
from anyhook.model.event import AFTER_CALL, Event

TICK_S = 0.5
SILENT_S, SLOW_HOOK_S = 2.0, 1.0
"""How long to wait before the status line appears."""
MODEL = "the model"
WIPE = "\r\x1b[K"
INDENT = "  "


def nesting() -> str:
    """The indentation of the current run's lines: a sub-agent's are indented below it."""
    run = running.get()
    return INDENT * (run.depth if run is not None else 0)


class StatusLine:
    """What an agent is doing, according to its events."""

    def __init__(self, file: TextIO | None, env: Mapping[str, str], is_free: Callable[[], bool] = lambda: True) -> None:
        """`is_free` says whether the cursor is at the start of a line and nothing else is using it."""
        self._file, self._is_free = file, is_free
        self._able = file is not None and file.isatty() and env.get("TERM", "dumb") != "dumb"
        self._faint = ("\x1b[2m", "\x1b[0m") if not env.get("NO_COLOR") else ("", "")
        self._busy: dict[object, tuple[str, float, float]] = {}
        """Current activities, by key: the text, the start time, and the delay before it is shown."""
        self._what = MODEL
        self.info: Callable[[], str] = lambda: ""
        """Additional text to show."""
        self._until_s = 0.0
        """When the model is asked again, on the monotonic clock."""
        self._since_s = monotonic()
        self._drawn = False

    @asynccontextmanager
    async def shown(self, what: str = MODEL) -> AsyncIterator[None]:
        """Draw while the body runs. `what` is shown if no event says more."""
        self._what = what
        self._busy.clear()
        self.wipe()
        ticking = asyncio.ensure_future(self._tick()) if self._able else None
        try:
            yield
        finally:
            if ticking is not None:
                ticking.cancel()
            self.wipe()

    def begins(self, event: Event) -> None:
        """An event's hooks are about to run."""
        if event.name in AFTER_CALL:
            self._busy.pop(event.get("call_id"), None)
        self._busy[id(event)] = (f"a hook of {event.name}", monotonic(), SLOW_HOOK_S)

    def ends(self, event: Event, decision: Decision) -> None:
        """The event's hooks have run. After those of a tool call, the tool runs."""
        self._busy.pop(id(event), None)
        if event.name == "pre_tool" and not decision.stops:
            self._busy[event.get("call_id")] = (str(event.get("tool")), monotonic(), SILENT_S)
        elif event.name == "step_end":  # a tool that was denied after all has no other end event
            self._busy.clear()
        self._since_s = monotonic()

    def pauses(self, wait_s: float) -> None:
        """The model is asked again after this time: show a countdown."""
        self._until_s = monotonic() + wait_s

    def wipe(self) -> bool:
        """Clear the line before something else is written. True if there was something to clear."""
        self._since_s = monotonic()
        was, self._drawn = self._drawn, False
        if was:
            self._write(WIPE)
        return was

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            if self._is_free():
                self._draw()

    def _draw(self) -> None:
        left_s = self._until_s - monotonic()
        if left_s > 0:
            self._show(f"  trying again in {left_s:.0f} s …")
            return
        what, since_s, after_s = next(reversed(self._busy.values()), (self._what, self._since_s, SILENT_S))
        past_s = monotonic() - since_s
        if past_s < after_s:
            return
        info = self.info()
        self._show(f"  waiting for {what} …  {past_s:.0f} s" + (f"  ({info})" if info else ""))

    def hint(self, text: str) -> None:
        """Show a text that will be replaced soon."""
        self._since_s = monotonic()
        if self._able and self._is_free():
            self._show(text)

    def _show(self, text: str) -> None:
        before, after = self._faint
        width = shutil.get_terminal_size().columns - 1
        shown = text if len(text) <= width else f"{text[: width - 1]}…"
        self._write(f"{WIPE}{before}{shown}{after}\r")
        self._drawn = True

    def _write(self, text: str) -> None:
        assert self._file is not None  # noqa: S101 (a terminal)
        try:
            self._file.write(text)
            self._file.flush()
        except (OSError, ValueError):
            self._able = False  # the terminal is gone; a signal reports that
