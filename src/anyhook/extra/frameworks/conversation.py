"""What every framework's adapter does alike: a prompt, a tool call and the end of a turn, on their way through hooks.
Each is a script that yields the events to fire and is sent their decisions, so that frameworks with and without an
event loop share every line of it. It knows no framework, and lets no tool run that was denied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.lifecycle import (
    MAIN,
    UNSURE,
    KeepWorkingBounds,
    Lifecycle,
    Refused,
    denied,
    instruction,
    notes_of,
    unconfirmed,
    warned,
)
from anyhook.extra.frameworks.plain_values import fields_of, text_of
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json
from anyhook.model.outcome import ASK
from anyhook.tables.registry import agent_of

Done = TypeVar("Done")
Part = TypeVar("Part")
Script = Generator["EventRequest", Decision, Done]


class EventRequest(NamedTuple):
    """One event that a script wants fired."""

    event: str
    data: dict[str, Json]
    spent: frozenset[str] = frozenset()


@dataclass
class AgentTurn:
    """One turn of the agent, from a prompt to the last answer."""

    stops: KeepWorkingBounds = field(default_factory=KeepWorkingBounds)
    """How often hooks have kept it going."""
    over: Decision | None = None
    """The decision by which a hook ends it."""

    @property
    def last_words(self) -> str:
        """What stands for the model's answer, where a hook ended the turn."""
        reason = self.over.reason if self.over is not None else None
        return f"A hook ended the turn: {reason}" if reason else "A hook ended the turn."


@dataclass
class Prompt:
    """What hooks change about a prompt."""

    replaced: str | None
    before: Sequence[str]
    after: Sequence[str]

    @property
    def changed(self) -> bool:
        return self.replaced is not None or bool(self.before or self.after)

    def text(self, given: str) -> str:
        return "\n\n".join(self.parts([given], lambda part: True, str))

    def parts(self, given: Sequence[Part], is_text: Callable[[Part], bool], make: Callable[[str], Part]) -> list[Part]:
        """A rewritten text takes the place of all text; pictures and files stay."""
        kept = list(given)
        if self.replaced is not None:
            kept = [make(self.replaced), *(part for part in given if not is_text(part))]
        return [*map(make, self.before), *kept, *map(make, self.after)]


@dataclass
class HookedResult:
    """What hooks change about a tool's result."""

    replaced: str | None
    """The text that takes its place; None if it stays."""
    notes: list[str]
    """Context for the model in addition to it."""

    @property
    def changed(self) -> bool:
        return self.replaced is not None or bool(self.notes)

    def text(self, given: str) -> str:
        return "\n\n".join([given if self.replaced is None else self.replaced, *self.notes])

    def parts(self, given: Sequence[Part], make: Callable[[str], Part]) -> list[Part]:
        """A replaced result loses its pictures and files as well: they belong to what a hook took away."""
        kept = list(given) if self.replaced is None else [make(self.replaced)]
        return [*kept, *map(make, self.notes)]


class ToolCall:
    """One call of a tool."""

    def __init__(
        self, tool: str, given: Any, call_id: str | None = None, turn: AgentTurn | None = None, by: str = MAIN
    ) -> None:
        """`by` is who calls: the agent, or a sub-agent."""
        self.tool, self.input, self.call_id, self.by = tool, fields_of(given), call_id or "", by
        self.turn = turn or AgentTurn()
        self.unsure: str | None = None
        """Why a hook wants a person to be asked, if one does. Where nobody can be, that is a refusal."""
        self.refusal: str | None = None
        """What the model is told instead of a result; None if the tool may run."""
        self.rewritten = False
        self.notes: list[str] = []
        """What hooks add to the result."""
        self.began_s = perf_counter()

    def before(self) -> Script[bool]:
        """Whether the tool may run, with what `input` says from now on."""
        decision = yield EventRequest("pre_tool", self._facts())
        self.refusal = denied(self.tool, decision)
        if self.refusal is None and decision.verdict == ASK:
            self.unsure = decision.reason or UNSURE
            self.refusal = unconfirmed(self.tool, decision.reason)
        self.notes.extend(decision.context)
        if decision.tool_input is not None:
            self.input, self.rewritten = decision.tool_input, True
        self._heard(decision)
        self.began_s = perf_counter()
        return self.refusal is None

    def after(self, output: Any) -> Script[HookedResult]:
        return self._ended("post_tool", output=text_of(output))

    def failed(self, error: object, **more: Json) -> Script[HookedResult]:
        return self._ended("post_tool_failure", output=said_by(error), tool_error=said_by(error), **more)

    def _ended(self, event: str, **data: Json) -> Script[HookedResult]:
        duration_ms = int((perf_counter() - self.began_s) * 1000)
        decision = yield EventRequest(event, {**self._facts(), "duration_ms": duration_ms, **data})
        self._heard(decision)
        replaced = None if decision.tool_output is None else text_of(decision.tool_output)
        return HookedResult(replaced, [*self.notes, *notes_of(decision)])

    def _facts(self) -> dict[str, Json]:
        return {"tool": self.tool, "input": self.input, "call_id": self.call_id, "invoked_by": self.by}

    def _heard(self, decision: Decision) -> None:
        if decision.end_turn:
            self.turn.over = decision


