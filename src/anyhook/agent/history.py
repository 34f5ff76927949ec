"""Earlier sessions of a project, as a person tells them apart: when, how long, and how they began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from anyhook.adapters.messages import plain

if TYPE_CHECKING:
    from anyhook.state.conversations import Conversations

MAX_SESSIONS = 20
"""A longer list is not read."""


@dataclass
class PastSession:
    """One session that can be resumed."""

    id: str
    when_s: float
    turns: int
    began: str
    """The first words of its user."""


def past_sessions(kept: Conversations) -> list[PastSession]:
    """The latest first; what cannot be read is left out, for it cannot be taken up either."""
    found: list[PastSession] = []
    for when_s, identity in kept.by_time()[:MAX_SESSIONS]:
        conversation = kept.load(identity)
        if conversation is None:
            continue
        try:
            said = plain(ModelMessagesTypeAdapter.validate_python(conversation.messages))
        except ValidationError:
            continue
        began = next((message["content"] for message in said if message["role"] == "user"), "")
        found.append(PastSession(identity, when_s, conversation.turns, " ".join(began.split())))
    return found
