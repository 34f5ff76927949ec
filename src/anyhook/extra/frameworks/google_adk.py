"""Hooks in an agent of Google's ADK: `App(…, plugins=[Hooked(Engine.open("."))])`. One plugin for all of the runner's
agents, including sub-agents."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.genai.types import Content, Part

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.conversation import AgentTurn, HookedConversation, HookedResult, ToolCall
from anyhook.extra.frameworks.lifecycle import Lifecycle, Refused
from anyhook.extra.frameworks.plain_values import jsonable

NOTES = "hook_notes"
"""The key for what hooks add to a result, which must be an object here."""


class Hooked(BasePlugin):
    """Fires the events of a runner's loop at an engine's hooks."""

    def __init__(self, engine: Engine, lifecycle: Lifecycle | None = None, name: str = "anyhook") -> None:
        super().__init__(name=name)
        self.conversation = HookedConversation(engine, lifecycle, "google_adk")
        self.lifecycle = self.conversation.lifecycle
        self._turns: dict[str, AgentTurn] = {}
        """By invocation; a runner has many at once."""
        self._refused: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        """The last answer of each invocation's agents."""
        self._calls: dict[tuple[str, str], ToolCall] = {}

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        invocation = invocation_context.invocation_id
        parts = list(user_message.parts or [])
        text = "\n\n".join(part.text for part in parts if part.text)
        if not text:  # the answer to a tool that runs long, for instance
            return None
        try:
            prompt = await self.conversation.play(self.conversation.prompted(text))
        except Refused as refused:
            # The message is about to be kept in the session, where the next turn's model would read it.
            self._refused[invocation] = f"A hook refused the prompt: {refused}"
            return Content(role="user", parts=[Part(text=f"[{self._refused[invocation]}]")])
        self._turns[invocation] = AgentTurn()
        if not prompt.changed:
            return None
        return Content(role=user_message.role, parts=prompt.parts(parts, _is_text, _part))

    async def before_run_callback(self, *, invocation_context: Any) -> Any:
        refusal = self._refused.pop(invocation_context.invocation_id, None)
        return None if refusal is None else Content(role="model", parts=[Part(text=refusal)])

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        invocation = invocation_context.invocation_id
        if invocation in self._turns and event.is_final_response() and event.content is not None:
            text = "".join(part.text for part in event.content.parts or [] if part.text and not part.thought)
            self._answers[invocation] = text or self._answers.get(invocation, "")

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        invocation = invocation_context.invocation_id
        turn, text = self._turns.pop(invocation, None), self._answers.pop(invocation, "")
        if turn is not None:
            await self.conversation.play(self.conversation.answered(turn, text, resumable=False))

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        for kept in (self._turns, self._answers, self._refused):
            kept.pop(invocation_context.invocation_id, None)

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        call = ToolCall(
            tool.name, tool_args, tool_context.function_call_id, self._turns.get(tool_context.invocation_id)
        )
        if not await self.conversation.play(call.before()):
            self._end(call, tool_context)
            return {"error": call.refusal}
        self._calls[_key(tool_context)] = call
        if call.rewritten:
            tool_args.clear()
            tool_args.update(call.input)
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> dict[str, Any] | None:
        call = self._calls.pop(_key(tool_context), None)
        if call is None:  # it was denied, or its failure was already reported
            return None
        heard = await self.conversation.play(call.after(result))
        self._end(call, tool_context)
        return _response(result, heard) if heard.changed else None

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: BaseException
    ) -> dict[str, Any] | None:
        call = self._calls.pop(_key(tool_context), None)
        if call is None or isinstance(error, CancelledError):
            return None
        heard = await self.conversation.play(call.failed(error))
        return _response({"error": str(error)}, heard) if heard.changed else None

    @staticmethod
    def _end(call: ToolCall, tool_context: Any) -> None:
        if call.turn.over is not None:
            tool_context.actions.skip_summarization = True  # the model is not called again


def _key(tool_context: Any) -> tuple[str, str]:
    return tool_context.invocation_id, tool_context.function_call_id


def _response(result: Any, heard: HookedResult) -> dict[str, Any]:
    if heard.replaced is not None:
        made: dict[str, Any] = {"result": heard.replaced}
    else:
        made = dict(result) if isinstance(result, dict) else {"result": jsonable(result)}
    return {**made, NOTES: heard.notes} if heard.notes else made


def _is_text(part: Any) -> bool:
    return part.text is not None


def _part(text: str) -> Any:
    return Part(text=text)


__all__ = ["Hooked"]
