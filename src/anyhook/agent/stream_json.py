"""`--output-format stream-json`: a run as lines of JSON while it goes on, in the form that scripts around agents know.
What a run has used and cost comes last."""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

from pydantic_ai.messages import (
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from anyhook.adapters.messages import prompt_text
from anyhook.adapters.plain_values import jsonable, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_ai.messages import ModelMessage

    from anyhook.adapters.tool_calls import ToolRecord
    from anyhook.agent.session import Session, TurnResult
    from anyhook.model.json_types import Json

NO_PARENT: dict[str, Json] = {"parent_tool_use_id": None}
SUBTYPES = {"done": "success", "blocked": "success", "max_turns": "error_max_turns"}


class StreamJson:
    """One run."""

    def __init__(self, write: Callable[[Json], None]) -> None:
        self._write, self._seen, self._began_s = write, 0, monotonic()
        self._prompted = False
        """Whether the run's own prompt has come by."""
        self._denied: list[Json] = []

    def begins(self, session: Session) -> None:
        options, equipment = session.options, session.equipment
        servers: list[Json] = [{"name": server.name, "status": server.status} for server in equipment.all_servers]
        self._seen = len(session.history)
        self._line(
            session, "system", subtype="init", cwd=options.project, model=session.model_name,
            tools=[*equipment.tool_names], mcp_servers=servers, agents=[each.name for each in equipment.types],
            skills=[skill.name for skill in equipment.skills], permissionMode=options.permission,
        )  # fmt: skip

    def said(self, session: Session, messages: Sequence[ModelMessage]) -> None:
        """What has been said since the last time: a line for each piece of an answer, and one for the results of its
        tools. The prompt is known to whoever gave it."""
        if len(messages) < self._seen:
            self._seen = 0  # the conversation was replaced by a summary
        for message in messages[self._seen :]:
            content: list[Json] = [block for part in message.parts if (block := self._block(part)) is not None]
            if isinstance(message, ModelResponse):
                self._answer(session, message, content)
            elif content:
                self._line(session, "user", message={"role": "user", "content": content}, **NO_PARENT)
        self._seen = len(messages)

    def _answer(self, session: Session, answer: ModelResponse, content: list[Json]) -> None:
        used = answer.usage
        told: dict[str, Json] = {
            "id": answer.provider_response_id or f"msg_{uuid4().hex}", "type": "message", "role": "assistant",
            "model": session.model.model_name, "stop_reason": None, "stop_sequence": None,
            "usage": _usage(used.input_tokens, used.output_tokens, used.cache_write_tokens, used.cache_read_tokens),
        }  # fmt: skip
        for block in content:
            self._line(session, "assistant", message={**told, "content": [block]}, **NO_PARENT)

    def _block(self, part: object) -> Json:
        """A part of a message in the form of that wire; None for what is not told."""
        if isinstance(part, UserPromptPart):
            given, self._prompted = self._prompted, True
            return {"type": "text", "text": prompt_text(part.content)} if given else None
        return _block(part)

    def called(self, record: ToolRecord) -> None:
        """A call that was denied is named once more at the end."""
        if record.denied:
            self._denied.append({"tool_name": record.tool, "tool_use_id": record.call_id, "tool_input": record.input})

    def ends(self, session: Session, turn: TurnResult) -> None:
        spent = session.spent
        subtype = SUBTYPES.get(turn.stop, "error_during_execution")
        duration_ms = int((monotonic() - self._began_s) * 1000)
        failed = subtype != "success"
        usage = _usage(spent.input_tokens, spent.output_tokens, spent.written_tokens, spent.cached_tokens)
        self._line(
            session, "result", subtype=subtype, is_error=failed, result=(turn.why if failed else "") or turn.text,
            stop_reason="end_turn" if turn.stop == "done" else None, stop=turn.stop,
            num_turns=session.lifecycle.turns, duration_ms=duration_ms, duration_api_ms=int(spent.model_s * 1000),
            total_cost_usd=spent.cost, usage=usage, permission_denials=self._denied,
        )  # fmt: skip

    def _line(self, session: Session, kind: str, **fields: Json) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write({"type": kind, **fields, "session_id": session.id, "uuid": str(uuid4()), "timestamp": now})


def _block(part: object) -> Json:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.content}
    if isinstance(part, ThinkingPart):
        return {"type": "thinking", "thinking": part.content}
    if isinstance(part, ToolCallPart):
        given = jsonable(part.args_as_dict())
        return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": given}
    if isinstance(part, ToolReturnPart):
        text, failed = text_of(part.content), part.outcome != "success"
        return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text, "is_error": failed}
    if isinstance(part, RetryPromptPart) and part.tool_name:
        text = part.model_response()
        return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text, "is_error": True}
    return None


def _usage(given: int, answered: int, written: int, cached: int) -> Json:
    """By that wire's words, where the input is counted without what its cache had."""
    return {
        "input_tokens": max(0, given - written - cached),
        "output_tokens": answered,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
    }
