"""The switches of `Engine.fire` for one event. Types only: nothing imports this at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from anyhook.handlers.model_client import AnyModel


class FireSwitches(TypedDict, total=False):
    """A posture and a mode for this event, and the switches of `open` that decide which hooks there are. The first use
    of other switches builds another catalog."""

    on_failure: str | None
    mode: str | None
    exhausted: frozenset[str]
    """Dialects that have kept the agent working as often as they may; their blocks are ignored."""
    can_ask: bool
    """Whether the caller asks a person if the answer is `ask`; otherwise a person elsewhere may."""
    dialects: Sequence[str]
    dialect: str | Sequence[str]
    trust: str
    plugin_dirs: Sequence[str]
    plugin_dir: str | Sequence[str]
    state_dir: str | None
    session: str | None
    model: AnyModel | None
