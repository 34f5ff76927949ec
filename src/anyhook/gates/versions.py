"""Which version of an agent is installed, and whether our entry is known to work with it. What a package says is read,
also behind a shell script; otherwise the program is asked once, and its answer kept for as long as the file stays the
same."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from typing import Literal

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.gates.observed import load
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.other_programs import ask
from anyhook.platform.places import head, home_of, lies_in, state_dir
from anyhook.platform.store import Store
from anyhook.programs.statements import read_line
from anyhook.tables.host_rows import Host
from anyhook.tables.past import inner
from anyhook.tables.registry import changes, module_of, part

Contract = Literal["known", "newer", "changed", "unknown"]
LIMIT_S = 2.0
MAX_ANSWER = 200
NUMBER = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)|\A\s*v?(\d+)\s*\Z")
"""A version in a line: with a dot, or the only word there."""
MAX_WRAPPER = 8_192
MODULES = "/node_modules/"
ESCAPE_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""Terminal escapes: colours, titles, links. Some agents print them even without a terminal."""


class Version(Record):
    """An agent's version, and what is known about it."""

    said: str | None
    """As its package or its program says it; None if neither does."""
    seen: str | None
    """The newest version that our entry was seen live with."""
    contract: Contract
    why: str = ""
    """What is known to be different in this version, or that it is newer."""

    def as_dict(self) -> dict[str, Json]:
        return {"version": self.said, "seen": self.seen, "contract": self.contract}


def version(host: Host, project: str, env: Mapping[str, str], *, may_start: bool) -> Version:
    """The installed version of an agent. Without `may_start`, only what is known already counts. A program in the
    project is never started: nobody has approved it."""
    program = shutil.which(host.program, path=env.get("PATH"))
    if program is None:
        return judged(host, None)
    path, home = os.path.realpath(program), home_of(env)
    foreign = lies_in(path, project) and not lies_in(home, project)
    said = _packaged(path) or next(filter(None, map(_packaged, _handed_to(path, home))), None)
    return judged(host, said or _asked(path, env, may_start=may_start and not foreign))


def judged(host: Host, said: str | None) -> Version:
    """What is known about one version of an agent."""
    live, documented = seen_live(host.name), _number(part(module_of(host.name), "VERSION"))
    seen = _dotted(max(live)) if live else None
    number = _number(said)
    if number is None or number in live:
        return Version(said, seen, "unknown" if number is None else "known")
    for change in changes(host.name):
        since, before = _number(change.since) or (), _number(change.before)
        if number >= since and (before is None or number < before):
            return Version(said, seen, "changed", f"{host.title} {_dotted(number)} {change.what}")
    known = max((*live, documented) if documented else live, default=None)
    if known is not None and number <= known:
        return Version(said, seen, "known")
    last = f"the version that our entry is known to work with, {_dotted(known)}" if known else "anything seen"
    return Version(said, seen, "newer", f"{host.title} {_dotted(number)} is newer than {last}")


def seen_live(agent: str) -> list[tuple[int, ...]]:
    """The versions that `make live` has driven with our entry."""
    found = inner(load(), "agents", agent, "versions")
    return [number for said in found if (number := _number(said))] if isinstance(found, dict) else []


def _number(said: str | None) -> tuple[int, ...] | None:
    found = NUMBER.search(said or "")
    return tuple(int(digits[:9]) for digits in (found[1] or found[2]).split(".")) if found is not None else None


def number_in(said: str | None) -> str | None:
    """The number in the line that a program prints about its version."""
    number = _number(said)
    return _dotted(number) if number is not None else None


def _dotted(number: tuple[int, ...]) -> str:
    return ".".join(map(str, number))


def _packaged(path: str) -> str | None:
    """The version in the package that a program belongs to: one of npm, or of a virtual environment."""
    if MODULES in path:
        above, _, rest = path.rpartition(MODULES)
        names = rest.split("/")
        manifest = f"{above}{MODULES}{'/'.join(names[: 2 if rest.startswith('@') else 1])}/package.json"
        try:
            found = json.loads(read_bytes(manifest))
        except (OSError, ValueError, RecursionError, Unreadable):
            return None
        said = found.get("version") if isinstance(found, dict) else None
        return said if isinstance(said, str) else None
    folder, name = os.path.split(path)
    packages = f"{glob.escape(os.path.dirname(folder))}/lib/python3*/site-packages"
    for listed in glob.glob(f"{packages}/*.dist-info/entry_points.txt") if os.path.basename(folder) == "bin" else ():
        try:
            commands = read_bytes(listed).decode("utf-8", "replace")
        except (OSError, Unreadable):
            continue
        if re.search(rf"^{re.escape(name)}\s*=", commands, re.MULTILINE):
            return os.path.basename(os.path.dirname(listed)).removesuffix(".dist-info").rpartition("-")[2]
    return None


def _handed_to(path: str, home: str) -> Iterator[str]:
    """The programs that a shell script, as package managers write them, starts in its place."""
    text = (head(path, MAX_WRAPPER) or b"").decode("utf-8", "replace")
    if text.startswith("#!"):
        for program in read_line(text, None, home, file_params=(path,)).programs:
            if program.via[:1] == ("exec",):
                yield from (os.path.realpath(word) for word in (program.path, *program.args) if word.startswith("/"))


def _asked(program: str, env: Mapping[str, str], *, may_start: bool) -> str | None:
    """What the program printed when it was asked, now or earlier."""
    try:
        state = os.stat(program)
    except OSError:
        return None
    kept, key = Store(state_dir(env), "versions"), f"{program} {state.st_size} {state.st_mtime_ns}"
    known = kept.read_object(key)
    if not known and may_start:
        known = {"said": version_of(program, LIMIT_S)}
        kept.write(key, json.dumps(known).encode())
    said = known.get("said")
    return said if isinstance(said, str) else None


def version_of(program: str, limit_s: float) -> str | None:
    """The version that a program prints; None if it does not answer within the limit. No process of it is left."""
    try:
        answer = ask((program, "--version"), limit_s)
    except OSError:
        return None
    lines = ESCAPE_CODES.sub("", (answer.out or answer.err).decode("utf-8", "replace")).strip().splitlines()
    named = [line for line in lines if NUMBER.search(line)] or lines
    return named[0].strip()[:MAX_ANSWER] if named and answer.status == 0 else None
