"""`ANYHOOK_DEBUG=1` and `--debug`: the steps of an event's walk, with times, on stderr. The interpreter's own profiling
hook tells of them, so the steps do not know about it, and it costs nothing while nobody debugs."""

from __future__ import annotations

import os
import sys
import threading
from time import perf_counter
from typing import TYPE_CHECKING

import anyhook
from anyhook.cli.view import render

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

PACKAGE = os.path.dirname(os.path.abspath(anyhook.__file__))
STEPS = {
    "receive": "walk/receive.py", "match": "walk/routes.py", "call_of": "walk/present.py", "run": "process/run.py",
    "interpret": "walk/interpret.py", "judge": "walk/merge.py", "merge": "walk/merge.py",
    "combine": "walk/combine.py", "settle": "walk/settle.py", "express": "walk/express.py",
    "record": "journal/record.py", "fire": "cli/fire.py", "bridge": "cli/bridge.py",
}  # fmt: skip
"""The functions that are steps, in the order of the walk, and where they are."""


class Steps:
    """Tells when a step ends: how long after the start, which step, about what, and how long it took."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._start_s = perf_counter()
        self._begun_s: dict[int, float] = {}
        self._known: dict[CodeType, str] = {}

    def __call__(self, frame: FrameType, event: str, result: object) -> None:
        step = self._step(frame.f_code)
        if not step:
            return
        if event == "call":
            self._begun_s[id(frame)] = perf_counter()
        elif event == "return" and (begun_s := self._begun_s.pop(id(frame), None)) is not None:
            now_s = perf_counter()
            words = [f"debug: {(now_s - self._start_s) * 1000:9.2f} ms  {step:<12}", _subject(frame), _gist(result)]
            self._tell("  ".join(filter(None, [*words, f"took {(now_s - begun_s) * 1000:.2f} ms"])))

    def _step(self, code: CodeType) -> str:
        """The name of a step; "" for any other function."""
        if code not in self._known:
            place = STEPS.get(code.co_name)
            self._known[code] = code.co_name if place and code.co_filename == os.path.join(PACKAGE, place) else ""
        return self._known[code]


def _subject(frame: FrameType) -> str:
    """The hook, or the event, that a step is about."""
    values = [frame.f_locals.get(name) for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]]
    for field in ("id", "native", "name"):
        for value in values:
            found = getattr(value, field, None)
            if isinstance(found, str) and found:
                return found
    return ""


def _gist(result: object) -> str:
    verdict = getattr(result, "verdict", None) or getattr(result, "ending", None)
    return f"→ {verdict}" if isinstance(verdict, str) else ""


def show_steps() -> None:
    """From now on, tell of every step in every thread."""
    steps = Steps(render.say)
    threading.setprofile(steps)
    sys.setprofile(steps)
