"""A model provider on the loopback interface that streams two wire formats: first a call of `shell`, then a text. It
records every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Trouble = tuple[int, dict[str, str]]
"""A status, and the error in its body. Status 200 means a stream that breaks."""
SHELL = ("shell", json.dumps({"command": "echo ran >> ran.txt"}))
TASK = "Look around."
DELEGATE = ("delegate_task", json.dumps({"agent_name": "general", "task": TASK}))
ANSWER = "All said."


class Provider(ThreadingHTTPServer):
    """Answers depend on what the request already contains, so the server needs no state of the conversation."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.broken = False
        self.trouble: list[Trouble | None] = []
        """What the next requests get instead of an answer. None means a normal answer."""
        self.delegates = False
        """Whether the model calls a sub-agent instead of the shell. The sub-agent answers at once."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if self.server.broken:
            self.send_error(400, "out of order")
            return
        trouble = self.server.trouble.pop(0) if self.server.trouble else None
        if trouble is not None:
            self.fail(trouble)
            return
        if not body.get("stream"):
            self.whole()
            return
        told = any(message["role"] == "assistant" for message in body["messages"]) or TASK in json.dumps(body)
        call = DELEGATE if self.server.delegates else SHELL
        made = _chat if self.path.endswith("/chat/completions") else _messages
        events = made(told, body["model"], *call)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(event.encode())

    def whole(self) -> None:
        """Answer with a text that is not streamed, as recipes request it."""
        choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
        chat = {"id": "it", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        message = {
            "id": "it", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": ANSWER}], "usage": {"input_tokens": 7, "output_tokens": 1},
        }  # fmt: skip
        answer = json.dumps(chat if self.path.endswith("/chat/completions") else message).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def fail(self, trouble: Trouble) -> None:
        status, error = trouble
        if status == 200:  # a stream that breaks in the middle
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            events = _chat(True, "m") if self.path.endswith("/chat/completions") else _messages(True, "m")
            self.wfile.write(next(events).encode())
            return
        body = json.dumps({"type": "error", "error": error}).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Retry-After", "0")):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _chat(told: bool, model: str, tool: str = "", given: str = "") -> Iterator[str]:
    call = {"index": 0, "id": "call-1", "type": "function", "function": {"name": tool, "arguments": given}}
    delta: dict[str, Any] = {"role": "assistant", "content": ANSWER} if told else {"tool_calls": [call]}
    chunk = {"id": "it", "object": "chat.completion.chunk", "created": 1, "model": model}
    end = "stop" if told else "tool_calls"
    for part, finish in ((delta, None), ({}, end)):
        choice = {"index": 0, "delta": part, "finish_reason": finish}
        yield f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    yield f"data: {json.dumps({**chunk, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def _messages(told: bool, model: str, tool: str = "", given: str = "") -> Iterator[str]:
    start = {"type": "text", "text": ""} if told else {"type": "tool_use", "id": "tool-1", "name": tool, "input": {}}
    delta = {"type": "text_delta", "text": ANSWER} if told else {"type": "input_json_delta", "partial_json": given}
    head: dict[str, Any] = {
        "id": "it", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 7, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": head},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn" if told else "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


@contextmanager
def provider() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
