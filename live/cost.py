"""What our entry costs inside an agent, compared with a no-op shell hook in its place: CPU time of the whole run,
including the agent's own, divided by the number of events. Both run in turn; noise only adds time, so the lowest value
counts."""

from __future__ import annotations

from typing import Any

from anyhook.extra.live.script import Step
from live.performance import play
from live.policy import CALLS

ROUNDS = 2
NO_OP = "/bin/true"


def spent(agent: str) -> dict[str, Any]:
    """CPU seconds of both, and the difference per event."""
    steps = [*(step for step, _ in CALLS), Step("all done")]
    taken: dict[str, list[float]] = {"ours": [], "no-op": []}
    events = 0
    for _ in range(ROUNDS):
        played = play(agent, {}, steps, "Please make the calls.")
        events = max(events, len(played.journal))
        taken["ours"].append(played.spent_s)
        taken["no-op"].append(play(agent, {}, steps, "Please make the calls.", entry=NO_OP).spent_s)
    ours_s, idle_s = min(taken["ours"]), min(taken["no-op"])
    return {
        "events": events,
        "cpu_s": round(ours_s, 2),
        "no_op_cpu_s": round(idle_s, 2),
        "more_per_event_ms": round((ours_s - idle_s) / events * 1000, 1) if events else None,
    }
