"""Earlier sessions of a project, for a list: when, how long, and their first prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter

from anyhook.extra.frameworks.messages import plain

if TYPE_CHECKING:
    from anyhook.state.conversations import Conversations

MAX_SESSIONS = 20
"""Nobody reads a longer list."""


@dataclass
class PastSession:
    """One session that can be resumed."""

    id: str
    when_s: float
    turns: int
    began: str
    """The start of the first prompt."""


def past_sessions(kept: Conversations) -> list[PastSession]:
    """The latest first. Sessions that cannot be read are left out, because they cannot be resumed either."""
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
