"""Messages of pydantic-ai ↔ the plain `{role, content}` of hooks. It loses what plain messages cannot say (tool calls
become text) and calls no model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from anyhook.adapters.plain_values import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def prompt_text(content: str | Sequence[Any] | None) -> str:
    """The words of a prompt, without its pictures and files."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(part for part in content if isinstance(part, str))


def plain(messages: Sequence[ModelMessage]) -> list[dict[str, str]]:
    """What was said, by role."""
    made: list[dict[str, str]] = []
    for message in messages:
        role = "user" if isinstance(message, ModelRequest) else "assistant"
        made.extend({"role": role, "content": text} for part in message.parts if (text := _words(part)))
    return made


def _words(part: object) -> str:
    if isinstance(part, UserPromptPart):
        return prompt_text(part.content)
    if isinstance(part, TextPart):
        return part.content
    if isinstance(part, ToolCallPart):
        return f"[{part.tool_name} {part.args_as_json_str()}]"
    if isinstance(part, ToolReturnPart):
        return f"[{part.tool_name}: {text_of(part.content)}]"
    return ""


def from_plain(history: Sequence[dict[str, str]]) -> list[ModelMessage]:
    """A conversation out of plain messages."""
    made: list[ModelMessage] = []
    for message in history:
        if message["role"] == "assistant":
            made.append(ModelResponse(parts=[TextPart(message["content"])]))
        else:
            made.append(user_request(message["content"]))
    return made


def user_request(*texts: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text) for text in texts])


def final_text(messages: Sequence[ModelMessage]) -> str:
    """The words of the model's last answer."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return "".join(part.content for part in message.parts if isinstance(part, TextPart))
    return ""


def context_size(messages: Sequence[ModelMessage]) -> tuple[int, int, int]:
    """Tokens of all requests, of all answers, and of the last exchange as a whole."""
    answers = [message.usage for message in messages if isinstance(message, ModelResponse)]
    last = answers[-1].input_tokens + answers[-1].output_tokens if answers else 0
    return sum(usage.input_tokens for usage in answers), sum(usage.output_tokens for usage in answers), last
