"""Hooks in a pydantic-ai agent: `Agent(…, capabilities=[Hooked(Engine.open("."))])`. One capability fires every event
of the agent's loop and applies every decision."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic_ai import CallToolsNode, ModelRequestNode, RunContext, UserPromptNode
from pydantic_ai.capabilities import AbstractCapability, WrapperCapability
from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelRequest, ToolCallPart, UserPromptPart
from pydantic_ai.result import FinalResult
from pydantic_ai.tools import ToolDefinition
from pydantic_graph import End

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks import tool_calls
from anyhook.extra.frameworks.conversation import Prompt, play, prompted, turn_over
from anyhook.extra.frameworks.lifecycle import MAIN, SUBAGENT, Lifecycle, Refused, instruction, warned
from anyhook.extra.frameworks.messages import (
    final_text,
    from_plain,
    last_size,
    plain,
    prompt_text,
    tokens_of,
    user_request,
)
from anyhook.extra.frameworks.plain_values import jsonable
from anyhook.extra.frameworks.run_state import RunState, running
from anyhook.extra.frameworks.tool_calls import Gate, ToolRecord, delegated
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json

Recipe = Callable[[str, Mapping[str, Json], Sequence[ModelMessage], Any], Awaitable[str]]
"""Recipe, its arguments, the conversation, the model → the text that the recipe's run ends with."""

COMPACT = "compact"
NO_GAP = "Go on with the task."
"""The user's message if a hook's conversation ends with the assistant."""


class TurnsExhausted(Exception):  # noqa: N818
    """The model has answered as often as it may in this turn, and is not done."""


class NoCapability(AbstractCapability[Any]):
    """The default for what is inside."""


@cache
def _kind(node: type) -> type | None:
    """The node that hooks see, for it and its subclasses. (`isinstance` is slow for abstract classes.)"""
    return next((kind for kind in (UserPromptNode, ModelRequestNode, CallToolsNode) if issubclass(node, kind)), None)


