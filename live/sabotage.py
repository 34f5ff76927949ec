"""Sabotage: one guard, one call that it refuses, and every way to lose the guard. Each time, the call must be refused
or the person told, and `status` and `doctor --live` must tell the truth. `python -m live --sabotage AGENT...`"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyhook.extra.live.drive import drive
from anyhook.extra.live.script import Step
from anyhook.extra.live.stage import fill
from anyhook.tables import registry
from anyhook.tables.drive_rows import TERMINAL
from anyhook.tables.registry import host
from live.performance import LIMIT_S, environment, recorded
from live.scenes import CHOSEN, HARMLESS, HIDDEN, SWITCHED_OFF, WORD, Scene, sabotages

DATA = Path(__file__).with_name("sabotage.json")
REFUSED, RAN = "refused", "ran"
SAID = "OFF: "
IN_SESSION, BY_MESSAGE, BY_STATUS = "in the session", "by a message", "by status and doctor"
"""How people learn that a guard is off: the agent printed it or its model read it; the agent got it as a message, which
it shows only in its own interface; or `status` and `doctor` report it."""


@dataclass
class Cell:
    """One sabotage in one agent."""

    call: str
    told: str
    protected: bool
    state: str
    doctor: str
    wrong: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


def tried(agent: str, name: str, apply: Callable[[Scene], None]) -> Cell:
    """Do it, drive the agent, and ask `status` and `doctor`."""
    table = host(agent)
    with tempfile.TemporaryDirectory(prefix="anyhook-sabotage-", ignore_cleanup_errors=True) as folder:
        scene = Scene(table, os.path.realpath(folder))
        scene.anyhook("install", agent)
        apply(scene)
        program = shutil.which(table.program, path=environment()["PATH"]) or table.program
        steps = [*scene.steps, Step("all done")]
        leads = led(scene)
        seen = drive(
            agent, program, scene.stage, steps, environment(), scenario=TERMINAL, limit_s=LIMIT_S, trusts_hooks=True
        )
        for path, text in leads.items():  # `doctor` connects a copy of it to its own model
            path.write_text(text)
        if name.startswith(SWITCHED_OFF):
            apply(scene)  # one agent removes files that its maker has not signed
        status = json.loads(scene.anyhook("status", agent, "--json").stdout)
        doctor = json.loads(scene.anyhook("doctor", agent, "--live", "--json", "--limit", str(LIMIT_S)).stdout)[agent]
        ran = (Path(scene.stage.project) / "ran.txt").exists()
        records = recorded(scene.stage)
        heard = seen.stdout + seen.stderr + "".join(request.text for request in seen.requests)
        messages = [said for record in records for said in record["decision"].get("messages", ())]
        asked = any(record["event"] == "pre_tool" and WORD in json.dumps(record) for record in records)
    told = (
        IN_SESSION if SAID in heard
        else BY_MESSAGE if any(SAID in message for message in messages)
        else BY_STATUS if not status["protected"] or _off(status, agent)
        else ""
    )  # fmt: skip
    cell = Cell(RAN if ran else REFUSED, told, status["protected"], status["agents"][agent]["state"], doctor["status"])
    why = status["agents"][agent]["why"] or doctor["reason"]
    unconfirmed = "INERT" if "user" in table.confirms else ""
    cell.wrong = list(judged(cell, name, asked, why.replace(folder, ""), unconfirmed))
    if seen.ending == "timed_out":
        cell.wrong.append(f"the agent had not finished after {LIMIT_S} s, so there is no result")
    return cell


def led(scene: Scene) -> dict[Path, str]:
    """The original content of the agent's files that get the settings for the scripted model appended."""
    row, entry = registry.drive(scene.table.name), scene.table.entry
    assert row is not None
    assert entry is not None
    paths = [Path(fill(path, scene.stage.roots(entry))) for path in row.appends]
    return {path: path.read_text() for path in paths if path.exists()}


def _off(status: dict[str, Any], agent: str) -> bool:
    return bool(status["agents"][agent]["state"] == "off")


def judged(cell: Cell, name: str, asked: bool, why: str, unconfirmed: str) -> Iterator[str]:
    """What is wrong in a cell. `unconfirmed` is the state that `doctor` reports for an agent that wants our entry
    confirmed first, because it runs the agent without the options used here."""
    claims = cell.protected and cell.state == "on"
    if cell.call == RAN:
        if cell.doctor == "ARMED":
            yield f"doctor says ARMED, and the call ran ({why})"
        if claims:
            yield f"status says that the guard is on, and the call ran ({why})"
        if not cell.told or (asked and cell.told == BY_STATUS and name not in CHOSEN):
            yield "the call ran, and nobody was told"
    if name in HARMLESS and (cell.call != REFUSED or not cell.protected):
        yield f"the guard should hold ({why})"
    if name == HIDDEN and cell.call != REFUSED:
        yield f"a project should not hide the user's entry ({why})"
    if name == "launcher gone, closed" and cell.call != REFUSED:
        yield f"a closed entry should refuse ({why})"
    if name.startswith("launcher gone") and cell.call == REFUSED and cell.doctor not in ("REFUSING", unconfirmed):
        yield f"doctor should say REFUSING ({why})"


def load() -> dict[str, Any]:
    return json.loads(DATA.read_text() or "{}") if DATA.exists() else {}


def keep(agent: str, name: str, cell: Cell, version: str | None, date: str) -> None:
    with open(DATA, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # another run may be writing as well
        data = load()
        known = data.setdefault(agent, {"cells": {}})
        known.update(version=version)
        known["cells"][name] = {**cell.as_dict(), "date": date}
        DATA.write_text(json.dumps(dict(sorted(data.items())), indent=1, ensure_ascii=False) + "\n")


def main(agents: list[str], version_of: Callable[[str], str | None], date: str) -> int:
    """All sabotages in these agents; NAME=AGENT runs only one of them."""
    wrong = 0
    for word in agents:
        only, _, agent = word.rpartition("=")
        version = version_of(agent)
        for name, apply in sabotages(host(agent)).items():
            if only and name != only:
                continue
            cell = tried(agent, name, apply)
            keep(agent, name, cell, version, date)
            wrong += bool(cell.wrong)
            said = f"{cell.call}, told {cell.told or 'nobody'}; protected {cell.protected}, {cell.state}"
            bad = f"  WRONG: {'; '.join(cell.wrong)}" if cell.wrong else ""
            print(f"{agent}: {name}: {said}; doctor {cell.doctor}{bad}", flush=True)
    return wrong
