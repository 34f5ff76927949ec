"""`python -m live AGENT...`: runs the trials, writes what was seen into the capability matrix, and exits with 1 if that
is not what the tables promise."""

from __future__ import annotations

import argparse
import datetime
import fcntl
import json
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from anyhook.gates.observed import OBSERVED_FILE, load, promised
from anyhook.gates.versions import number_in, version_of
from anyhook.tables.registry import HOSTS, drive, host, past
from live import sabotage
from live.approvals import CALLS, answered
from live.canaries import shown
from live.cost import spent
from live.matrix import SUB_AGENTS, sights, undriven
from live.past import proven
from live.performance import attempt, environment
from live.policy import judged
from live.trials import TRIALS

POLICY, SECRETS, COST, APPROVALS, PAST = "policy", "secrets", "cost", "approvals", "past"
PARTS = (*TRIALS, POLICY, APPROVALS, SECRETS, COST, PAST)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m live",
        description="Drive real agents through trials, and write what was seen into the capability matrix. Exits with "
        "1 if that is not what the tables promise. `scripts/agents.sh .agents AGENT...` installs agents.",
    )
    which = made.add_mutually_exclusive_group()
    which.add_argument("--trial", choices=PARTS, metavar="NAME", help=f"only this one: {', '.join(PARTS)}")
    which.add_argument("--open", action="store_true", help="only what has not been seen yet")
    which.add_argument(
        "--sabotage", action="store_true", help="the sabotages instead; NAME=AGENT runs one of them alone"
    )
    made.add_argument("agents", nargs="+", metavar="AGENT", type=known, help="such as claude")
    return made


def known(word: str) -> str:
    """The word, if it names an agent that can be driven."""
    agent = word.rpartition("=")[2]
    drivable = [name for name in HOSTS if drive(name) is not None]
    if agent not in drivable:
        raise argparse.ArgumentTypeError(f"unknown agent {agent}; known: {', '.join(drivable)}")
    return word


def main(words: list[str]) -> int:
    """Results of trials that do not run now stay as they are."""
    asked = parser().parse_args(words)
    if asked.sabotage:
        return 1 if sabotaged(asked.agents) else 0
    one: str | None = asked.trial
    agents: list[str] = asked.agents
    wrong = 0
    for agent in agents:
        program = shutil.which(host(agent).program, path=environment()["PATH"])
        if program is None:
            print(f"{agent}: not installed", file=sys.stderr)
            wrong += 1
            continue
        wanted = [name for name in PARTS if is_wanted(agent, name, one, asked.open)]
        version = version_of(program, 120.0) or installed(agent)
        for name in wanted:  # each is written at once, because a full run takes long and may be interrupted
            found = tried(agent, name)
            write(agent, {"version": version, **found})
            wrong += len(found[name]["differences"]) if name in (APPROVALS, PAST) else 0
        for sight in sights(host(agent), load()):
            if not sight.agrees:
                wrong += 1
                print(f"{agent}: {sight.event} {sight.effect}: promised {sight.promised}, seen {sight.seen}")
    print(f"written to {Path(OBSERVED_FILE).relative_to(Path.cwd())}; {wrong} unlike the tables")
    return 1 if wrong else 0


def sabotaged(agents: list[str]) -> int:
    """How many sabotages had a forbidden result."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()

    def version(agent: str) -> str | None:
        program = shutil.which(host(agent).program, path=environment()["PATH"])
        return version_of(program, 120.0) or installed(agent) if program else None

    return sabotage.main(agents, version, today)


def installed(agent: str) -> str | None:
    """The version in its table, which `scripts/agents.sh` installs, for a program that does not print one."""
    said: str | None = getattr(import_module(f"anyhook.agents.{agent}"), "VERSION", None)
    return said


def write(agent: str, found: dict[str, Any]) -> None:
    with open(OBSERVED_FILE, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another run may be writing too
        data: dict[str, Any] = {"agents": {}, **load()}
        data["agents"] = dict(sorted({**data["agents"], agent: merged(data["agents"].get(agent, {}), found)}.items()))
        Path(OBSERVED_FILE).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def merged(known: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What was seen now, and the earlier results of what was not tried now."""
    events = {**known.get("events", {})}
    for event, effects in found.get("events", {}).items():
        events[event] = {**events.get(event, {}), **effects}
    fired = sorted({*known.get("fired", ()), *found.get("fired", ())})
    versions = {**known.get("versions", {})}
    if "pre_tool" in found.get("fired", ()) and (number := number_in(found["version"])):
        versions[number] = found["date"]
    return {**known, **found, "fired": fired, "events": events, "versions": versions}


def tried(agent: str, name: str) -> dict[str, Any]:
    """The results of a trial, the twenty calls or the cost; a run that did not end in time has none."""
    made: dict[str, Any] = {"date": datetime.datetime.now(datetime.UTC).date().isoformat()}
    if name == POLICY:
        made[POLICY] = judged(agent)
        print(f"{agent}: twenty calls: {'; '.join(made[POLICY]['differences']) or 'as the policy says'}", flush=True)
        return made
    if name == SECRETS:
        made[SECRETS] = shown(agent)
        return made
    if name == APPROVALS:
        made[APPROVALS] = {"calls": len(CALLS), "differences": answered(agent)}
        print(f"{agent}: a person elsewhere: {'; '.join(made[APPROVALS]['differences']) or 'as answered'}", flush=True)
        return made
    if name == PAST:
        made[PAST] = proven(agent)
        print(
            f"{agent}: proof from the past: {'; '.join(made[PAST]['differences']) or 'every gap, and no other'}",
            flush=True,
        )
        return made
    if name == COST:
        made[COST] = spent(agent)
        print(f"{agent}: cost: {made[COST]}", flush=True)
        return made
    found, played = attempt(agent, TRIALS[name])
    said = ", ".join(f"{event} {effect}: {seen}" for (event, effect), seen in found.items())
    print(f"{agent}: {name} ({played.seen.duration_s:.1f} s, {played.seen.ending}): {said}", flush=True)
    if played.seen.ending == "timed_out":
        return made
    events: dict[str, dict[str, str]] = {}
    for (event, effect), seen in found.items():
        if is_about(agent, event, effect):
            events.setdefault(event, {})[effect] = seen
    network = played.seen.network or "off"
    return {**made, "network": network, "fired": sorted(played.evidence.fired), "events": events}


def is_wanted(agent: str, name: str, one: str | None, only_open: bool) -> bool:
    """Whether to run a trial, the twenty calls or the cost now."""
    if name == PAST and past(agent) is None:
        return False  # it keeps no transcripts that anyhook can read
    if one is not None:
        return name == one
    trial = TRIALS.get(name)
    if not only_open:
        return trial is None or any(is_about(agent, event, effect) for event, effect in trial.looks)
    agents: Any = load().get("agents")
    known = agents.get(agent, {}) if isinstance(agents, dict) else {}
    if trial is None:
        return name not in known
    seen = known.get("events", {})
    return any(is_about(agent, event, effect) and effect not in seen.get(event, {}) for event, effect in trial.looks)


def is_about(agent: str, event: str, effect: str) -> bool:
    """Whether an agent has this event at all, and a run without a person can show it."""
    has = event == SUB_AGENTS or promised(host(agent), event, effect) is not None
    return has and not undriven(agent, event, effect)


sys.exit(main(sys.argv[1:]))
