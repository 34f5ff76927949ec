"""The options of a session, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.words import Trust

MAX_TURNS = 50
THRESHOLD = 0.80
CONTEXT_WINDOW = 128_000
"""For models that do not say how large it is."""


@dataclass(frozen=True)
class SessionOptions:
    """The checked options of the call."""

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
    """None if the user's settings decide."""
