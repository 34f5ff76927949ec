"""A stage: a temporary home and project in which an agent is driven, with copies of the user's own entry and of the
settings that decide whether it is called. It writes to none of the user's files and copies no credentials."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from anyhook.documents import edit
from anyhook.install.changes import places
from anyhook.model.json_types import Json
from anyhook.platform.places import home_of
from anyhook.state.entry_places import HOME, PLACE, roots_of
from anyhook.tables.drive_rows import Drive
from anyhook.tables.host_rows import Entry, Host

if TYPE_CHECKING:
    from anyhook.documents.parse import Syntax

PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "TMPDIR", "SHELL", "USER", "LOGNAME", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
    "ANYHOOK_WARM",
)  # fmt: skip
"""What the agent gets of the environment: what it needs to start, whether the warm server is used, and no keys."""


OTHER_PLACES = re.compile(rf" {PLACE} [^\s\"'\\]+|, \"{PLACE}\", \"[^\"]*\"".encode())
"""What else an entry fixes: here everything is in the home."""


class Stage:
    """One folder that holds everything. It is the caller's to remove."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.home, self.project = f"{folder}/home", f"{folder}/project"

    def build(self) -> None:
        os.makedirs(self.home)
        os.makedirs(f"{self.project}/.git")
        self.write(f"{self.project}/README.md", "A project for a trial.\n")
        # Enough for agents that look for a repository, without a program that makes one.
        self.write(f"{self.project}/.git/HEAD", "ref: refs/heads/main\n")
        for name in ("objects", "refs"):
            os.mkdir(f"{self.project}/.git/{name}")

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def roots(self, entry: Entry) -> dict[str, str]:
        """What `{home}`, `{project}` and the entry's roots stand for here."""
        return roots_of(entry, self.home, self.project, {})

    def env(self, given: Mapping[str, str]) -> dict[str, str]:
        """What the agent is started with, before its own variables."""
        kept = {name: given[name] for name in PASSED_ON if name in given}
        bases = {"CONFIG": ".config", "DATA": ".local/share", "CACHE": ".cache", "STATE": ".local/state"}
        xdg = {f"XDG_{name}_HOME": f"{self.home}/{folder}" for name, folder in bases.items()}
        return {
            **kept,
            **xdg,
            "HOME": self.home,
            "TERM": "dumb",
            "DO_NOT_TRACK": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def bring(self, host: Host, entry: Entry, drive: Drive, project: str, env: Mapping[str, str]) -> list[str]:
        """Copies the user's entries and what decides about them; the paths that were copied."""
        here = self._moved(host, entry, drive, project, env)
        found = {old: new for old, new in here.items() if os.path.exists(old)}
        renamed = {old.encode(): new.encode() for old, new in found.items()}
        renamed |= {f'"{project}"'.encode(): f'"{self.project}"'.encode()}
        renamed |= self._homes(home_of(env))
        for old, new in found.items():
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if os.path.isdir(old):
                os.symlink(old, new)
            else:
                _copy(old, new, renamed)
        return list(found)

    def _homes(self, home: str) -> dict[bytes, bytes]:
        """How an entry fixes the user's home, in a command line and in a module, and the same for this one."""
        made = [(shlex.join(each), json.dumps(each)[1:-1]) for each in ([HOME, home], [HOME, self.home])]
        return {old.encode(): new.encode() for old, new in zip(*made, strict=True)}

    def _moved(self, host: Host, entry: Entry, drive: Drive, project: str, env: Mapping[str, str]) -> dict[str, str]:
        """The user's path → ours."""
        home = home_of(env)
        moved: dict[str, str] = {}
        for scope in entry.files:
            theirs = places(host, entry, scope, home, project, env)
            moved.update(zip(theirs, places(host, entry, scope, self.home, self.project, {}), strict=True))
        old, new = roots_of(entry, home, project, env), self.roots(entry)
        # What can turn hooks off, and what else decides; the agent sees its system's files by itself.
        moved.update({fill(path, old): fill(path, new) for path in (*host.settings, *drive.carries) if path[0] == "{"})
        return moved


def fill(text: str, known: Mapping[str, str]) -> str:
    """A row's text with its places filled. Other braces stay, for much of it is JSON."""
    for name, value in known.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _copy(old: str, new: str, renamed: Mapping[bytes, bytes]) -> None:
    """A file as it is, but for paths by which an agent's trust is kept: those lead to the copies."""
    with open(old, "rb") as file:
        data = file.read()
    for theirs, ours in renamed.items():
        data = data.replace(theirs, ours)
    data = OTHER_PLACES.sub(b"", data)
    with open(new, "wb") as file:
        file.write(data)
    shutil.copymode(old, new)


def prepare(stage: Stage, drive: Drive, known: Mapping[str, str]) -> None:
    """Writes what leads the agent to the scripted model."""
    for path, value in drive.writes.items():
        text = value if isinstance(value, str) else json.dumps(value)
        stage.write(fill(path, known), fill(text, known))
    for path, text in drive.appends.items():
        where = fill(path, known)
        stage.write(where, _text(where) + fill(text, known))
    for path, values in drive.sets.items():
        where = fill(path, known)
        filled: dict[str, Json] = json.loads(fill(json.dumps(values), known))
        stage.write(where, _with_values(_text(where), "toml" if path.endswith(".toml") else "json", filled))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _with_values(text: str, syntax: Syntax, values: Mapping[str, Json]) -> str:
    """A file's text with some values set."""
    for name, value in values.items():
        try:
            text = edit.put(text, syntax, tuple(name.split(".")), value)
        except edit.CannotEdit:
            return text  # as the agent itself finds it
    return text


def words_of(drive: Drive, known: Mapping[str, str]) -> list[str]:
    """The words that follow the program."""
    return [fill(word, known) for word in drive.words]
