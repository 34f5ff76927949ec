"""Hooks in an agent of the Antigravity SDK: `Hooked(Engine.open(".")).agent(config)`. The agent runs in another process
that reads no hook files and asks these callbacks instead. A tool on which they fail does not run. They cannot change
its output, so what hooks add to it reaches the model as a system message beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from google.antigravity import Agent, types
from google.antigravity.hooks import hooks

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.conversation import AgentTurn, HookedConversation, Prompt, ToolCall
from anyhook.extra.frameworks.lifecycle import MAIN, SUBAGENT, Lifecycle, Refused
from anyhook.extra.frameworks.plain_values import jsonable


class Hooked:
    """Fires the events of agents at an engine's hooks."""

    def __init__(self, engine: Engine, lifecycle: Lifecycle | None = None) -> None:
        self.conversation = HookedConversation(engine, lifecycle, "google.antigravity", comes_with_an_agent=True)
        self.lifecycle = self.conversation.lifecycle

    def agent(self, config: Any) -> Agent:
        """What `Agent(config)` makes, with hooks."""
        return _HookedAgent(config, _Running(self.conversation))


class _HookedAgent(Agent):
    """The SDK's own hooks can refuse a prompt and not change it, so its prompts go through ours first."""

    def __init__(self, config: Any, running: _Running) -> None:
        # After the program's own hooks, so that ours see what runs.
        added = {"hooks": [*config.hooks, *running.hooks()], "triggers": [*config.triggers, running.connect]}
        super().__init__(config.model_copy(update=added))
        self._running = running

    async def chat(self, prompt: Any) -> Any:
        given = await self._running.prompted(prompt)
        try:
            return await super().chat(given)
        except BaseException:
            self._running.expects = False  # it was not sent
            raise


