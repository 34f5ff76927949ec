"""Firing: everything about one call of a host, from what came in to what went out. The journal writes it last, and
whoever explains, counts or replays reads what was written."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.call import Call, Run
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome
    from anyhook.model.problem import Problem
    from anyhook.model.words import HostEffect, Mode, Posture


class HookRun(Record):
    """One hook that was started: what was called, how it ended, and what that asks for."""

    hook: Hook
    call: Call
    posture: Posture
    model: str = ""
    """Whom it asked, where it asks a model."""
    run: Run | None = None
    """None for a hook in the background."""
    cause: str = ""
    """Why it failed; "" where it did not."""
    outcome: Outcome | None = None
    """What it asks for, before that is judged; None where it was cancelled, or nobody waits for it."""
    text: str = ""
    """Its part of the journal's line, as far as that was made while it ran."""
    also: tuple[tuple[str, str], ...] = ()
    """Dialect and native event of other declarations of the same program, by which its answer was read as well."""
    again: bool = False
    """Whether it was asked a second time, about the final form of the call."""


class Part(Record):
    """One event, the hooks that it started, and what these ask for together."""

    event: Event
    decision: Decision
    runs: tuple[HookRun, ...] = ()
    head: str = ""
    """Its part of the journal's line, as far as that was made while its hooks ran."""


class Settled(Record):
    """Effect → value, of what the host will be told, and what was changed or lost on the way."""

    effects: dict[HostEffect, Json]
    problems: tuple[Problem, ...]


class Answer(Record):
    """What the host is given."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0


NO_OPINION = Answer()


class Firing(Record):
    """What happened. An event that a program fires has one part; a host's call may have several."""

    parts: tuple[Part, ...]
    decision: Decision
    """About all parts, as the host was told."""
    mode: Mode = "enforce"
    deciding: int = 0
    """Which part decided: its line in the journal has the decision about all of them."""
    settled: Settled | None = None
    """None where no host is told."""
    answer: Answer | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple([part.event for part in self.parts])

    @property
    def runs(self) -> tuple[HookRun, ...]:
        return tuple([run for part in self.parts for run in part.runs])
