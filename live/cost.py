"""What our entry costs inside an agent, with the guards on, against a shell hook in its place that does nothing: CPU
time of whole sessions, the agent's own included. Both run in turn; noise only adds time, so the lowest value counts."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from anyhook.extra.live.script import Step
from live.performance import ANYHOOK, environment, play

if TYPE_CHECKING:
    from anyhook.extra.live.stage import Stage

ROUNDS, CALLS = 2, 20
NO_OP = "/bin/sh -c true"
LINES = ("ls", "git status", "cat a.txt | head -5", "npm test", "grep -rn word src", "pwd", "ls src docs")


def guarded(stage: Stage) -> None:
    words = [str(ANYHOOK), "add", "guard", "--yes"]
    subprocess.run(words, env=stage.env(environment()), cwd=stage.project, check=True, capture_output=True)


def spent(agent: str) -> dict[str, Any]:
    """The CPU seconds of a session of 20 calls, and how much more it takes with our entry: if it starts the server, and
    if the server runs already, which is known from twice as many calls."""
    taken: dict[tuple[str, int], list[float]] = {}
    events = 0
    for _ in range(ROUNDS):
        for calls in (CALLS, 2 * CALLS):
            steps = [Step(tool="shell", input={"command": LINES[at % len(LINES)]}) for at in range(calls)]
            steps.append(Step("all done"))
            for name, entry in (("ours", None), ("no-op", NO_OP)):
                played = play(agent, {}, steps, "Please make the calls.", entry=entry, beside=guarded)
                taken.setdefault((name, calls), []).append(played.spent_s)
                events = max(events, len(played.journal) if calls == CALLS else 0)
    best = {case: min(times) for case, times in taken.items()}
    ours_s, idle_s = best["ours", CALLS], best["no-op", CALLS]
    running_s = (best["ours", 2 * CALLS] - ours_s) - (best["no-op", 2 * CALLS] - idle_s)
    return {
        "events": events,
        "cpu_s": round(ours_s, 2),
        "no_op_cpu_s": round(idle_s, 2),
        "more_per_event_ms": round((ours_s - idle_s) / events * 1000, 1) if events else None,
        "with_start": round(ours_s / idle_s, 2),
        "while_server_runs": round(1 + running_s / idle_s, 2),
    }