class _Running:
    """One agent."""

    def __init__(self, conversation: HookedConversation) -> None:
        self.conversation = conversation
        self._turn: AgentTurn | None = None
        """What the user has asked for last, until it is done."""
        self.expects = False
        """Whether hooks have seen the next prompt."""
        self._main = ""
        self._sub_turns: dict[str, AgentTurn] = {}
        self._calls: dict[str, ToolCall] = {}
        self._channel: Any = None
        self._connected = asyncio.Event()

    def __deepcopy__(self, _memo: object) -> _Running:
        return self  # an agent makes a deep copy of its configuration first, and then takes the originals

    def hooks(self) -> list[Any]:
        return [
            hooks.pre_turn(self._turn_begins),
            hooks.pre_tool_call_decide(self._before_tool),
            hooks.post_tool_call(self._after_tool),
            hooks.on_tool_error(self._after_failure),
            hooks.stop(self._stopping),
        ]

    async def connect(self, channel: Any) -> None:
        """What the SDK calls a trigger: it is handed the way to send the agent a message."""
        self._channel = channel
        self._connected.set()

    async def _say(self, texts: Sequence[str]) -> None:
        if texts:
            await self._connected.wait()
            await self._channel.send("\n\n".join(texts))

    # -- the prompt and the end

    async def prompted(self, given: Any) -> Any:
        """The prompt as hooks want it. It raises `Refused` where they do not."""
        parts = list(given) if isinstance(given, (list, tuple)) else [given]
        prompt = await self._asked(parts)
        self.expects = True
        return prompt.parts(parts, _is_text, str) if prompt.changed else given

    async def _asked(self, parts: list[Any]) -> Prompt:
        self._turn, self._calls, self._sub_turns = None, {}, {}
        text = "\n".join(filter(_is_text, parts))
        prompt = await self.conversation.play(self.conversation.prompted(text))
        self._turn = AgentTurn()
        return prompt

    async def _turn_begins(self, data: Any) -> Any:
        """Prompts that were not given to `chat` are seen here only, where nothing can be put into them."""
        if self.expects:
            self.expects = False
            return types.HookResult(allow=True)
        try:
            prompt = await self._asked(data if isinstance(data, list) else [data])
        except Refused as refused:
            return types.HookResult(allow=False, message=str(refused))
        if prompt.replaced is not None:
            return types.HookResult(allow=False, message="A hook rewrites this prompt: give it to the agent's `chat`.")
        self.conversation.lifecycle.waiting.extend([*prompt.before, *prompt.after])
        return types.HookResult(allow=True)

    async def _stopping(self, data: Any) -> Any:
        """An agent may report one end twice, and limits and failures too; to hooks, only the model's own end is one."""
        turn, self._turn = self._turn, None
        if turn is None or data.stop_reason != types.StopReason.UNSPECIFIED or data.error_message:
            return types.StopHookResult()
        more = await self.conversation.play(self.conversation.answered(turn, data.response_text))
        if more is None:
            return types.StopHookResult()
        self._turn = turn
        return types.StopHookResult(decision=types.StopDecision.CONTINUE, reason=more)

    # -- tools

    async def _before_tool(self, data: Any) -> Any:
        turn, invoked_by = self._turn_of(data.step_id)
        if turn.over is not None:
            return types.HookResult(allow=False, message=turn.last_words)
        call = ToolCall(_name(data), data.args, data.id, turn)
        if not await self.conversation.play(call.before(), invoked_by=invoked_by):
            return types.HookResult(allow=False, message=call.refusal)
        self._calls[call.call_id] = call
        if not call.rewritten:
            return types.HookResult(allow=True)
        if left_out := sorted(data.args.keys() - call.input.keys()):
            why = f"A hook rewrote the input of {call.tool} without {', '.join(left_out)}, which would still be used."
            return types.HookResult(allow=False, message=why)
        return types.HookResult(allow=True, modified_args=call.input)

    async def _after_tool(self, data: Any) -> None:
        call, invoked_by = self._ran(_name(data), data.id, data.step_id)
        heard = await self.conversation.play(call.after(shown(data.result)), invoked_by=invoked_by)
        replaced = (
            [f"Instead of the output of {call.tool}, use this: {heard.replaced}"] if heard.replaced is not None else []
        )
        await self._say([*self.conversation.lifecycle.take_waiting(), *replaced, *heard.notes])

    async def _after_failure(self, error: Any) -> str | None:
        call, invoked_by = self._ran(_named(error.tool_name, error.server_name), error.call_id, error.step_id)
        heard = await self.conversation.play(call.failed(error), invoked_by=invoked_by)
        return heard.text(str(error)) if heard.changed else None

    def _ran(self, tool: str, call_id: str | None, step_id: str | None) -> tuple[ToolCall, str]:
        turn, invoked_by = self._turn_of(step_id)
        return self._calls.pop(call_id or "", None) or ToolCall(tool, {}, call_id, turn), invoked_by

    def _turn_of(self, step_id: str | None) -> tuple[AgentTurn, str]:
        """A step's turn, and whose it is. A sub-agent's steps have another name in front, and come later."""
        whose = (step_id or "").rpartition(":")[0]
        self._main = self._main or whose
        if whose != self._main:
            return self._sub_turns.setdefault(whose, AgentTurn()), SUBAGENT
        if self._turn is None:  # it works on after the end, for instance because a task in the background is done
            self._turn = AgentTurn()
        return self._turn, MAIN


def _is_text(part: Any) -> bool:
    return isinstance(part, str)


def _name(data: Any) -> str:
    return _named(str(data.name), data.server_name)


def _named(tool: str, server: str | None) -> str:
    return f"mcp__{server}__{tool}" if server else tool


def shown(result: Any) -> Any:
    """The text in a result: what functions of the program give back is packed as JSON, and the shell has an object."""
    if isinstance(result, str):
        try:
            packed = json.loads(result)
        except ValueError:
            return result
        return packed["result"] if isinstance(packed, dict) and [*packed] == ["result"] else result
    plain = jsonable(result)
    return plain["output"] if isinstance(plain, dict) and isinstance(plain.get("output"), str) else plain


__all__ = ["Hooked"]
