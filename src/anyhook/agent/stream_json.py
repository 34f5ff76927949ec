"""`--output-format stream-json`: a run as lines of JSON while it goes on, in the form that scripts around agents know.
What a run has used and cost comes last."""

from __future__ import annotations

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

    from anyhook.agent.session import Session, TurnResult
    from anyhook.model.json_types import Json

SUBTYPES = {"done": "success", "blocked": "success", "max_turns": "error_max_turns"}


class StreamJson:
    """One run."""

    def __init__(self, write: Callable[[Json], None]) -> None:
        self._write, self._seen, self._began_s = write, 0, monotonic()

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
        """What has been said since the last time."""
        if len(messages) < self._seen:
            self._seen = 0  # the conversation was replaced by a summary
        for message in messages[self._seen :]:
            role = "assistant" if isinstance(message, ModelResponse) else "user"
            content: list[Json] = [block for part in message.parts if (block := _block(part)) is not None]
            if content:
                told: dict[str, Json] = {"role": role, "content": content}
                if role == "assistant":
                    told |= {"type": "message", "model": session.model.model_name}
                self._line(session, role, message=told, parent_tool_use_id=None)
        self._seen = len(messages)

    def ends(self, session: Session, turn: TurnResult) -> None:
        spent = session.spent
        usage: Json = {"input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens}
        subtype = SUBTYPES.get(turn.stop, "error_during_execution")
        duration_ms = int((monotonic() - self._began_s) * 1000)
        failed = subtype != "success"
        self._line(
            session, "result", subtype=subtype, is_error=failed, result=(turn.why if failed else "") or turn.text,
            stop_reason=turn.stop, num_turns=session.lifecycle.turns, duration_ms=duration_ms,
            total_cost_usd=spent.cost, usage=usage,
        )  # fmt: skip

    def _line(self, session: Session, kind: str, **fields: Json) -> None:
        self._write({"type": kind, **fields, "session_id": session.id, "uuid": str(uuid4())})


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
    if isinstance(part, UserPromptPart):
        return {"type": "text", "text": prompt_text(part.content)}
    return None
