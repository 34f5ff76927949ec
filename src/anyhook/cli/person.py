"""Verbs that weaken protection are for people: not for a process that an agent has started."""

from __future__ import annotations

import os

from anyhook.cli import BadCall
from anyhook.guard.below_agent import agent_above


def require_person(verb: str) -> None:
    """Raises BadCall if an agent has started this process, whatever the line was that started it."""
    why = agent_above(os.environ)
    if why:
        raise BadCall(
            f"`anyhook {verb}` is for people, and an agent started this one: {why}. Nothing was changed."
            " Run it in your terminal, outside the agent."
        )
