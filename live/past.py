"""Proof from the past: sessions of a real agent, each with another entry, and what `doctor --past` says about them. The
truth is known without transcripts: the calls are those of the scripted model, and the entry is ours to change."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyhook.extra.live.drive import drive
from anyhook.extra.live.script import Step
from anyhook.tables import registry
from anyhook.tables.drive_rows import TERMINAL
from anyhook.tables.registry import host
from live.performance import ANYHOOK, LIMIT_S, environment, replace_entry
from live.sabotage import led
from live.scenes import CALL, WORD, Scene, entry_removed, in_entry

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = (
    Step(tool="shell", input={"command": "echo one > one.txt"}),
    CALL,
    Step(tool="read_file", input={"path": "{project}/README.md"}),
    Step("all done"),
)
EVERY, ONLY_SHELL, NONE = "every call", "the shell", "no call"


@dataclass(frozen=True)
class Entry:
    """What is done to the entry before a session, and what it then asks about."""

    change: Callable[[Scene], None]
    asks: str
    is_heard: bool = True


def as_installed(_scene: Scene) -> None:
    """The entry as `install` wrote it."""


def narrowed(scene: Scene) -> None:
    in_entry(scene, lambda group: {**group, "matcher": "|".join(shells(scene.table.name))})


def unheard(scene: Scene) -> None:
    """A program in between throws our answers away, so that what is refused runs."""
    wrapper = scene.home / "unheard"
    scene.write(wrapper, f'#!/bin/sh\n"{ANYHOOK}" "$@" >/dev/null 2>&1\nexit 0\n', 0o755)
    replace_entry(scene.stage.home, str(wrapper))


WHOLE, GONE = Entry(as_installed, EVERY), Entry(entry_removed, NONE)
HOMES = {
    "present in half": (WHOLE, GONE),
    "removed": (GONE,),
    "narrowed": (Entry(narrowed, ONLY_SHELL),),
    "unheard": (Entry(unheard, EVERY, is_heard=False),),
}
"""The sessions of each home."""


def shells(agent: str) -> list[str]:
    """What the agent, its model and its hooks call the shell."""
    row = registry.drive(agent)
    called = row.tools.get("shell", ()) if row is not None else ()
    return [*(native for native, tool in host(agent).tools.items() if tool.ours == "shell"), *called]


def proven(agent: str) -> dict[str, Any]:
    """How many sessions there were, and what was said otherwise than it is."""
    count, wrong, entry = 0, list[str](), host(agent).entry
    for name, entries in HOMES.items():
        if name == "narrowed" and (entry is None or entry.style != "groups"):
            continue  # its entry has no matcher
        with tempfile.TemporaryDirectory(prefix="anyhook-past-", ignore_cleanup_errors=True) as folder:
            scene = Scene(host(agent), os.path.realpath(folder))
            scene.anyhook("install", agent)
            scene.guard(scene.home)
            true = Counter[str]()
            for each in entries:
                true += held(scene, each)
                count += 1
                wrong += [f"{name}: {said}" for said in differences(scene, true)]
    return {"sessions": count, "differences": wrong}


def held(scene: Scene, entry: Entry) -> Counter[str]:
    """One session, and the truth about it."""
    entry.change(scene)
    agent, leads, marker = scene.table.name, led(scene), Path(scene.stage.project, "ran.txt")
    program = shutil.which(scene.table.program, path=environment()["PATH"]) or scene.table.program
    seen = drive(
        agent, program, scene.stage, STEPS, environment(), scenario=TERMINAL, limit_s=LIMIT_S, trusts_hooks=True
    )
    for path, text in leads.items():  # the next session connects it to a model of its own
        path.write_text(text)
    called = [request.answered for request in seen.requests if request.answered]
    asked = {EVERY: called, ONLY_SHELL: [tool for tool in called if tool in shells(agent)], NONE: []}[entry.asks]
    refused_ran = int(not entry.is_heard and marker.exists())
    return Counter(sessions=1, calls=len(called), asked=len(asked), disobeyed=refused_ran)


def differences(scene: Scene, true: Counter[str]) -> list[str]:
    """Where `doctor --past` says something else."""
    done = scene.anyhook("doctor", scene.table.name, "--past", "--json")
    if not done.stdout:
        return [f"exit status {done.returncode}: {done.stderr.strip()}"]
    said = json.loads(done.stdout)[scene.table.name]["past"]
    missed, disobeyed = said["missed"], said["disobeyed"]
    pairs: dict[str, tuple[object, object]] = {
        name: (said[name], true[name]) for name in ("sessions", "calls", "asked")
    }
    pairs["missed"] = (len(missed), true["calls"] - true["asked"])
    pairs["sessions with calls that were missed"] = (len({each["session"] for each in missed}), int(bool(missed)))
    pairs["disobeyed"] = ([WORD in each["what"] for each in disobeyed], [True] * true["disobeyed"])
    pairs["exit status"] = (done.returncode, int(bool(missed or disobeyed)))
    found = [f"{name}: said {said}, true {true}" for name, (said, true) in pairs.items() if said != true]
    return [*found, *(f"not read: {why}" for why in said["unread"]), *([] if true["calls"] else ["it made no calls"])]
