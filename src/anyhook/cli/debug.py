"""`ANYHOOK_DEBUG=1` and `--debug`: the steps of an event's walk, with times, on stderr. It uses the interpreter's
profiling hook, so the steps contain no code for it, and it costs nothing if it is off."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from time import perf_counter
from types import CodeType, FrameType

import anyhook
from anyhook.cli import render
from anyhook.model.call import Call, Run
from anyhook.model.decision import Decision
from anyhook.model.firing import Answer
from anyhook.model.outcome import Outcome

PACKAGE = os.path.dirname(os.path.abspath(anyhook.__file__))
STEPS = {
    ("state/plans.py", "read_plan"): "plan",
    ("engine/catalog.py", "build"): "catalog",
    ("engine/receive.py", "receive"): "receive",
    ("engine/match.py", "match"): "match",
    ("engine/present.py", "call_of"): "present",
    ("platform/child.py", "Child.wait"): "run",
    ("engine/interpret.py", "interpret"): "interpret",
    ("engine/merge.py", "judge"): "judge",
    ("engine/merge.py", "merge"): "merge",
    ("engine/merge.py", "combine"): "combine",
    ("engine/settle.py", "settle"): "settle",
    ("engine/express.py", "express"): "express",
    ("journal/journal.py", "Recorder.write"): "record",
    ("cli/fire.py", "fire"): "fire",
    ("cli/bridge.py", "bridge"): "bridge",
}
"""File and function of each step, in the order of the walk."""


class Steps:
    """Prints a line when a step ends: the time since the start, the step, its subject, its result, and how long it
    took."""

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
            since, took = (now_s - self._start_s) * 1000, (now_s - begun_s) * 1000
            words = (f"debug: {since:9.2f} ms  {step:<12}", _subject(frame), _gist(step, result), f"took {took:.2f} ms")
            self._tell("  ".join(filter(None, words)))

    def _step(self, code: CodeType) -> str:
        """The name of a step; "" for any other function."""
        if code not in self._known:
            file = code.co_filename.removeprefix(f"{PACKAGE}/")
            self._known[code] = STEPS.get((file, code.co_qualname), "")
        return self._known[code]


def _subject(frame: FrameType) -> str:
    """The hook, or the event, that a step is about."""
    values = [frame.f_locals.get(name) for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]]
    for field in ("id", "native", "name"):
        for value in values:
            found = getattr(value, field, None)
            if isinstance(found, str) and found:
                return found
    calls = [call.argv for value in values if isinstance(call := getattr(value, "call", None), Call)]
    return calls[0][-1] if calls and calls[0] else ""


def _gist(step: str, result: object) -> str:
    """The result in a few words."""
    match result:
        case Decision() | Outcome():
            return f"→ {result.verdict}"
        case Run():
            return f"→ {result.ending}" if result.exit_code is None else f"→ {result.ending}, status {result.exit_code}"
        case Answer():
            return f"→ status {result.status}"
        case (str() | None as why, str(failed)) if step == "match":
            return f"→ no: {why or failed}" if why or failed else "→ yes"
        case None if step == "plan":
            return "→ none, or out of date"
        case _:
            return ""


def show_steps() -> None:
    """Show every step from now on, in every thread."""
    steps = Steps(render.say)
    threading.setprofile(steps)
    sys.setprofile(steps)
