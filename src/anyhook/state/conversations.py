"""The agent's stored conversations: one file each, replaced as a whole, so that a crash leaves the old one or the new
one. It does not look into the messages."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING

from anyhook.documents.places import AT_ONCE, write_private
from anyhook.model.record import Record

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

ID = re.compile(r"[\w.-]{1,100}\Z")


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
        self.folder = f"{state_dir}/agent/{hashlib.sha256(project.encode()).hexdigest()[:16]}"

    def save(self, conversation: Conversation) -> None:
        values = {field: getattr(conversation, field) for field in conversation.fields}
        data = json.dumps({"version": 1, **values}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        write_private(f"{self.folder}/{conversation.id}.json", data)

    def load(self, identity: str) -> Conversation | None:
        """The conversation; None if there is none, or it cannot be read."""
        if not ID.match(identity):
            return None
        try:
            with open(os.open(f"{self.folder}/{identity}.json", AT_ONCE), "rb") as file:
                found = json.loads(file.read().decode("utf-8", "surrogatepass"))
            return Conversation(
                str(found["id"]), str(found["project"]), str(found["model"]), int(found["turns"]),
                tuple(map(str, found["waiting"])), found["messages"],
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def latest(self) -> str | None:
        """The id of the latest conversation."""
        return next((identity for _, identity in self.by_time()), None)

    def by_time(self) -> list[tuple[float, str]]:
        """When each conversation was stored, in seconds since the epoch, and its id; the latest first."""
        try:
            with os.scandir(self.folder) as entries:
                found = [(entry.stat().st_mtime, entry.name) for entry in entries if entry.name.endswith(".json")]
        except OSError:
            return []
        return sorted(((when, name.removesuffix(".json")) for when, name in found), reverse=True)
