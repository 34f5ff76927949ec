"""Hooks in a LangChain agent: `create_agent(…, middleware=[Hooked(Engine.open("."))])`, with `invoke` or `ainvoke`. One
middleware for the agent's graph; it brings no tools and no model of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.conversation import AgentTurn, HookedConversation, HookedResult, Prompt, Script, ToolCall
from anyhook.extra.frameworks.lifecycle import Lifecycle, Refused

TURN = "anyhook_turn"


class State(AgentState[Any]):
    anyhook_turn: Annotated[AgentTurn | None, UntrackedValue, PrivateStateAttr]
    """No checkpoint saves it: a graph that continues after an interruption starts counting again."""


class Hooked(AgentMiddleware[Any, Any, Any]):
    """Fires the events of an agent's graph at an engine's hooks."""

    state_schema = State

    def __init__(self, engine: Engine, lifecycle: Lifecycle | None = None) -> None:
        super().__init__()
        self.conversation = HookedConversation(engine, lifecycle, "langchain")
        self.lifecycle = self.conversation.lifecycle

    # -- the prompt

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        text = _prompt(state)
        return _begun(state, text and self.conversation.play_sync(self.conversation.prompted(text)))

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        text = _prompt(state)
        return _begun(state, text and await self.conversation.play(self.conversation.prompted(text)))

    # -- tools

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call, play = _call(request), self.conversation.play_sync
        if not play(call.before()):
            return _refusal(request, call)
        try:
            answer = handler(_rewritten(request, call))
        except GraphBubbleUp:  # an interruption: the tool is not through
            raise
        except Exception as error:
            heard = play(call.failed(error))
            if not heard.changed:
                raise
            return _message(request, heard.text(str(error)))
        return _with(answer, call, play(_ended(call, answer)))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        call, play = _call(request), self.conversation.play
        if not await play(call.before()):
            return _refusal(request, call)
        try:
            answer = await handler(_rewritten(request, call))
        except GraphBubbleUp:
            raise
        except Exception as error:
            heard = await play(call.failed(error))
            if not heard.changed:
                raise
            return _message(request, heard.text(str(error)))
        return _with(answer, call, await play(_ended(call, answer)))

    # -- the end

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        turn = _turn(state)
        if turn.over is None:
            return None
        return {"jump_to": "end", "messages": [AIMessage(turn.last_words)]}

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        turn, text = _turn(state), _last_words(state)
        return _more(turn, self.conversation.play_sync(self.conversation.answered(turn, text)))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        turn, text = _turn(state), _last_words(state)
        return _more(turn, await self.conversation.play(self.conversation.answered(turn, text)))


def _prompt(state: Any) -> str:
    """The text of the prompt; "" if the last message is not the user's."""
    last = state["messages"][-1] if state["messages"] else None
    return str(last.text) if isinstance(last, HumanMessage) else ""


def _begun(state: Any, prompt: Prompt | str) -> dict[str, Any]:
    update: dict[str, Any] = {TURN: AgentTurn()}
    if isinstance(prompt, Prompt) and prompt.changed:
        last = state["messages"][-1]
        if isinstance(last.content, str):
            content: Any = prompt.text(last.content)
        else:
            content = prompt.parts(last.content, _is_text, _block)
        update["messages"] = [last.model_copy(update={"content": content})]  # the same id takes the old one's place
    return update


def _turn(state: Any) -> AgentTurn:
    kept = state.get(TURN) if isinstance(state, dict) else None  # a graph of one's own may have any state
    return kept or AgentTurn()


def _call(request: Any) -> ToolCall:
    given = request.tool_call
    return ToolCall(given["name"], given["args"], given["id"], _turn(request.state))


def _rewritten(request: Any, call: ToolCall) -> Any:
    return request.override(tool_call={**request.tool_call, "args": call.input}) if call.rewritten else request


def _refusal(request: Any, call: ToolCall) -> ToolMessage:
    return _message(request, call.refusal or "")


def _message(request: Any, text: str) -> ToolMessage:
    given = request.tool_call
    return ToolMessage(text, name=given["name"], tool_call_id=given["id"], status="error")


def _told(answer: Any, call: ToolCall) -> ToolMessage | None:
    """The message in which the model reads the result."""
    if not isinstance(answer, Command):
        return answer if isinstance(answer, ToolMessage) else None
    messages = answer.update.get("messages", []) if isinstance(answer.update, dict) else []
    mine = (one for one in messages if isinstance(one, ToolMessage) and one.tool_call_id == call.call_id)
    return next(mine, None)


def _ended(call: ToolCall, answer: Any) -> Script[HookedResult]:
    told = _told(answer, call)
    if told is None:
        return call.after("")
    text = told.text or told.content
    return call.failed(text) if told.status == "error" else call.after(text)


def _with(answer: Any, call: ToolCall, heard: HookedResult) -> Any:
    """The answer, with the hooks' changes."""
    told = _told(answer, call)
    if told is None or not heard.changed:
        return answer
    content: Any = heard.text(told.content) if isinstance(told.content, str) else heard.parts(told.content, _block)
    changed = {"content": content} if heard.replaced is None else {"content": content, "artifact": None}
    new = told.model_copy(update=changed)
    if not isinstance(answer, Command):
        return new
    messages = [new if one is told else one for one in answer.update["messages"]]
    return Command(
        graph=answer.graph, update={**answer.update, "messages": messages}, resume=answer.resume, goto=answer.goto
    )


def _last_words(state: Any) -> str:
    last = state["messages"][-1] if state["messages"] else None
    return str(last.text) if isinstance(last, AIMessage) else ""


def _more(turn: AgentTurn, text: str | None) -> dict[str, Any] | None:
    return None if text is None else {"jump_to": "model", "messages": [HumanMessage(text)], TURN: turn}


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or block.get("type") == "text"


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


__all__ = ["Hooked", "Refused"]
