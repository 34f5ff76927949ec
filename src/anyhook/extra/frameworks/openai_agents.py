"""Hooks in an agent of OpenAI's Agents SDK: `hooked = Hooked(Engine.open("."))`, then `await hooked.run(agent, "…")` in
place of `Runner.run`. The SDK's own hooks only watch and its guardrails cannot rewrite, so the agent's tools are
wrapped where the SDK asks for them. It never changes the agent it is given."""

from __future__ import annotations

import copy
import dataclasses
import json
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    Handoff,
    Runner,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
)

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.conversation import AgentTurn, HookedConversation, HookedResult, ToolCall
from anyhook.extra.frameworks.lifecycle import Lifecycle, Refused

STRUCTURED = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)
KEPT_ELSEWHERE = ("session", "conversation_id", "previous_response_id", "auto_previous_response_id")
"""Options with which the conversation so far is known already, and would be told twice."""


class UnguardedTools(UserWarning):
    """An agent has tools whose calls hooks do not see."""


class Hooked:
    """Fires the events of a run at an engine's hooks."""

    def __init__(self, engine: Engine, lifecycle: Lifecycle | None = None) -> None:
        self.conversation = HookedConversation(engine, lifecycle, "openai.agents")
        self.lifecycle = self.conversation.lifecycle
        self._unguarded: set[str] = set()

    async def run(self, agent: Any, prompt: Any, **options: Any) -> Any:
        """`Runner.run` with hooks: the prompt, every tool call of the agent and those it hands off to,
        and the end."""
        turn, guarded = AgentTurn(), self.guard(agent)
        result = await Runner.run(guarded, await self._prompted(prompt), **options)
        while not result.interruptions:
            more = await self.conversation.play(self.conversation.answered(turn, str(result.final_output)))
            if more is None:
                break
            said = [{"role": "user", "content": more}]
            if options.get("previous_response_id") is not None:
                options["previous_response_id"] = result.last_response_id
            history = [] if any(options.get(name) for name in KEPT_ELSEWHERE) else result.to_input_list()
            result = await Runner.run(result.last_agent, [*history, *said], **options)
        return result

    async def _prompted(self, prompt: Any) -> Any:
        if isinstance(prompt, str):
            heard = await self.conversation.play(self.conversation.prompted(prompt))
            return heard.text(prompt)
        last = prompt[-1] if isinstance(prompt, list) and prompt else None
        if not isinstance(last, dict) or last.get("role") != "user":  # a run that was interrupted goes on
            return prompt
        content = last["content"]
        parts = [_part(content)] if isinstance(content, str) else list(content)
        text = "\n\n".join(part["text"] for part in parts if _is_text(part))
        heard = await self.conversation.play(self.conversation.prompted(text))
        if not heard.changed:
            return prompt
        return [*prompt[:-1], {**last, "content": heard.parts(parts, _is_text, _part)}]

    def guard(self, agent: Any) -> Any:
        """A copy of the agent whose tools have hooks, for `Runner.run_streamed`, `as_tool` and the like; those it may
        hand off to are guarded as well."""
        return self._guarded(agent, {})

    def _guarded(self, agent: Any, known: dict[int, Any]) -> Any:
        if isinstance(agent, _Guarded):
            return agent
        if id(agent) in known:  # agents may hand off to each other in a circle
            return known[id(agent)]
        guarded = known[id(agent)] = copy.copy(agent)
        guarded.__class__ = type(type(agent).__name__, (_Guarded, type(agent)), {"hooked": self})
        guarded.handoffs = [self._handoff(other, known) for other in agent.handoffs]
        return guarded

    def _handoff(self, other: Any, known: dict[int, Any]) -> Any:
        if not isinstance(other, Handoff):
            return self._guarded(other, known)
        invoke = other.on_invoke_handoff

        async def guarded(*given: Any) -> Any:
            return self._guarded(await invoke(*given), known)

        return dataclasses.replace(other, on_invoke_handoff=guarded)

    def wrapped(self, tool: Any) -> Any:
        """The tool with hooks around it, where it is a function that runs here."""
        if isinstance(tool, FunctionTool):
            wrapped = copy.copy(tool)
            wrapped.on_invoke_tool = self._invoke(tool)
            return wrapped
        if tool.name not in self._unguarded:
            self._unguarded.add(tool.name)
            warnings.warn(
                f"Hooks do not see calls of the tool {tool.name}: {type(tool).__name__} runs at the provider or "
                "through an executor of its own. Offer it as a function tool to have it guarded.",
                UnguardedTools,
                stacklevel=2,
            )
        return tool

    def _invoke(self, tool: Any) -> Callable[[Any, str], Awaitable[Any]]:
        play = self.conversation.play

        async def invoke(context: Any, arguments: str) -> Any:
            given = _object(arguments)
            if given is None:  # a tool may make sense of it all the same, in a way that no hook can know
                return f"{tool.name} was not called: its arguments are not a JSON object."
            call = ToolCall(tool.name, given, context.tool_call_id)
            if not await play(call.before()):
                return call.refusal
            try:
                output = await tool.on_invoke_tool(context, json.dumps(call.input) if call.rewritten else arguments)
            except Exception as error:
                heard = await play(call.failed(error))
                if not heard.changed:
                    raise
                return heard.text(str(error))
            heard = await play(call.after(output))
            return _output(output, heard) if heard.changed else output

        return invoke


class _Guarded(Agent[Any]):
    """Wraps tools as the SDK asks for them, so that those of MCP servers are among them."""

    hooked: Hooked

    async def get_all_tools(self, run_context: Any) -> list[Any]:
        return [self.hooked.wrapped(tool) for tool in await super().get_all_tools(run_context)]


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def _output(output: Any, heard: HookedResult) -> Any:
    """The output with the hooks' changes, in a form that the SDK accepts."""
    if heard.replaced is None and isinstance(output, STRUCTURED):
        return heard.parts([output], _text_output)
    if heard.replaced is None and isinstance(output, list) and all(isinstance(part, STRUCTURED) for part in output):
        return heard.parts(output, _text_output)
    return heard.text(str(output))  # as the SDK itself makes text of it


def _text_output(text: str) -> Any:
    return ToolOutputText(text=text)


def _is_text(part: Any) -> bool:
    return bool(part.get("type") == "input_text")


def _part(text: str) -> dict[str, str]:
    return {"type": "input_text", "text": text}


__all__ = ["Hooked", "Refused", "UnguardedTools"]
