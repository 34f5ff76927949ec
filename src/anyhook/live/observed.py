"""The capability matrix: what real agents were seen to do with each effect at each event, beside what their tables
promise. `make live` writes the data; this reads it, and says where the two differ."""

from __future__ import annotations

import json
import os

from anyhook.model.record import Record
from anyhook.steps.settle import AFTERWARDS, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.grammar.host_rows import Host
    from anyhook.model.json_types import Json

PATH = os.path.join(os.path.dirname(__file__), "observed.json")

WORKS, STOPPED, TOLD, NOTHING = "works", "stopped", "told", "nothing"
"""What was seen: the effect itself; the action was kept from happening; the model was told; no trace of it."""
NOT_FIRED, LOST = "not fired", "lost"
QUIET = ("message",)
"""Effects for people's eyes, which a run without a person may well not show."""


class Sight(Record):
    """One effect at one event of one agent."""

    agent: str
    event: str
    effect: str
    promised: str
    """`works`, the effect that it becomes, or `lost`."""
    seen: str
    """One of the words above, or `not fired` where that event did not happen."""

    @property
    def agrees(self) -> bool:
        if self.seen == NOT_FIRED or self.effect in QUIET or self.promised in QUIET:
            return True
        return self.seen in self._due()

    def _due(self) -> tuple[str, ...]:
        """What may be seen where the promise is kept."""
        if self.promised == LOST:
            return (NOTHING,)
        if self.effect == "ask":
            return (STOPPED,)  # there is nobody to ask
        if self.effect == "block" and self.event in AFTERWARDS:
            return (TOLD,)  # there is nothing left to stop
        if self.promised == WORKS:
            return (WORKS,)
        # Where the model is told in place of the result, what was to be replaced is replaced.
        return (STOPPED,) if self.promised == "block" and self.event not in AFTERWARDS else (TOLD, WORKS)


def promised(table: Host, event: str, effect: str) -> str | None:
    """What a host's table says about an effect; None where it has no such event installed."""
    row = next((row for row in table.events if row.installed and event in row.canonical), None)
    if row is None:
        return None
    if effect in row.says:
        return WORKS
    return next((other for other in RULES[effect] if other in row.says), LOST)


def sights(table: Host, data: Mapping[str, Json]) -> Iterator[Sight]:
    """All that the data has on one agent, against its table as it is now."""
    events = _object(_object(_object(data.get("agents")).get(table.name)).get("events"))
    for event, effects in events.items():
        for effect, seen in _object(effects).items():
            said = promised(table, event, effect)
            if said is not None:
                yield Sight(table.name, event, effect, said, str(seen))


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def load() -> dict[str, Json]:
    """The data as `make live` left it; {} where there is none."""
    try:
        with open(PATH, encoding="utf-8") as file:
            return _object(json.load(file))
    except FileNotFoundError:
        return {}
