"""The capability matrix: what real agents were seen to do with each effect at each event, against what their tables
promise now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anyhook.gates.observed import ASKABLE, LOST, WORKS, promised
from anyhook.model.event import AFTER_CALL
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.tables.host_rows import Host
from anyhook.tables.past import inner
from anyhook.tables.registry import drive

STOPPED, HEARD, NOTHING = "stopped", "told", "nothing"
"""What was seen besides the effect itself: the action was kept from happening; the model was told; no trace of it."""
NOT_FIRED, UNASKED = "not fired", "unasked"
"""The event did not happen in that run; the agent asks nobody, so that a leave says nothing."""
SUB_AGENTS = "sub-agents"
"""Used in place of an event: whether the hooks before a tool hold for an agent's own sub-agents."""
UNSEEN = ("", NOT_FIRED, UNASKED)
QUIET_EFFECTS = ("message",)
"""Effects for people's eyes, which a run without a person may well not show."""


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


def sights(table: Host, data: Mapping[str, Json]) -> Iterator[Sight]:
    """The matrix of one agent: every effect that can be asked for at every event that it has, against its table as it
    is now; nothing for an agent that was never driven."""
    found = inner(data.get("agents"), table.name)
    for event, effects in ASKABLE.items() if found else ():
        for effect in effects:
            said = promised(table, event, effect)
            if said is not None:
                seen = str(inner(found, "events", event, effect) or "")
                yield Sight(table.name, event, effect, said, seen, undriven(table.name, event, effect))


def undriven(agent: str, event: str, effect: str) -> str:
    """Why no run without a person can show it; "" if one can."""
    row = drive(agent)
    return row.why_not_shown(event, effect) if row is not None else ""
