"""Reads the corpora. A line is a command; a line that begins with `|` continues the previous one. Three in ten
commands, chosen by hash, are held out: rules are not tuned to them. In the fifth set it is half, and none in the sets
with 0 in `KEPT_ASIDE`."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

from anyhook.agents.anyhook import EVENTS, LIMITS
from anyhook.documents.files import Files
from anyhook.engine.rule_calls import condition_of, may_show_secret
from anyhook.install.working_places import own_folders
from anyhook.model.event import Event
from anyhook.model.hook import Hook, Source
from anyhook.model.json_types import Json
from anyhook.programs.facts import Facts
from anyhook.programs.paths import slashed
from anyhook.rules.calls import facts_of
from anyhook.rules.evaluate import Hits, RuleCall, applies
from anyhook.rules.marks import marks_of
from anyhook.rules.pack_list import GUARDS
from anyhook.rules.paths import Places
from anyhook.rules.rule_file import RuleFile

HERE = Path(__file__).parent / "corpus"
KINDS = ("destructive", "harmless")
KEPT_ASIDE = {"fifth": 128, "sixth": 0, "seventh": 0, "eighth": 0, "own": 0, "ninth": 256}
"""How many of 256 are held out, by set."""
MOSTLY_KEPT_ASIDE = 77
"""For all other sets: three in ten."""


class Command(NamedTuple):
    kind: str
    category: str
    text: str

    @property
    def kept_aside(self) -> bool:
        share = KEPT_ASIDE.get(self.category.partition("-")[0], MOSTLY_KEPT_ASIDE)
        return hashlib.sha256(self.text.encode()).digest()[0] < share


def commands(kind: str) -> Iterator[Command]:
    """All commands of one kind, category by category."""
    for path in sorted((HERE / kind).glob("*.txt")):
        for text in lines(path):
            yield Command(kind, path.stem, text)


def lines(path: Path) -> Iterator[str]:
    """The commands of one file."""
    found: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("|"):
            found.append(line[2:])
            continue
        if found:
            yield "\n".join(found)
        found = [line]
    yield "\n".join(found)


HOME, PROJECT = "/home/dev", "/home/dev/work/shop"
WORK = HERE / "work"
"""Calls of ordinary work, set by set, and those of them that a reviewer wants denied."""
WORK_SETS = ("day", "later", "last", "packages")
RIGHTLY_DENIED = "rightly-denied"
INPUT = {"Bash": "command", "Grep": "pattern", "Glob": "pattern", "WebFetch": "url", "WebSearch": "query"}
"""The input field that takes the rest of a line, by tool."""


def work_calls(name: str) -> list[tuple[str, str, dict[str, Json]]]:
    """The calls of one set, each with its line: `Bash COMMAND`, `Read PATH`, `Write PATH :: TEXT`, `Edit PATH :: OLD =>
    NEW`."""
    return [(line, *_call(*line.split(" ", 1))) for line in lines(WORK / f"{name}.txt")]


def _call(tool: str, rest: str) -> tuple[str, dict[str, Json]]:
    if tool not in ("Read", "Write", "Edit"):
        return tool, {INPUT.get(tool, "prompt"): rest}
    path, _, text = rest.partition(" :: ")
    old, _, new = text.replace("\\n", "\n").replace("\\t", "\t").partition(" => ")
    given: dict[str, Json] = {"file_path": os.path.join(PROJECT, path)}
    if tool == "Write":
        given["content"] = old
    elif tool == "Edit":
        given |= {"old_string": old, "new_string": new}
    return tool, given


def rules(document: dict[str, Json]) -> list[Hook]:
    """The rules of a rule file. A rule that cannot be used ends the measurement."""
    files = Files()
    source = Source("anyhook", "user", str(HERE / "hooks.toml"), str(HERE))
    found = RuleFile(source, files, EVENTS, LIMITS["command"]).read(document)
    if files.problems:
        sys.exit("\n".join(f"{problem.where}: {problem.what} {problem.fix}" for problem in files.problems))
    return found


class Judge:
    """Judges commands by the rules directly, without an engine."""

    def __init__(self, document: dict[str, Json] | None = None, project: str = PROJECT) -> None:
        self.rules = rules(document or {"use": [*GUARDS]})
        self.places = Places(
            HOME, project, own=lambda: own_folders("", {"HOME": HOME}, project), is_there=lambda _: True
        )
        self.cwd = project
        self._then = {_name(rule): str(rule.spec["then"]) for rule in self.rules}

    def verdict(self, tool: str, given: dict[str, Json]) -> str:
        """The strongest verdict of the rules: `deny`, `ask` or ""."""
        found = {self._then[name] for name in self.refusals_of(tool, given)}
        return "deny" if "deny" in found else "ask" if found else ""

    def refusals(self, command: str, *, by_all: bool = False) -> list[str]:
        """The names of the rules that refuse a command."""
        return self.refusals_of("Bash", {"command": command}, by_all=by_all)

    def at(self, call: dict[str, Any]) -> Judge:
        """The same in the folder where a call of a session was made, in the session's project and home."""
        folder = slashed(str(call.get("cwd") or call.get("project") or self.places.project), "/")
        project, home = slashed(str(call.get("project") or folder), "/"), slashed(str(call.get("home") or HOME), "/")
        agent, more = str(call.get("agent") or ""), () if f"{home}/".startswith(f"{folder}/") else (folder,)
        there = copy(self)
        there.cwd = folder
        there.places = Places(home, project, own=lambda: own_folders(agent, {"HOME": home}, project), more=lambda: more)
        return there

    def refusals_of(self, tool: str, given: dict[str, Json], *, by_all: bool = False) -> list[str]:
        """The names of the rules that refuse a call. Like the engine, it asks only rules whose marks the call has,
        unless `by_all` is set."""
        event = Event("pre_tool", {"tool": tool, "input": {**given}})
        made: list[Facts] = []

        def facts() -> Facts:
            if not made:
                made.append(facts_of(tool, given, cwd=self.cwd, home=self.places.home, project=None))
            return made[0]

        places = self.places.replace(may_hold_secret=lambda path: may_show_secret(path, facts()))
        call = RuleCall(event, "", places, facts)
        marks = marks_of(facts()).union(*(has for _, has in call.parts))
        return [
            _name(rule)
            for rule in self.rules
            if rule.spec["then"] in ("deny", "ask")
            and rule.condition is not None
            and (by_all or not marks.isdisjoint(rule.condition[1]))
            and applies(condition_of(rule), call, Hits(rule.condition[2]))
        ]


def _name(rule: Hook) -> str:
    return f"{Path(rule.source).stem}/{rule.name}"
