"""Diagnosis: what an agent's config says about our entry, without starting anything of the agent's. It can tell that an
entry is dead, and never that it is alive: for that the agent itself has to be driven."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Final, Literal

from anyhook.documents import edit
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.install.changes import places
from anyhook.install.entries import is_ours, is_own_text
from anyhook.model.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.tables.host_rows import Entry, Host

Status = Literal["INERT", "UNKNOWN", "NOT_INSTALLED"]
INERT: Final = "INERT"
UNKNOWN: Final = "UNKNOWN"
NOT_INSTALLED: Final = "NOT_INSTALLED"
SWITCHES = ((("disableAllHooks",), True), (("hooksConfig", "enabled"), False))
"""Settings of agents that turn all hooks off."""
LISTED_OFF = ("hooksConfig", "disabled")
"""A setting that names hooks to be left out, as our handlers are named in such agents."""


class Diagnosis(Record):
    """What is known of one agent."""

    installed: tuple[str, ...]
    status: Status
    reason: str


def diagnose(host: Host, home: str, project: str, env: Mapping[str, str]) -> Diagnosis:
    """Where our entry is, and what would keep it from working."""
    if host.entry is None:
        return Diagnosis((), NOT_INSTALLED, "its own hook files are read by anyhook as they are")
    found: list[str] = []
    wrong: list[str] = []
    for scope in host.entry.files:
        for path in places(host, host.entry, scope, home, project, env):
            text = _text(path)
            commands = list(_commands(text, host)) if text is not None else []
            if text is None or not (commands or (host.entry.owned and is_own_text(text, host))):
                continue
            found.append(path)
            wrong += [f"{path}: {why}" for why in _dead(text, commands, host.entry, env)]
    if not found:
        return Diagnosis((), NOT_INSTALLED, f"anyhook install {host.name}")
    if wrong:
        return Diagnosis(tuple(found), INERT, wrong[0])
    return Diagnosis(tuple(found), UNKNOWN, "the entry is in place; only the agent itself can show that it calls it")


def _text(path: str) -> str | None:
    try:
        return read_bytes(path, MAX_FOREIGN_BYTES).decode()
    except (OSError, UnicodeDecodeError, Unreadable):
        return None


def _commands(text: str, host: Host) -> Iterator[str]:
    """Our command lines in a file of any kind: each is one line, or one value in it."""
    for line in text.splitlines():
        for piece in (line.removeprefix("exec "), *line.split('"')[1::2]):
            if is_ours(piece, host):
                yield piece
                break


def _dead(text: str, commands: list[str], entry: Entry, env: Mapping[str, str]) -> Iterator[str]:
    for program in {shlex.split(command)[0] for command in commands}:
        there = os.access(program, os.X_OK) if "/" in program else shutil.which(program, path=env.get("PATH"))
        if not there:
            yield f"it calls {program}, which is not there; install again"
    yield from turned_off(text, str(entry.handler.get("name")))


def turned_off(text: str, ours: str) -> Iterator[str]:
    """What in an agent's config keeps it from running any hooks, or the one with our name."""
    try:
        document = edit.read(text, "json")
    except edit.CannotEdit:
        return
    for place, value in SWITCHES:
        if edit.at(document, place) is value:
            name = ".".join(place)
            yield f"`{name}` is {str(value).lower()}, so the agent runs no hooks; remove it, or change it"
    off = edit.at(document, LISTED_OFF)
    if isinstance(off, list) and ours in off:
        yield f"`{'.'.join(LISTED_OFF)}` names `{ours}`, so the agent leaves our entry out; take the name out"


def version_of(program: str, limit_s: float = 15.0) -> str | None:
    """What the agent says of its version; None where it says nothing soon."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    said = (done.stdout or done.stderr).strip().splitlines()
    return said[0][:200] if said and done.returncode == 0 else None
