"""Installs: which files of agents we changed, what was in them before, and what we wrote."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from time import time_ns

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.model.json_types import Json
from anyhook.model.pattern import later
from anyhook.model.record import Record
from anyhook.platform.locks import locked
from anyhook.platform.places import INSTALLS, may_exist, write_private

PLAIN_NAME = "anyhook"
UNMADE_NAME = f"{PLAIN_NAME}-********"
"""What stands for the user's own name before it is made."""
NAME = "installs/name"
IS_NAME = later(rf"{PLAIN_NAME}-[0-9a-f]{{8}}")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def own_name(state_dir: str) -> str:
    """What the user's entry is called in agents that take one of each name, a project's before the user's: nobody who
    writes a project knows it."""
    try:
        name = read_bytes(f"{state_dir}/{NAME}").decode()
    except (OSError, UnicodeDecodeError, Unreadable):
        return PLAIN_NAME
    return name if IS_NAME.fullmatch(name) else PLAIN_NAME


def make_own_name(state_dir: str) -> None:
    """Makes that name, unless there is one."""
    with locked(f"{state_dir}/installs"):
        if own_name(state_dir) == PLAIN_NAME:
            write_private(f"{state_dir}/{NAME}", f"{PLAIN_NAME}-{os.urandom(4).hex()}".encode())


class Install(Record):
    """One file of an agent that we changed."""

    agent: str
    scope: str
    after: str
    """Digest of what we wrote."""
    backup: str | None = None
    """The name of the backup; None if there was no file."""
    folders: tuple[str, ...] = ()
    """The folders that were created for it, the innermost first."""
    at_ns: int = 0
    """When the entry was written; 0 for one of an earlier version."""

    @classmethod
    def read(cls, row: Json) -> Install | None:
        """An entry of the index; None if it is not valid."""
        if not isinstance(row, dict):
            return None
        backup, folders = row.get("backup"), row.get("folders")
        return cls(
            str(row.get("agent")),
            str(row.get("scope")),
            str(row.get("after")),
            backup if isinstance(backup, str) else None,
            tuple(str(folder) for folder in folders) if isinstance(folders, list) else (),
            at if isinstance(at := row.get("at"), int) else 0,
        )

    def as_json(self) -> dict[str, Json]:
        folders: list[Json] = [*self.folders]
        return {
            "agent": self.agent, "scope": self.scope, "after": self.after, "backup": self.backup, "folders": folders,
            "at": self.at_ns,
        }  # fmt: skip


class Installs:
    """Path → what we did to that file. Open it with `changing` to change it."""

    def __init__(self, state_dir: str) -> None:
        self.folder = f"{state_dir}/installs"
        self.path = f"{state_dir}/{INSTALLS}"
        self.damaged = ""
        """Why the index cannot be read; "" if it can, or if there is none."""
        self._known = self._read()

    @classmethod
    @contextmanager
    def changing(cls, state_dir: str) -> Iterator[Installs]:
        """The index, locked for a change: no other process changes it, or the agents' files that it is about."""
        with locked(f"{state_dir}/installs"):
            yield cls(state_dir)

    def _read(self) -> dict[str, Install]:
        if not may_exist(self.path):
            return {}
        try:
            found = json.loads(read_bytes(self.path))
        except (OSError, Unreadable, ValueError, RecursionError) as error:
            self.damaged = getattr(error, "strerror", None) or str(error)
            return {}
        if not isinstance(found, dict):
            self.damaged = "it is not a JSON object"
        rows = found.items() if isinstance(found, dict) else ()
        return {path: install for path, row in rows if (install := Install.read(row)) is not None}

    def before(self, path: str, now: bytes | None) -> tuple[bool, bytes | None]:
        """Whether the old content can be restored byte for byte, because what we wrote is unchanged; and that content,
        None for no file."""
        known = self._known.get(path)
        if known is None or now is None or known.after != digest(now):
            return False, None
        if known.backup is None:
            return True, None
        try:
            return True, read_bytes(f"{self.folder}/{known.backup}")
        except (OSError, Unreadable):
            return False, None

    def keep(
        self, path: str, agent: str, scope: str, before: bytes | None, after: bytes, folders: tuple[str, ...]
    ) -> str | None:
        """Record one change, and the folders that were created for it; returns the backup's path."""
        backup = None
        if before is not None:
            backup = f"{digest(path.encode())[:12]}-{digest(before)[:12]}.bak"
            write_private(f"{self.folder}/{backup}", before)
        old = self._known.get(path)
        self._known[path] = Install(agent, scope, digest(after), backup, folders, time_ns())
        self._write()
        if old is not None and old.backup != backup:
            self._drop(old.backup)
        return f"{self.folder}/{backup}" if backup else None

    @property
    def known(self) -> Mapping[str, Install]:
        return self._known

    def scope(self, path: str) -> str:
        """The scope in which we wrote a file; "" if we did not."""
        known = self._known.get(path)
        return known.scope if known is not None else ""

    def folders(self, path: str) -> tuple[str, ...]:
        """The folders that were created for a file, the innermost first."""
        known = self._known.get(path)
        return known.folders if known is not None else ()

    def forget(self, path: str) -> None:
        known = self._known.pop(path, None)
        if known is None:
            return
        self._write()
        self._drop(known.backup)

    def _drop(self, backup: str | None) -> None:
        if backup:
            with suppress(OSError):
                os.unlink(f"{self.folder}/{backup}")

    def _write(self) -> None:
        rows = {path: install.as_json() for path, install in self._known.items()}
        write_private(self.path, json.dumps(rows, indent=1).encode())
