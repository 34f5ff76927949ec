"""What a backtest of a Python hook costs in a long-lived interpreter, compared with a process for each event. It
includes the sample that is also run cold. No test asserts any of it."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from anyhook.model.call import Call
from anyhook.model.lean_json import digest
from anyhook.replay.trial import EVERY, Trial, run_batch
from bench.past import GUARD
from bench.promises import Place, Row

if TYPE_CHECKING:
    from pathlib import Path

EVENTS, COLD = 5_000, 40


def warm_against_cold(folder: Path) -> list[Row]:
    """One batch as a worker gets it, warm and with its sample; and a few events cold."""
    place = Place(folder)
    place.write("guard.py", GUARD)
    script = str(place.home / "guard.py")
    argv = (sys.executable, script)
    trials = []
    for number in range(EVENTS):
        stdin = json.dumps({"tool_name": "Bash", "tool_input": {"command": f"ls {number}"}}).encode()
        task = ("script", script, (), stdin)
        call = Call(argv, stdin, place.env, str(place.project), 30.0, "")
        trials.append(Trial(digest(stdin), "guard", call, sys.executable, task))
    warm = _per_event(trials)
    cold = _per_event([trial.replace(interpreter="", task=()) for trial in trials[:COLD]])
    base = f"in a long-lived worker, 1 of {EVERY} cold too"
    return [Row("backtest of a Python hook, process per event", base, cold / warm, cold / warm, float("inf"))]


def _per_event(trials: list[Trial]) -> float:
    """The wall-clock time, best of three, because a worker waits for the processes that it starts."""
    best = float("inf")
    for _ in range(3):
        before = time.perf_counter()
        results, is_strange = run_batch(trials, ())
        best = min(best, (time.perf_counter() - before) / len(trials))
        if is_strange or len(results) != len(trials):
            raise SystemExit("bench: a trial gave another result warm than cold")
    return best
