"""The state of one run of a pydantic-ai agent for its hooks. A run inside another belongs to a sub-agent."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pydantic_graph import End

from anyhook.extra.frameworks.lifecycle import MAIN, KeepWorkingBounds
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json


@dataclass
class RunState:
    """One run of the agent, or of a sub-agent inside it."""

    info: dict[str, Json] = field(default_factory=dict)
    """Fields that every event of a sub-agent has."""

    kind: str = MAIN
    name: str = ""
    task: str = ""
    call_id: str = ""
    """The tool call that started it; "" if none did."""
    depth: int = 0
    """How many agents are around this one."""
    answers: int = 0
    tools_used: bool = False
    stops: KeepWorkingBounds = field(default_factory=KeepWorkingBounds)
    over: Decision | None = None
    """The decision that ends the turn once the tools of this step are done."""
    refused: End[Any] | None = None
    """The end of a run whose prompt a hook refused."""
    notes: list[str] = field(default_factory=list)
    """What hooks add to a sub-agent's result."""


running: ContextVar[RunState | None] = ContextVar("anyhook_running", default=None)
"""The current run; a run inside it belongs to a sub-agent."""
