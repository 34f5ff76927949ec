"""Messages of pydantic-ai ↔ the plain `{role, content}` of hooks. What plain messages cannot express is lost (tool
calls become text)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from anyhook.extra.frameworks.plain_values import text_of


def prompt_text(content: str | Sequence[Any] | None) -> str:
    """The text of a prompt, without its images and files."""
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
    if isinstance(part, RetryPromptPart):
        return f"[{part.tool_name}: {part.model_response()}]" if part.tool_name else part.model_response()
    return ""


def transcript(messages: Sequence[ModelMessage]) -> str:
    """The conversation as text, for a model that did not take part in it."""
    return "\n\n".join(f"{message['role']}: {message['content']}" for message in plain(messages))


def from_plain(history: Sequence[dict[str, str]]) -> list[ModelMessage]:
    """A conversation from plain messages."""
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
    """The text of the model's last answer."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return "".join(part.content for part in message.parts if isinstance(part, TextPart))
    return ""


def last_size(messages: Sequence[ModelMessage]) -> int:
    """Tokens of the last exchange: how much of the context the conversation uses now."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse) and (size := message.usage.input_tokens + message.usage.output_tokens):
            return size  # an answer that broke off has none
    return 0


def tokens_of(messages: Sequence[ModelMessage]) -> tuple[int, int]:
    """Of all requests, and of all answers."""
    used = [message.usage for message in messages if isinstance(message, ModelResponse)]
    return sum(each.input_tokens for each in used), sum(each.output_tokens for each in used)