def said_by(error: object) -> str:
    """The text of a tool's failure, as the model gets it."""
    return text_of(error) if not isinstance(error, BaseException) else str(error) or type(error).__name__


async def play(script: Script[Done], fire: Callable[..., Awaitable[Decision]], **facts: Json) -> Done:
    """Fire what the script asks for, with more facts where the host has some; the script's result."""
    try:
        asked = next(script)
        while True:
            asked = script.send(await fire(asked.event, asked.spent, **{**asked.data, **facts}))
    except StopIteration as done:
        result: Done = done.value
        return result


class HookedConversation:
    """One session of an agent. Frameworks in which several go on at once share it, as they share the engine."""

    def __init__(
        self, engine: Engine, lifecycle: Lifecycle | None, framework: str, comes_with_an_agent: bool = False
    ) -> None:
        """`framework` is the name of the logger that its users look at."""
        self.lifecycle = warned(lifecycle or Lifecycle(engine), framework)
        self.lifecycle.can_ask = comes_with_an_agent  # `ToolCall` refuses what a hook asks about
        if comes_with_an_agent:
            self.lifecycle.agent = agent_of(framework)

    async def play(self, script: Script[Done], **facts: Json) -> Done:
        return await play(script, self.lifecycle.fire, **facts)

    def play_sync(self, script: Script[Done]) -> Done:
        """The same without an event loop."""
        try:
            asked = next(script)
            while True:
                asked = script.send(self.lifecycle.fire_sync(asked.event, asked.spent, **asked.data))
        except StopIteration as done:
            result: Done = done.value
            return result

    def prompted(self, prompt: str) -> Script[Prompt]:
        return prompted(self.lifecycle, prompt)

    def answered(self, turn: AgentTurn, text: str, *, resumable: bool = True) -> Script[str | None]:
        """The model is done: what the agent has to go on with, or None if the turn is over. What keeps an agent
        working that cannot go on waits for the next prompt."""
        lifecycle = self.lifecycle
        lifecycle.turns += 1
        if turn.over is None:
            message: Json = {"role": "assistant", "content": text}
            facts: dict[str, Json] = {"last_message": text, "final_message": message, "stop_reason": "no_tool_calls"}
            decision = yield EventRequest("stop", facts, turn.stops.spent)
            more = _more(turn, decision)
            if more is not None and resumable:
                return more
            lifecycle.waiting.extend(decision.context if more is None else [more])
        yield from turn_over(lifecycle, text)
        return None


def prompted(lifecycle: Lifecycle, prompt: str, **facts: Json) -> Script[Prompt]:
    """A prompt of the user, and the start of the session where it is the first. Refused where a hook says no."""
    if not lifecycle.begun:
        decision = yield EventRequest("session_start", {"source": "startup"})
        if decision.stops:
            raise Refused(decision)
        lifecycle.begun = True
        lifecycle.waiting.extend(decision.context)
    decision = yield EventRequest("user_prompt_submit", {"prompt": prompt, **facts})
    if decision.stops or decision.end_turn:
        raise Refused(decision)
    replaced, after = decision.prompt, list(decision.context)
    decision = yield EventRequest("turn_start", {"prompt": prompt if replaced is None else replaced})
    if decision.stops:
        raise Refused(decision)
    return Prompt(replaced, lifecycle.take_waiting(), [*after, *decision.context])


def turn_over(lifecycle: Lifecycle, text: str) -> Script[None]:
    """The turn ends with this answer; what hooks say waits for the next prompt."""
    decision = yield EventRequest("turn_end", {"final_message": {"role": "assistant", "content": text}})
    if decision.stops and decision.reason:
        lifecycle.waiting.append(decision.reason)
    lifecycle.waiting.extend(decision.context)


def _more(turn: AgentTurn, decision: Decision) -> str | None:
    if decision.stops and decision.effect == "keep_working":
        turn.stops.count(decision)
        return instruction(decision)
    return "\n\n".join(decision.follow_ups) or None
