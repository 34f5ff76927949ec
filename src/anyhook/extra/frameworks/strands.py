"""Hooks in a Strands agent: `Agent(…, hooks=[Hooked(Engine.open("."))])`."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from strands.hooks import (
    AfterInvocationEvent,
    AfterToolCallEvent,
    AfterToolsEvent,
    BeforeInvocationEvent,
    BeforeToolCallEvent,
    HookProvider,
)

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.conversation import AgentTurn, HookedConversation, ToolCall
from anyhook.extra.frameworks.lifecycle import Lifecycle, Refused

WORTH_A_STOP = ("end_turn", "stop_sequence")
"""The stop reasons that come from the model; the others are interruptions and limits."""


class Hooked(HookProvider):
    """Fires the events of an agent's loop at an engine's hooks."""

    def __init__(self, engine: Engine, lifecycle: Lifecycle | None = None) -> None:
        self.conversation = HookedConversation(engine, lifecycle, "strands")
        self.lifecycle = self.conversation.lifecycle
        self._turns: WeakKeyDictionary[Any, AgentTurn] = WeakKeyDictionary()
        """By agent, since an agent takes one prompt at a time."""
        self._calls: dict[tuple[int, str], ToolCall] = {}

    def register_hooks(self, registry: Any, **_kwargs: Any) -> None:
        for event, callback in (
            (BeforeInvocationEvent, self._prompted),
            (BeforeToolCallEvent, self._before_tool),
            (AfterToolCallEvent, self._after_tool),
            (AfterToolsEvent, self._after_tools),
            (AfterInvocationEvent, self._answered),
        ):
            registry.add_callback(event, callback)

    async def _prompted(self, event: Any) -> None:
        if event.agent in self._turns:  # a hook has kept the agent working: this is not the user's prompt
            return
        message = event.messages[-1] if event.messages else None
        if message is None or message["role"] != "user" or not any(map(_is_text, message["content"])):
            self._turns[event.agent] = AgentTurn()  # the answer to an interrupt, for instance
            return
        prompt = await self.conversation.play(self.conversation.prompted(_text(message)))
        self._turns[event.agent] = AgentTurn()
        if prompt.changed:
            content = prompt.parts(message["content"], _is_text, _block)
            event.messages = [*event.messages[:-1], {**message, "content": content}]

    async def _before_tool(self, event: Any) -> None:
        use = event.tool_use
        call = ToolCall(use["name"], use["input"], use["toolUseId"], self._turns.get(event.agent))
        if not await self.conversation.play(call.before()):
            event.cancel_tool = call.refusal
            return
        self._calls[_key(event)] = call
        if call.rewritten:
            event.tool_use = {**use, "input": call.input}

    async def _after_tool(self, event: Any) -> None:
        call = self._calls.pop(_key(event), None)
        if call is None:  # it was denied, so it has not run
            return
        result = event.result
        text = "\n".join(block["text"] for block in result["content"] if _is_text(block)) or result["content"]
        script = call.failed(text) if result["status"] == "error" else call.after(text)
        heard = await self.conversation.play(script)
        if heard.changed:
            event.result = {**result, "content": heard.parts(result["content"], _block)}

    async def _after_tools(self, event: Any) -> None:
        turn = self._turns.get(event.agent)
        if turn is not None and turn.over is not None:
            event.end_turn = turn.last_words

    async def _answered(self, event: Any) -> None:
        turn = self._turns.pop(event.agent, None)
        if turn is None or event.result is None or event.result.stop_reason not in WORTH_A_STOP:
            return
        more = await self.conversation.play(self.conversation.answered(turn, _text(event.result.message)))
        if more is not None:
            self._turns[event.agent] = turn
            event.resume = more


def _key(event: Any) -> tuple[int, str]:
    return id(event.agent), event.tool_use["toolUseId"]


def _is_text(block: Any) -> bool:
    return "text" in block


def _block(text: str) -> dict[str, str]:
    return {"text": text}


def _text(message: Any) -> str:
    return "\n\n".join(block["text"] for block in message["content"] if _is_text(block))


__all__ = ["Hooked", "Refused"]
