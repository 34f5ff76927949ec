"""Hooks in an agent of the Claude Agent SDK: `ClaudeAgentOptions(hooks=Hooked(Engine.open(".")).matchers())`. The agent
runs in a separate process and asks these callbacks at each event; what they answer is its own JSON. They use only keys
that it knows, and if they fail it stops what it was about to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import HookMatcher

from anyhook.engine.engine import Engine
from anyhook.extra.frameworks.conversation import AgentTurn, HookedConversation, ToolCall
from anyhook.extra.frameworks.lifecycle import MAIN, SUBAGENT, Lifecycle, Refused, denied, instruction
from anyhook.model.decision import Decision
from anyhook.model.json_types import Json
from anyhook.model.outcome import ALLOW, ASK

Payload = dict[str, Any]
Answer = dict[str, Any]

PATIENCE_S = 600.0
"""How long the agent waits for all hooks of one event. After that, it stops what it was about to do."""

TEXT_PLACES = (("stdout",), ("file", "content"), ("result",), ("content",))
"""Where the results of the agent's own tools have their text; a replaced result must keep its tool's shape."""


class Hooked:
    """Fires the events of an agent's sessions at an engine's hooks."""

    def __init__(self, engine: Engine, lifecycle: Lifecycle | None = None, patience_s: float = PATIENCE_S) -> None:
        self.conversation = HookedConversation(engine, lifecycle, "claude_agent_sdk", comes_with_an_agent=True)
        self.lifecycle = self.conversation.lifecycle
        self.patience_s = patience_s
        self._turns: dict[str, AgentTurn] = {}
        """By session, or by sub-agent."""

    def matchers(self) -> dict[Any, list[Any]]:
        """What `ClaudeAgentOptions` takes as `hooks`."""
        callbacks: dict[str, Callable[[Payload], Awaitable[Answer]]] = {
            "UserPromptSubmit": self._prompted,
            "PreToolUse": self._before_tool,
            "PermissionRequest": self._permission,
            "PostToolUse": self._after_tool,
            "PostToolUseFailure": self._after_failure,
            "SubagentStart": self._sub_start,
            "SubagentStop": self._sub_stop,
            "PreCompact": self._compacting,
            "Notification": self._notified,
            "Stop": self._stopping,
        }
        return {
            event: [HookMatcher(hooks=[_callback(callback)], timeout=self.patience_s, on_failure="block")]
            for event, callback in callbacks.items()
        }

    # -- the prompt and the end

    async def _prompted(self, given: Payload) -> Answer:
        self._turns[given["session_id"]] = AgentTurn()
        try:
            prompt = await self.conversation.play(self.conversation.prompted(given["prompt"]), **_facts(given))
        except Refused as refused:
            hidden = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
            return {"decision": "block", "reason": str(refused), "hookSpecificOutput": hidden}
        rewritten = [] if prompt.replaced is None else [f"Read the prompt as: {prompt.replaced}"]
        return _with_context("UserPromptSubmit", [*prompt.before, *rewritten, *prompt.after])

    async def _stopping(self, given: Payload) -> Answer:
        turn = self._turns.setdefault(given["session_id"], AgentTurn())
        text = given.get("last_assistant_message") or ""
        more = await self.conversation.play(self.conversation.answered(turn, text), **_facts(given))
        return {} if more is None else {"decision": "block", "reason": more}

    # -- tools

    async def _before_tool(self, given: Payload) -> Answer:
        decision = await self._fire("pre_tool", given, **_call(given))
        made: dict[str, Any] = {}
        if refusal := denied(given["tool_name"], decision):
            made = {"permissionDecision": "deny", "permissionDecisionReason": refusal}
        elif decision.verdict in (ALLOW, ASK):
            made = {"permissionDecision": decision.verdict, "permissionDecisionReason": decision.reason or ""}
        if decision.tool_input is not None and not decision.stops:
            made["updatedInput"] = decision.tool_input
        return _ending(decision, _with_context("PreToolUse", decision.context, **made))

    async def _permission(self, given: Payload) -> Answer:
        decision = await self._fire("permission_request", given, **_call(given))
        if refusal := denied(given["tool_name"], decision):
            made: dict[str, Any] = {"behavior": "deny", "message": refusal}
        elif decision.verdict == ALLOW:
            rewritten = {} if decision.tool_input is None else {"updatedInput": decision.tool_input}
            made = {"behavior": "allow", **rewritten}
        else:
            return _ending(decision, {})
        return _ending(decision, {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": made}})

    async def _after_tool(self, given: Payload) -> Answer:
        call, response = self._ran(given), given["tool_response"]
        heard = await self.conversation.play(call.after(shown(response)), **_facts(given), **_duration(given))
        made, notes = {}, heard.notes
        if heard.replaced is not None:
            shaped = reshaped(response, heard.replaced)
            made = {} if shaped is None else {"updatedToolOutput": shaped}
            if shaped is None:
                notes = [f"A hook replaces the output of {call.tool} by: {heard.replaced}", *notes]
        return _ending(call.turn.over, _with_context("PostToolUse", notes, **made))

    async def _after_failure(self, given: Payload) -> Answer:
        call = self._ran(given)
        heard = await self.conversation.play(call.failed(given["error"]), **_facts(given), **_duration(given))
        replaced = [] if heard.replaced is None else [heard.replaced]
        return _ending(call.turn.over, _with_context("PostToolUseFailure", [*replaced, *heard.notes]))

    def _ran(self, given: Payload) -> ToolCall:
        turn = self._turns.setdefault(given.get("agent_id") or given["session_id"], AgentTurn())
        return ToolCall(given["tool_name"], given["tool_input"], given["tool_use_id"], turn)

    # -- sub-agents and the rest

    async def _sub_start(self, given: Payload) -> Answer:
        self._turns[given["agent_id"]] = AgentTurn()
        decision = await self._fire("subagent_start", given, agent_type=given["agent_type"])
        refused = [f"A hook refuses this sub-agent: {decision.reason} End at once."] if decision.stops else []
        return _with_context("SubagentStart", [*refused, *decision.context])

    async def _sub_stop(self, given: Payload) -> Answer:
        turn = self._turns.setdefault(given["agent_id"], AgentTurn())
        text = given.get("last_assistant_message") or ""
        decision = await self.conversation.lifecycle.fire(
            "subagent_stop", turn.stops.spent, agent_type=given["agent_type"], result=text, **_facts(given)
        )
        if decision.stops:
            turn.stops.count(decision)
            return {"decision": "block", "reason": instruction(decision)}
        del self._turns[given["agent_id"]]
        return {}

    async def _compacting(self, given: Payload) -> Answer:
        decision = await self._fire("pre_compact", given, trigger=given["trigger"])
        return {"decision": "block", "reason": decision.reason or ""} if decision.stops else {}

    async def _notified(self, given: Payload) -> Answer:
        await self._fire(
            "notification", given, message=given["message"], notification_type=given.get("notification_type", "")
        )
        return {}

    async def _fire(self, event: str, given: Payload, **data: Json) -> Decision:
        return await self.conversation.lifecycle.fire(event, **data, **_facts(given))


def _callback(judge: Callable[[Payload], Awaitable[Answer]]) -> Any:
    async def answer(given: Payload, _tool_use_id: str | None, _context: Any) -> Answer:
        return await judge(given)

    return answer


def _facts(given: Payload) -> dict[str, Json]:
    return {
        "session": given["session_id"],
        "invoked_by": SUBAGENT if given.get("agent_id") else MAIN,
        "permission_mode": given.get("permission_mode", ""),
    }


def _call(given: Payload) -> dict[str, Json]:
    return {"tool": given["tool_name"], "input": given["tool_input"], "call_id": given.get("tool_use_id", "")}


def _duration(given: Payload) -> dict[str, Json]:
    """How long the tool took, which only the agent knows."""
    return {"duration_ms": int(given["duration_ms"])} if "duration_ms" in given else {}


def _with_context(event: str, texts: Any, **made: Any) -> Answer:
    if texts:
        made["additionalContext"] = "\n\n".join(texts)
    return {"hookSpecificOutput": {"hookEventName": event, **made}} if made else {}


def _ending(decision: Decision | None, answer: Answer) -> Answer:
    if decision is None or not decision.end_turn:
        return answer
    return {**answer, "continue_": False, "stopReason": decision.reason or "A hook ended the turn."}


def shown(response: Any) -> Any:
    """The text in a result, as a person would see it; the whole result if no text is known to be in it."""
    if isinstance(response, list) and all(isinstance(part, dict) and "text" in part for part in response):
        return "\n".join(part["text"] for part in response)
    if isinstance(response, dict):
        for place in TEXT_PLACES:
            found = _found(response, place)
            if isinstance(found, str):
                return "\n".join(text for text in (found, response.get("stderr")) if text)
            if isinstance(found, list):
                return shown(found)
    return response


def reshaped(response: Any, text: str) -> Any:
    """The result with another text, in the shape that its tool has; None if that is not known."""
    if isinstance(response, str):
        return text
    if isinstance(response, list):
        return [{"type": "text", "text": text}]
    for place in TEXT_PLACES if isinstance(response, dict) else ():
        found = _found(response, place)
        if isinstance(found, (str, list)):
            made = dict(response, stderr="") if "stderr" in response else dict(response)
            outer, *inner = place
            made[outer] = {**made[outer], inner[0]: text} if inner else reshaped(found, text)
            return made
    return None


def _found(response: dict[str, Any], place: tuple[str, ...]) -> Any:
    found: Any = response
    for name in place:
        found = found.get(name) if isinstance(found, dict) else None
    return found


__all__ = ["Hooked"]
