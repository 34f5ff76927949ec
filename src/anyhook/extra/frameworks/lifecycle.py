"""The lifecycle of one session of a host: fires its events with the host's names, counts what dialects limit, and keeps
context until the model can get it. It knows no framework."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from time import monotonic

from anyhook.engine.engine import Engine
from anyhook.engine.receive import recalled
from anyhook.engine.switches import FireSwitches
from anyhook.gates.tell import telling
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.json_types import Json
from anyhook.state.turns import exhausted, keeper
from anyhook.tables.host_rows import Host

Observer = Callable[[Event, Decision], None]
Announcer = Callable[[Event], None]
"""Called with an event before its hooks run."""

MAIN, SUBAGENT = "main", "subagent"
UNSURE = "a hook wants to be sure"


class Refused(Exception):  # noqa: N818 (it is an answer, not a failure)
    """A hook refused the session or the prompt, or ended a turn whose result cannot be a plain text."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason or f"a hook blocked {decision.event}")
        self.decision = decision


class Lifecycle:
    """One session: what every event of it says, and what waits for the model."""

    def __init__(
        self,
        engine: Engine,
        facts: dict[str, Json] | None = None,
        observe: Observer | None = None,
        announce: Announcer | None = None,
    ) -> None:
        self.engine = engine
        self.facts: dict[str, Json] = dict(facts or {})
        """Fields that every event of this session gets, if its payloads have them."""
        self.observe, self.announce = observe, announce
        self.waiting: list[str] = []
        """Context that the model has yet to see."""
        self.turns = 0
        """Answers of the model to the main agent."""
        self.subagents = 0
        """How many sub-agents were started."""
        self.agent: Host | None = None
        """The agent whose tools the host has, if it comes with one."""
        self.can_ask = True
        """Whether the host asks a person itself if a hook asks."""
        self.begun = self.ended = self.warned = False
        self.cut_short: Decision | None = None
        """The decision by which a hook ended the last turn before the model was done."""
        self._started_s = monotonic()

    async def fire(self, name: str, spent: frozenset[str] = frozenset(), /, **data: Json) -> Decision:
        """One event. In shadow mode the answer does not count, so none of it is returned."""
        event = self._event(name, data)
        switches = self._switches(spent)
        decision = await (self.engine.fire(event, **switches) if switches else self.engine.fire(event))
        return self._counted(event, decision)

    def fire_sync(self, name: str, spent: frozenset[str] = frozenset(), /, **data: Json) -> Decision:
        """The same for hosts without an event loop."""
        event = self._event(name, data)
        return self._counted(event, self.engine.fire_sync(event, **self._switches(spent)))

    def _switches(self, spent: frozenset[str]) -> FireSwitches:
        switches: FireSwitches = {"exhausted": spent} if spent else {}
        if not self.can_ask and self.engine.context.config.ask:
            switches["can_ask"] = False
        return switches

    def _event(self, name: str, data: dict[str, Json]) -> Event:
        event = Event.made(name, {**self.facts, **data}, hosted=True)
        if self.agent is not None and "tool" in data:
            event = recalled(self.agent, event)
        if self.announce is not None:
            self.announce(event)
        return event

    def _counted(self, event: Event, decision: Decision) -> Decision:
        if self.observe is not None:
            self.observe(event, decision)
        return decision if decision.enforced else Decision(decision.event, enforced=False)

    async def begin(self, source: str = "startup") -> Decision:
        """The session starts. Its context reaches the model with the first prompt."""
        self.begun = True
        decision = await self.fire("session_start", source=source)
        self.waiting.extend(decision.context)
        return decision

    async def end(self, reason: str) -> Decision | None:
        """The session ends, once; nothing can keep it from ending."""
        if self.ended or not self.begun:
            return None
        self.ended = True
        duration_s = int(monotonic() - self._started_s)
        return await self.fire(
            "session_end", reason=reason, turns=self.turns, step_count=self.turns, duration_s=duration_s
        )

    def take_waiting(self) -> list[str]:
        taken, self.waiting = self.waiting, []
        return taken


class KeepWorkingBounds:
    """How often each dialect has kept the agent working in one turn."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._spent: set[str] = set()

    @property
    def spent(self) -> frozenset[str]:
        return frozenset(self._spent)

    def count(self, decision: Decision) -> None:
        """One more block that keeps the agent working."""
        if name := keeper(decision):
            self._counts[name] = self._counts.get(name, 0) + 1
            self._spent |= exhausted(self._counts, decision.event)


def denied(tool: str, decision: Decision) -> str | None:
    """What the model is told instead of a result, where a hook keeps the tool from running."""
    if decision.stops:
        return f"A hook denied {tool}: {decision.reason}"
    return None


def unconfirmed(tool: str, reason: str | None) -> str:
    return f"A hook asks for confirmation of {tool}, and no one confirmed it: {reason or UNSURE}"


def notes_of(decision: Decision) -> list[str]:
    """What hooks that saw a tool's result add to it."""
    replaced = decision.tool_output is not None
    objects = decision.stops and decision.reason and not replaced
    return [*([f"[A hook objects: {decision.reason}]"] if objects else []), *decision.context]


def instruction(decision: Decision) -> str:
    """What a block that keeps the agent working tells the model."""
    reason = decision.reason or ""
    if any(reason in text for text in decision.context):
        return "\n\n".join(decision.context)
    return "\n\n".join(text for text in (reason, *decision.context) if text)


# -- one warning for a program that adds hooks to an agent's loop while guards are off


class GuardOffWarning(UserWarning):
    """A guard of the project is off."""


def warned(lifecycle: Lifecycle, framework: str) -> Lifecycle:
    """The lifecycle, after its one warning: through `warnings`, and the logger that the framework's users look at."""
    if lifecycle.warned:
        return lifecycle
    lifecycle.warned = True
    line = telling(lifecycle.engine.setup, lifecycle.engine.catalog)
    if line:
        warnings.warn(line, GuardOffWarning, stacklevel=4)
        logging.getLogger(framework).warning("%s", line)
    return lifecycle
