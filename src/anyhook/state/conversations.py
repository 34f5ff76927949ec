"""The agent's stored conversations: one file each, replaced as a whole, so that a crash leaves the old one or the new
one. It does not look into the messages."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress

from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.platform.places import make_private_dir
from anyhook.platform.store import Store

ID = re.compile(r"[\w.-]{1,100}\Z")
IS_KEPT = re.compile(r"[0-9a-f]{16}-.*\.json\Z")
IS_OLD = re.compile(r"[0-9a-f]{16}\Z")
MAX_BYTES = 1 << 30


class Conversation(Record):
    """One stored session."""

    id: str
    project: str
    model: str
    turns: int
    waiting: tuple[str, ...]
    """Texts from hooks for the model, to be sent with the next prompt."""
    messages: Json
    """The framework's own messages, as JSON."""


class Conversations:
    """The conversations about one project."""

    def __init__(self, state_dir: str, project: str) -> None:
        self.project = project
        self._store = Store(state_dir, "conversations")
        self._start = f"{hashlib.sha256(project.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}-"
        _adopt(f"{state_dir}/agent", self._store.folder)

    def path(self, identity: str) -> str:
        return self._store.path(f"{self._start}{identity}")

    def save(self, conversation: Conversation) -> None:
        values = {field: getattr(conversation, field) for field in conversation.fields}
        data = json.dumps({"version": 1, **values}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._store.put(f"{self._start}{conversation.id}", data)

    def load(self, identity: str) -> Conversation | None:
        """The conversation; None if there is none, or it cannot be read."""
        if not ID.match(identity):
            return None
        data = self._store.read(f"{self._start}{identity}", MAX_BYTES)
        if data is None:
            return None
        try:
            found = json.loads(data.decode("utf-8", "surrogatepass"))
            return Conversation(
                str(found["id"]), str(found["project"]), str(found["model"]), int(found["turns"]),
                tuple(map(str, found["waiting"])), found["messages"],
            )  # fmt: skip
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    def latest(self) -> str | None:
        """The id of the latest conversation."""
        return next((identity for _, identity in self.by_time()), None)

    def by_time(self) -> list[tuple[float, str]]:
        """When each conversation was stored, in seconds since the epoch, and its id; the latest first."""
        try:
            with os.scandir(self._store.folder) as entries:
                found = [(entry.stat().st_mtime, entry.name) for entry in entries if IS_KEPT.match(entry.name)]
        except OSError:
            return []
        own = [(when, name[len(self._start) : -len(".json")]) for when, name in found if name.startswith(self._start)]
        return sorted(own, reverse=True)


def _adopt(old: str, folder: str) -> None:
    """Move the conversations of the version before, which had a folder for each project."""
    with suppress(OSError):
        for name in os.listdir(old):
            if not IS_OLD.match(name):
                continue
            make_private_dir(folder)
            for kept in os.listdir(f"{old}/{name}"):
                os.rename(f"{old}/{name}/{kept}", f"{folder}/{name}-{kept}")
            os.rmdir(f"{old}/{name}")
