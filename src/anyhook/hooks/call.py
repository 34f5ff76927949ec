"""The call that a function gets, and its session."""

from __future__ import annotations

import os

from anyhook.model import lean_json
from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

MAX_AGE_S = 30 * 86_400
"""Older session data is deleted."""


class Programs(Record):
    """What a call would do, the same for every agent. Paths are absolute."""

    runs: tuple[tuple[str, ...], ...] = ()
    """The programs with their arguments, however deep they are in a line."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    connects: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """What cannot be known before it runs."""


class HookSession:
    """The agent's session, and what the functions of this file keep for it."""

    def __init__(self, identity: str, path: str) -> None:
        self.id = identity
        self._path = path
        self._kept: dict[str, Json] | None = None
        self._before = ""
        self._lock = -1

    @property
    def store(self) -> dict[str, Json]:
        """JSON values that last as long as the session. From the first access until the function ends, other calls of
        the same session wait."""
        if self._kept is None:
            import fcntl

            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            self._lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            try:
                with open(self._path, encoding="utf-8") as file:
                    self._before = file.read()
                found = lean_json.loads(self._before)
            except (OSError, ValueError, RecursionError):
                found = {}
            self._kept = found if isinstance(found, dict) else {}
        return self._kept

    def close(self) -> None:
        """Store the changes. Raises TypeError for values that are not JSON."""
        if self._kept is None:
            return
        text = lean_json.dumps(self._kept, ensure_ascii=False)
        if text != self._before:
            with open(f"{self._path}.new", "w", encoding="utf-8", opener=_private) as file:
                file.write(text)
            os.replace(f"{self._path}.new", self._path)
            _forget_old(os.path.dirname(self._path))
        os.close(self._lock)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _forget_old(folder: str) -> None:
    from time import time

    for entry in os.scandir(folder):
        try:
            if entry.stat().st_mtime < time() - MAX_AGE_S:
                os.unlink(entry.path)
        except OSError:
            continue


class HookCall(Record):
    """One call that a function gets. A field that its event does not have is empty."""

    event: str
    agent: str
    """The name of the agent that calls; `fire` for `anyhook fire`."""
    project: str
    tool: str
    input: dict[str, Json]
    """The tool's input, with the agent's own names."""
    command: str
    path: str
    paths: tuple[str, ...]
    """The paths that made the decorator's condition true; `path` is the first."""
    prompt: str
    message: str
    output: Json
    error: str
    facts: Programs
    data: dict[str, Json]
    """Every field of the event."""
    session: HookSession
