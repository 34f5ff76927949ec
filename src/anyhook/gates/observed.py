"""What real agents were seen to do with each effect at each event, and what their tables promise. `make live` writes
it, and `live/matrix.py` compares the two."""

from __future__ import annotations

import json
import os

from anyhook.engine.settle import INSTEAD_OF
from anyhook.model.json_types import Json
from anyhook.model.words import HostEffect
from anyhook.tables.host_rows import Host
from anyhook.tables.past import inner

OBSERVED_FILE = os.path.join(os.path.dirname(__file__), "observed.json")

WORKS, LOST = "works", "lost"
"""What is promised: the effect itself; nothing, because neither it nor anything near it is there."""
ASKABLE: dict[str, tuple[HostEffect, ...]] = {
    "session_start": ("block", "context", "message"),
    "user_prompt_submit": ("block", "end_turn", "prompt", "context", "message"),
    "pre_tool": ("block", "end_turn", "ask", "allow", "input", "context", "message"),
    "permission_request": ("block", "allow", "input", "context", "message"),
    "post_tool": ("block", "end_turn", "output", "context", "message"),
    "post_tool_failure": ("block", "end_turn", "output", "context", "message"),
    "notification": ("context", "message"),
    "subagent_start": ("block", "context", "message"),
    "subagent_stop": ("block", "context", "message"),
    "pre_compact": ("block", "context", "message"),
    "post_compact": ("context", "message"),
    "stop": ("block", "follow_up", "context", "message"),
    "session_end": ("message",),
}
"""Event → what hooks of some dialect can ask for there: the rows of the matrix."""


def shows_secrets(agent: str) -> bool:
    """Whether secrets in a tool's output were seen to reach the model of the real agent, with the pack `redact` on."""
    found = inner(load(), "agents", agent, "secrets")
    return isinstance(found, dict) and any(inner(part, "shown") for part in found.values())


def promised(table: Host, event: str, effect: str) -> str | None:
    """What a host's table says about an effect; None if it has no such event installed."""
    row = next((row for row in table.events if row.installed and event in row.canonical), None)
    if row is None:
        return None
    says = row.at(event).says
    if effect in says:
        return WORKS
    fallbacks = (other for name, others in INSTEAD_OF.items() if name == effect for other in others)
    return next((other for other in fallbacks if other in says), LOST)


def load() -> dict[str, Json]:
    """The data as `make live` left it, or {}."""
    try:
        with open(OBSERVED_FILE, encoding="utf-8") as file:
            found: dict[str, Json] = json.load(file)
    except FileNotFoundError:
        return {}
    return found
