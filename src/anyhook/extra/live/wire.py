"""Answers of a model in the wire formats of its providers, whole and as events of a stream. It sends nothing and knows
no server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class ModelCall:
    """The model wants a tool to be called."""

    tool: str
    input: Body | str
    """A text for a tool that takes one, where the wire has such tools."""


@dataclass(frozen=True)
class ModelReply:
    """One answer of the model."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    tokens: int = 7
    """How long the conversation is said to be: agents compact it by that."""


SAID = 3
"""How long each answer is said to be, in tokens."""

ENDS = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
    ":generateContent": "contents",
    ":streamGenerateContent": "contents",
}


def format_of(path: str) -> str:
    """`chat`, `responses`, `messages` or `contents`; "" for a path that no provider has."""
    return next((name for end, name in ENDS.items() if path.partition("?")[0].endswith(end)), "")


def is_streamed(path: str, asked: Body) -> bool:
    """Whether the client wants events: one wire says it in the path, the others in the body."""
    return bool(asked.get("stream")) or path.partition("?")[0].endswith(":streamGenerateContent")


def whole(wire: str, answer: ModelReply, asked: Body, number: int) -> Body:
    makers = {"chat": _chat, "responses": _response, "messages": _message, "contents": _content}
    return makers[wire](answer, asked, number)


def stream(wire: str, answer: ModelReply, asked: Body, number: int) -> Iterator[bytes]:
    """The same as server-sent events."""
    made = whole(wire, answer, asked, number)
    if wire == "chat":
        for chunk in _chat_chunks(made):
            yield _event(chunk)
        yield b"data: [DONE]\n\n"
        return
    if wire == "contents":
        yield _event(made)
        return
    events = _response_events(made) if wire == "responses" else _message_events(made)
    for count, event in enumerate(events):
        yield _event({**event, "sequence_number": count} if wire == "responses" else event, event["type"])


def _event(data: Body, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def _chat(answer: ModelReply, asked: Body, number: int) -> Body:
    message: Body = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{place}", "type": "function", "function": _function(call)}
            for place, call in enumerate(answer.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.calls else "stop"}
    usage = {"prompt_tokens": answer.tokens, "completion_tokens": SAID, "total_tokens": answer.tokens + SAID}
    head = {"id": f"chat-{number}", "object": "chat.completion", "created": 1, "model": asked.get("model", "")}
    return {**head, "choices": [choice], "usage": usage}


def _function(call: ModelCall) -> Body:
    return {"name": call.tool, "arguments": json.dumps(call.input)}


def _chat_chunks(made: Body) -> Iterator[Body]:
    choice = made["choices"][0]
    message = choice["message"]
    head = {**made, "object": "chat.completion.chunk", "usage": None}

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(message["content"] or ""):
        yield chunk({"content": piece})
    for place, call in enumerate(message.get("tool_calls", ())):
        opened = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": place, "id": call["id"], "type": "function", "function": opened}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    yield {**head, "choices": [], "usage": made["usage"]}


def _response(answer: ModelReply, asked: Body, number: int) -> Body:
    items: list[Body] = []
    if answer.text or not answer.calls:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        head = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        items.append({**head, "content": [part]})
    for place, call in enumerate(answer.calls):
        head = {"id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}", "status": "completed"}
        if isinstance(call.input, str):
            items.append({"type": "custom_tool_call", **head, "name": call.tool, "input": call.input})
        else:
            space, _, name = call.tool.rpartition(".")
            function = _function(ModelCall(name, call.input))
            items.append({"type": "function_call", **head, **function, **({"namespace": space} if space else {})})
    usage = {"input_tokens": answer.tokens, "output_tokens": SAID, "total_tokens": answer.tokens + SAID}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1, "status": "completed",
        "model": asked.get("model", ""), "output": items, "parallel_tool_calls": True, "tool_choice": "auto",
        "tools": [], "usage": {**usage, **details},
    }  # fmt: skip


def _response_events(made: Body) -> Iterator[Body]:
    yield {"type": "response.created", "response": {**made, "status": "in_progress", "output": [], "usage": None}}
    for place, item in enumerate(made["output"]):
        at = {"output_index": place, "item_id": item["id"]}
        if item["type"] == "message":
            yield {"type": "response.output_item.added", "output_index": place, "item": {**item, "content": []}}
            text = item["content"][0]["text"]
            at["content_index"] = 0
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **at, "part": empty}
            for piece in _pieces(text):
                yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
            yield {"type": "response.content_part.done", **at, "part": item["content"][0]}
        elif item["type"] == "custom_tool_call":
            yield {"type": "response.output_item.added", "output_index": place, "item": item}
        else:
            yield {"type": "response.output_item.added", "output_index": place, "item": {**item, "arguments": ""}}
            for piece in _pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield {"type": "response.function_call_arguments.done", **at, **done}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": made}


def _message(answer: ModelReply, asked: Body, number: int) -> Body:
    content: list[Body] = [{"type": "text", "text": answer.text}] if answer.text or not answer.calls else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.tool, "input": call.input}
        for place, call in enumerate(answer.calls)
    ]
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.get("model", ""),
        "content": content, "stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": answer.tokens, "output_tokens": SAID},
    }  # fmt: skip


def _message_events(made: Body) -> Iterator[Body]:
    yield {"type": "message_start", "message": {**made, "content": [], "stop_reason": None}}
    for place, block in enumerate(made["content"]):
        is_text = block["type"] == "text"
        opened = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield {"type": "content_block_start", "index": place, "content_block": opened}
        for piece in _pieces(block["text"] if is_text else json.dumps(block["input"])):
            kind = {"type": "text_delta", "text": piece} if is_text else {"type": "input_json_delta"}
            delta = kind if is_text else {**kind, "partial_json": piece}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
    ended: Body = {"stop_reason": made["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": SAID}}
    yield {"type": "message_stop"}


def _content(answer: ModelReply, asked: Body, number: int) -> Body:
    parts: list[Body] = [{"text": answer.text}] if answer.text or not answer.calls else []
    parts += [
        {"functionCall": {"id": f"fc_{number}_{place}", "name": call.tool, "args": call.input}}
        for place, call in enumerate(answer.calls)
    ]
    content = {"role": "model", "parts": parts}
    whole_length = answer.tokens + SAID
    usage = {"promptTokenCount": answer.tokens, "candidatesTokenCount": SAID, "totalTokenCount": whole_length}
    head = {"responseId": f"r_{number}", "modelVersion": asked.get("model", "")}
    return {**head, "candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
