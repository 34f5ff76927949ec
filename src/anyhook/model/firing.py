"""Firing: everything about one call of a host, from what came in to what went out. The journal writes it last;
explaining, counting and replaying read it from there."""

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
    """The model that it asked, if any."""
    run: Run | None = None
    """None for a hook in the background."""
    cause: str = ""
    """Why it failed; "" if it did not."""
    outcome: Outcome | None = None
    """What it asks for, before that is judged; None if it was cancelled or runs in the background."""
    text: str = ""
    """Its part of the journal line, if that was made while it ran."""
    also: tuple[tuple[str, str], ...] = ()
    """Dialect and native event of the other declarations of the same program that read its answer too."""
    again: bool = False
    """Whether it was asked a second time, about the final form of the call."""


class Part(Record):
    """One event, the hooks that it started, and their joint decision."""

    event: Event
    decision: Decision
    runs: tuple[HookRun, ...] = ()
    head: str = ""
    """Its part of the journal line, if that was made while its hooks ran."""


class Settled(Record):
    """What the host is told, by effect, and the problems on the way."""

    effects: dict[HostEffect, Json]
    problems: tuple[Problem, ...]


class Answer(Record):
    """What the host reads."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0


NO_OPINION = Answer()


class Firing(Record):
    """What happened. An event that a program fires has one part; a host's call may have several."""

    parts: tuple[Part, ...]
    decision: Decision
    """The decision about all parts, as the host was told."""
    mode: Mode = "enforce"
    deciding: int = 0
    """Which part decided: its line in the journal has the decision about all of them."""