@dataclass
class Hooked(WrapperCapability[Any]):
    """Fires the events of an agent's loop at an engine's hooks."""

    engine: Engine
    lifecycle: Lifecycle = None  # type: ignore[assignment]  # made of the engine where none is given
    gate: Gate | None = None
    """Who asks for permission before a tool runs; None if the host does that itself."""
    exit_code: Callable[[str, object], int] = lambda tool, result: 0
    """The exit status in a tool's result; any but 0 is a failed tool."""
    before_tool: Callable[[str, dict[str, Json]], Awaitable[None]] | None = None
    """Called with a tool and its input just before it runs, after all permissions."""
    attachments: Callable[[str], list[Json]] = lambda prompt: []
    """The files that a prompt of the user names."""
    log: Callable[[ToolRecord], None] = lambda record: None
    recipes: Recipe | None = None
    auto_compact: float = 0.0
    """The fraction of the context window at which the conversation is compacted; 0 for never."""
    context_window: int = 0
    """For models that do not say how large it is."""
    max_turns: int = 0
    """How often the model may answer in one turn; 0 for no limit."""
    state: RunState = field(default_factory=RunState)
    wrapped: AbstractCapability[Any] = field(default_factory=NoCapability, kw_only=True)
    """Another capability of the agent, inside this one. The framework copies a run's context for each capability at
    each step, so one capability inside another is faster than two."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lifecycle = warned(self.lifecycle or Lifecycle(self.engine), "pydantic_ai")  # type: ignore[truthy-bool]

    # -- one run

    async def for_run(self, ctx: RunContext[Any]) -> Hooked:
        """A copy for this run: the session is shared, the run's state is its own."""
        made = copy(await super().for_run(ctx))
        assert isinstance(made, Hooked)  # noqa: S101 (what the framework rebinds keeps its class)
        made.state = self._begun(ctx)
        return made

    def _begun(self, ctx: RunContext[Any]) -> RunState:
        outer = running.get()
        if outer is None:
            return RunState()
        name, task, call_id = delegated.get() or ("", "", "")
        agent = ctx.agent.name if ctx.agent is not None else None
        self.lifecycle.subagents += 1
        info: dict[str, Json] = {"id": f"{self.lifecycle.engine.session}-{self.lifecycle.subagents}"}
        return RunState(info, SUBAGENT, name or agent or "agent", task, call_id, outer.depth + 1)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        token, outer = running.set(self.state), delegated.set(None)
        try:
            if self.state.kind == MAIN and not self.lifecycle.begun:
                decision = await self.lifecycle.begin("resume" if ctx.messages else "startup")
                if decision.stops:
                    raise Refused(decision)
            result = await super().wrap_run(ctx, handler=handler)
        finally:
            delegated.reset(outer)
            running.reset(token)
        if self.state.notes and isinstance(result.output, str):
            result = dataclasses.replace(result, output="\n\n".join([result.output, *self.state.notes]))
        return result

    async def fire(self, name: str, spent: frozenset[str] = frozenset(), /, **data: Json) -> Decision:
        if self.state.info:
            data["sub_agent_info"] = self.state.info
        if self.state.kind == SUBAGENT:
            data.setdefault("agent_type", self.state.name)
        data.setdefault("invoked_by", self.state.kind)
        return await self.lifecycle.fire(name, spent, **data)

    @property
    def has_wrap_run_event_stream(self) -> bool:
        return self.wrapped.has_wrap_run_event_stream

    def wrap_run_event_stream(self, ctx: RunContext[Any], *, stream: Any) -> AsyncIterable[AgentStreamEvent]:
        """The unchanged stream, unless the inner capability uses it: each layer costs time for every event."""
        if not self.wrapped.has_wrap_run_event_stream:
            return stream  # type: ignore[no-any-return]
        return self.wrapped.wrap_run_event_stream(ctx, stream=stream)

    def listens_to(self, event: AgentStreamEvent) -> bool:
        return self.wrapped.listens_to(event)

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:
        """Fire the prompt's hooks; add waiting context to a request. (`wrap_node_run` copies the context twice.)"""
        kind = _kind(node.__class__)
        if kind is UserPromptNode:
            node = await self._prompted(ctx, node)
        elif kind is ModelRequestNode:
            node = self._with_waiting(node)
        return await self.wrapped.before_node_run(ctx, node=node)

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        result = await self.wrapped.after_node_run(ctx, node=node, result=result)
        kind = _kind(node.__class__)
        if kind is CallToolsNode:
            result = await self._stepped(ctx, node, result)
            used_up = self.max_turns and self.state.answers >= self.max_turns
            return self._exhausted(ctx, result) if used_up and not isinstance(result, End) else result
        return self.state.refused or result if kind is UserPromptNode else result

    def _exhausted(self, ctx: RunContext[Any], node: Any) -> Any:
        """The model has answered as often as it may. The turn of the agent ends with that; a sub-agent's result is what
        it has, so that its caller can go on."""
        said = f"the model has answered {self.state.answers} times and is not done"
        ctx.messages.append(node.request)
        if self.state.kind == MAIN or not _gives_text(ctx):
            raise TurnsExhausted(said)
        return End(FinalResult(f"{final_text(ctx.messages)}\n\n[{said}]"))

    def _with_waiting(self, node: Any) -> Any:
        """The request, with the context that has come up since the last one."""
        if self.state.kind != MAIN or not self.lifecycle.waiting:
            return node
        more = [UserPromptPart(text) for text in self.lifecycle.take_waiting()]
        request = dataclasses.replace(node.request, parts=[*node.request.parts, *more])
        return dataclasses.replace(node, request=request)

    # -- the prompt

    async def _prompted(self, ctx: RunContext[Any], node: Any) -> Any:
        """The node with its prompt as hooks rewrote it. Running it asks no model, so it may run if refused."""
        if node.user_prompt is None:
            return node
        prompt = prompt_text(node.user_prompt)
        if self.state.kind == SUBAGENT:
            return await self._delegated(ctx, node, prompt)
        self.lifecycle.cut_short = None
        try:
            script = prompted(self.lifecycle, prompt, attachments=self.attachments(prompt))
            return _with(node, await play(script, self.fire))
        except Refused as refused:
            if refused.decision.stops:
                raise
            self.lifecycle.cut_short = refused.decision
            return self._refuse(ctx, node, refused.decision, "A hook ended the turn.")

    async def _delegated(self, ctx: RunContext[Any], node: Any, prompt: str) -> Any:
        """The same for the task of a sub-agent."""
        self.state.task = self.state.task or prompt
        started = await self.fire("subagent_start", **self._who())
        if started.stops:
            return self._refuse(ctx, node, started, f"The sub-agent was not started: {started.reason}")
        decision = await self.fire("user_prompt_submit", prompt=prompt, attachments=[])
        if decision.stops or decision.end_turn:
            return self._refuse(ctx, node, decision, f"The sub-agent's task was refused: {decision.reason}")
        return _with(node, Prompt(decision.prompt, started.context, decision.context))

    def _refuse(self, ctx: RunContext[Any], node: Any, decision: Decision, text: str) -> Any:
        """End the run before the model is asked."""
        self.state.refused = _over(ctx, decision, text)
        return node

    def _who(self) -> dict[str, Json]:
        state = self.state
        return {"agent_type": state.name, "agent_name": state.name, "task": state.task}

    # -- after each answer of the model and its tools

    async def _stepped(self, ctx: RunContext[Any], node: Any, result: Any) -> Any:
        state = self.state
        state.answers += 1
        if state.kind == MAIN:
            self.lifecycle.turns += 1
        state.tools_used = bool(node.model_response.tool_calls)
        decision = await self.fire(
            "step_end", turn_number=state.answers, tools_used=state.tools_used, **self._size(ctx)
        )
        self.lifecycle.waiting.extend(decision.context)
        result = await self._act(ctx, result, decision)
        if not isinstance(result, End) and state.over is not None:
            ctx.messages.append(result.request)
            if state.kind == MAIN:
                self.lifecycle.cut_short = state.over
            result = _over(ctx, state.over, f"A hook ended the turn: {state.over.reason or 'it gave no reason'}")
        elif not isinstance(result, End):
            return result
        else:
            result = await (self._stop if state.kind == MAIN else self._sub_stop)(ctx, result)
        if isinstance(result, End) and state.kind == MAIN:
            await play(turn_over(self.lifecycle, final_text(ctx.messages)), self.fire)
        return result

    async def _stop(self, ctx: RunContext[Any], result: Any) -> Any:
        state = self.state
        text = final_text(ctx.messages)
        decision = await self.fire(
            "stop",
            state.stops.spent,
            stop_reason="no_tool_calls",
            step_count=state.answers,
            final_message={"role": "assistant", "content": text},
            last_message=text,
            messages=jsonable(plain(ctx.messages)),
            **self._size(ctx),
        )
        return await self._go_on(ctx, result, decision)

    async def _sub_stop(self, ctx: RunContext[Any], result: Any) -> Any:
        text = final_text(ctx.messages)
        decision = await self.fire("subagent_stop", self.state.stops.spent, result=text, **self._who())
        if decision.stops:
            return await self._go_on(ctx, result, decision)
        self.state.notes.extend(decision.context)
        decision = await self.fire("stop", messages=jsonable(plain(ctx.messages)), last_message=text, **self._size(ctx))
        return await self._go_on(ctx, result, decision)

    async def _go_on(self, ctx: RunContext[Any], result: Any, decision: Decision) -> Any:
        """The end, or the next request."""
        if decision.stops and decision.effect == "keep_working":
            self.state.stops.count(decision)
            return ModelRequestNode(user_request(instruction(decision)))
        result = await self._act(ctx, result, decision)
        if decision.follow_ups:
            return ModelRequestNode(user_request(*decision.follow_ups))
        if self.state.kind == MAIN:
            self.lifecycle.waiting.extend(decision.context)
        return result

    def _size(self, ctx: RunContext[Any]) -> dict[str, Json]:
        """What is known about the context and its compaction."""
        given, answered = tokens_of(ctx.messages)
        most = ctx.model.context_window or self.context_window
        usage: dict[str, Json] = {
            "input_tokens": given,
            "output_tokens": answered,
            "current_context_window": last_size(ctx.messages),
            "max_context_window": most,
        }
        threshold = self.auto_compact if self.state.kind == MAIN else 0.0
        return {"usage": usage, "auto_compact_enabled": threshold > 0, "auto_compact_threshold": threshold}

    # -- a conversation that is replaced

    async def _act(self, ctx: RunContext[Any], result: Any, decision: Decision) -> Any:
        """Replace the conversation if a hook asks for it or the context is full."""
        history = decision.history
        asked = history is not None or decision.recipe is not None
        if not asked and not (decision.event == "step_end" and self._full(ctx)):
            return result
        said = [*ctx.messages, *([] if isinstance(result, End) else [result.request])]
        if history is None and decision.recipe is not None:
            arguments = decision.recipe.get("args")
            name = str(decision.recipe["name"])
            history = await self._cooked(ctx, name, arguments if isinstance(arguments, dict) else {}, said)
        elif history is None:
            history = await self._cooked(ctx, COMPACT, {}, said)
        if not history:
            return result
        messages = from_plain(history)
        if isinstance(result, End):
            ctx.messages[:] = messages
            return result
        last = messages.pop() if isinstance(messages[-1], ModelRequest) else user_request(NO_GAP)
        ctx.messages[:] = messages
        return ModelRequestNode(last)  # type: ignore[arg-type]  # checked above

    def _full(self, ctx: RunContext[Any]) -> bool:
        if self.auto_compact <= 0 or self.state.kind != MAIN:
            return False
        most = ctx.model.context_window or self.context_window
        return most > 0 and last_size(ctx.messages) / most >= self.auto_compact

    async def _cooked(
        self, ctx: RunContext[Any], name: str, arguments: Mapping[str, Json], said: list[ModelMessage]
    ) -> list[dict[str, str]] | None:
        """The conversation after a recipe's run; None if it stays unchanged."""
        if self.recipes is None:
            return None
        if name == COMPACT:
            text = await self.compact(said, ctx.model, "auto", arguments)
        else:
            text = await self.recipes(name, arguments, said, ctx.model)
        return [{"role": "user", "content": text}] if text else None

    async def compact(
        self, said: Sequence[ModelMessage], model: Any, trigger: str, arguments: Mapping[str, Json] | None = None
    ) -> str | None:
        """A summary of the conversation, with the events around it; "" if that failed, None if a hook prevents it."""
        most = model.context_window or self.context_window
        facts: dict[str, Json] = {"input_tokens": last_size(said), "model_context_length": most}
        decision = await self.fire("pre_compact", trigger=trigger, **facts)
        if decision.stops or self.recipes is None:
            return None
        text = await self.recipes(COMPACT, arguments or {}, said, model)
        if text:
            self.lifecycle.waiting.extend(decision.context)
            after = await self.fire("post_compact", trigger=trigger, **facts)
            self.lifecycle.waiting.extend(after.context)
        return text

    # -- tools

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        if type(self.wrapped).wrap_tool_execute is AbstractCapability.wrap_tool_execute:
            return await tool_calls.execute(self, ctx, call, args, handler)

        async def inside(given: Any) -> Any:
            return await self.wrapped.wrap_tool_execute(ctx, call=call, tool_def=tool_def, args=given, handler=handler)

        return await tool_calls.execute(self, ctx, call, args, inside)


def _with(node: Any, made: Prompt) -> Any:
    """The node, with what hooks change about its prompt."""
    if not made.changed:
        return node
    given: list[Any] = [node.user_prompt] if isinstance(node.user_prompt, str) else list(node.user_prompt)
    parts = made.parts(given, lambda part: isinstance(part, str), str)
    text = parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts
    return dataclasses.replace(node, user_prompt=text)


def _over(ctx: RunContext[Any], decision: Decision, text: str) -> Any:
    """The end of a run that a hook ends, if its result can be a text."""
    if not _gives_text(ctx):
        raise Refused(decision)
    return End(FinalResult(text))


def _gives_text(ctx: RunContext[Any]) -> bool:
    return ctx.agent is None or ctx.agent.output_type is str


__all__ = ["Hooked", "Lifecycle", "Refused", "TurnsExhausted"]
