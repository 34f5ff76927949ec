"""`python -m live AGENT...`: runs the trials, writes what was seen into the capability matrix, and leaves with 1 where
that is not what the tables promise."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from anyhook.hosts import host
from anyhook.hosts.moods import undriven
from anyhook.install.diagnosis import version_of
from anyhook.live.observed import PATH, SUB_AGENTS, load, promised, sights
from live.cost import spent
from live.performance import attempt, environment
from live.policy import judged
from live.trials import TRIALS


def main(words: list[str]) -> int:
    """`--trial NAME` runs that one alone, and keeps what is known of the others."""
    one = words[1] if words[:1] == ["--trial"] else None
    agents = words[2:] if one else words
    wrong = 0
    for agent in agents:
        program = shutil.which(host(agent).program, path=environment()["PATH"])
        if program is None:
            print(f"{agent}: not installed", file=sys.stderr)
            wrong += 1
            continue
        found = observed(agent, program, one)
        data: dict[str, Any] = {"agents": {}, **load()}  # another run may have written meanwhile
        data["agents"] = dict(sorted({**data["agents"], agent: merged(data["agents"].get(agent, {}), found)}.items()))
        Path(PATH).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        for sight in sights(host(agent), data):
            if not sight.agrees:
                wrong += 1
                print(f"{agent}: {sight.event} {sight.effect}: promised {sight.promised}, seen {sight.seen}")
    print(f"written to {Path(PATH).relative_to(Path.cwd())}; {wrong} unlike the tables")
    return 1 if wrong else 0


def merged(known: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What was seen now, and what was seen before of what was not tried now."""
    events = {**known.get("events", {})}
    for event, effects in found["events"].items():
        events[event] = {**events.get(event, {}), **effects}
    fired = sorted({*known.get("fired", ()), *found["fired"]})
    return {**known, **found, "fired": fired, "events": events}


def observed(agent: str, program: str, one: str | None) -> dict[str, Any]:
    events: dict[str, dict[str, str]] = {}
    fired: set[str] = set()
    network = ""
    for name, trial in TRIALS.items():
        if one not in (None, name) or not any(is_about(agent, event, effect) for event, effect in trial.looks):
            continue
        found, played = attempt(agent, trial)
        network = played.seen.network
        fired |= played.evidence.fired
        for (event, effect), seen in found.items():
            events.setdefault(event, {})[effect] = seen
        said = ", ".join(f"{event} {effect}: {seen}" for (event, effect), seen in found.items())
        print(f"{agent}: {name} ({played.seen.duration_s:.1f} s): {said}", flush=True)
    made: dict[str, Any] = {
        "version": version_of(program, 120.0),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "network": network or "off",
        "fired": sorted(fired),
        "events": events,
    }
    if one in (None, "policy"):
        made["policy"] = judged(agent)
        print(f"{agent}: twenty calls: {'; '.join(made['policy']['differences']) or 'as the policy says'}", flush=True)
    if one in (None, "cost"):
        made["cost"] = spent(agent)
        print(f"{agent}: cost: {made['cost']}", flush=True)
    return made


def is_about(agent: str, event: str, effect: str) -> bool:
    """Whether an agent has such an event at all, and a run without a person can show it."""
    has = event == SUB_AGENTS or promised(host(agent), event, effect) is not None
    return has and not undriven(agent, event, effect)


sys.exit(main(sys.argv[1:]))
