"""The capability matrix: what real agents were seen to do with each effect at each event, and what their tables
promise. `make live` writes the data; this reads it, and says where the two differ."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from anyhook.engine.settle import INSTEAD_OF
from anyhook.model.event import AFTER_CALL
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import HostEffect
from anyhook.tables.host_rows import Host
from anyhook.tables.registry import drive

OBSERVED_FILE = os.path.join(os.path.dirname(__file__), "observed.json")

WORKS, STOPPED, HEARD, NOTHING = "works", "stopped", "told", "nothing"
"""What was seen: the effect itself; the action was kept from happening; the model was told; no trace of it."""
NOT_FIRED, UNASKED, LOST = "not fired", "unasked", "lost"
"""The event did not happen in that run; the agent asks nobody, so that a leave says nothing; what is promised where
neither the effect nor anything near it is there."""
SUB_AGENTS = "sub-agents"
"""Used in place of an event: whether the hooks before a tool hold for an agent's own sub-agents."""
UNSEEN = ("", NOT_FIRED, UNASKED)
QUIET_EFFECTS = ("message",)
"""Effects for people's eyes, which a run without a person may well not show."""


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
    found = load()
    for name in ("agents", agent, "secrets"):
        inner = found.get(name)
        found = inner if isinstance(inner, dict) else {}
    return any(isinstance(part, dict) and bool(part.get("shown")) for part in found.values())


class Sight(Record):
    """One effect at one event of one agent."""

    agent: str
    event: str
    effect: str
    promised: str
    """`works`, the effect that it becomes, or `lost`."""
    seen: str
    """One of the words above; "" if nobody has tried it."""
    why: str = ""
    """Why a run without a person cannot show it, where that is so."""

    @property
    def is_open(self) -> bool:
        """Whether neither was it seen nor is it known why not."""
        return self.seen in UNSEEN and not self.why

    @property
    def agrees(self) -> bool:
        if self.seen in UNSEEN or self.effect in QUIET_EFFECTS or self.promised in QUIET_EFFECTS:
            return True
        return self.seen in self._due()

    def _due(self) -> tuple[str, ...]:
        """What may be seen where the promise is kept."""
        if self.promised == LOST:
            return (NOTHING,)
        if self.effect == "ask":
            return (STOPPED,)  # there is nobody to ask
        if self.effect == "block" and self.event in AFTER_CALL:
            return (HEARD,)  # there is nothing left to stop
        if (self.effect, self.event, self.promised) == ("end_turn", "user_prompt_submit", "block"):
            return (WORKS,)  # a prompt that is not sent is a turn that ends
        if self.promised == WORKS or self.effect == "follow_up":
            return (WORKS,)
        # If the model reads a text instead of the result, the result was replaced as asked.
        return (STOPPED,) if self.promised == "block" and self.event not in AFTER_CALL else (HEARD, WORKS)


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


def sights(table: Host, data: Mapping[str, Json]) -> Iterator[Sight]:
    """The matrix of one agent: every effect that can be asked for at every event that it has, against its table as it
    is now; nothing for an agent that was never driven."""
    found = _object(_object(data.get("agents")).get(table.name))
    events = _object(found.get("events"))
    for event, effects in ASKABLE.items() if found else ():
        for effect in effects:
            said = promised(table, event, effect)
            if said is not None:
                seen = str(_object(events.get(event)).get(effect) or "")
                yield Sight(table.name, event, effect, said, seen, undriven(table.name, event, effect))


def undriven(agent: str, event: str, effect: str) -> str:
    """Why no run without a person can show it; "" if one can."""
    row = drive(agent)
    return row.why_not_shown(event, effect) if row is not None else ""


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def load() -> dict[str, Json]:
    """The data as `make live` left it, or {}."""
    try:
        with open(OBSERVED_FILE, encoding="utf-8") as file:
            return _object(json.load(file))
    except FileNotFoundError:
        return {}
