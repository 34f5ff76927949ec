"""What a session of the agent is started with. Plain values; nothing is opened here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.words import Trust

MAX_TURNS = 50
THRESHOLD = 0.80
CONTEXT_WINDOW = 128_000
"""For models that do not say how much they hold."""


@dataclass(frozen=True)
class SessionOptions:
    """The words of the call, checked."""

    project: str
    env: Mapping[str, str]
    model: str | None = None
    permission: str = "ask"
    resume: str | None = None
    follow: bool = False
    recipe: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    max_turns: int = MAX_TURNS
    hooks: bool = True
    trust: Trust = "ask"
    dialects: tuple[str, ...] = ()
    plugin_dirs: tuple[str, ...] = ()
    state_dir: str | None = None
    web_fetch: bool = False
    max_cost: float | None = None
    """In US dollars."""
    mode: str | None = None
    """None where the user's settings decide."""
