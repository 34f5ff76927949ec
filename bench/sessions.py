"""Whole sessions of real agents with a scripted model, with our entry and the guards, against a shell hook that does
nothing: CPU time. Only the agents that are installed (`scripts/agents.sh .agents AGENT...`, or on the PATH)."""

from __future__ import annotations

import shutil

from live.cost import CALLS, spent
from live.performance import environment

from bench.promises import Row

AIMS = {"claude": (1.12, 1.3), "goose": (1.3, 1.8), "codex": (1.3, 1.6)}
"""If the server runs, and in the session that starts it."""


def sessions() -> list[Row]:
    rows = list[Row]()
    for agent, (running, starting) in AIMS.items():
        if shutil.which(agent, path=environment()["PATH"]) is None:
            print(f"no row for sessions of {agent}: it is not installed")
            continue
        seen = spent(agent)
        base, name = "a shell hook that does nothing, CPU", f"{agent}, session of {CALLS} calls"
        rows += [
            Row(f"{name}, server running", base, seen["while_server_runs"], seen["while_server_runs"], running),
            Row(f"{name}, which starts it", base, seen["with_start"], seen["with_start"], starting),
        ]
    return rows
