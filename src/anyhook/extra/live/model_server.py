"""A provider of models on the loopback: speaks the chat, responses, messages and contents wires, whole or streamed,
answers from a script in turn and remembers what it was asked. It reaches nobody."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from anyhook.extra.live.wire import ModelReply, format_of, is_streamed, stream, whole

MODEL = "scripted-model"
TEXTS = ("content", "text", "output", "parts", "functionResponse", "response", "result", "error")
"""Where the texts are in what a model receives."""
INSTRUCTIONS = ("instructions", "system", "systemInstruction")
CONVERSATION = ("messages", "input", "contents")
OWN_ITEMS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")

Script = Sequence[ModelReply] | Callable[["ModelRequest"], ModelReply]


@dataclass(frozen=True)
class ModelRequest:
    """One request."""

    wire: str
    """`chat`, `responses`, `messages` or `contents`."""
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def talk(self) -> Any:
        """The conversation, as its wire has it."""
        return next((self.body[place] for place in CONVERSATION if self.body.get(place)), [])

    @property
    def conversation(self) -> str:
        """All of it, wherever it stands: some agents put system messages between the others."""
        return "\n".join(texts_in([self.body.get(place) for place in (*INSTRUCTIONS, *CONVERSATION)]))

    @property
    def opening(self) -> str:
        """What it was told before its first turn: of a sub-agent the task, after a compaction the summary."""
        talk = self.talk
        first = next((at for at, item in enumerate(talk) if _is_own(item)), len(talk)) if isinstance(talk, list) else 0
        return "\n".join(texts_in(talk[:first] if isinstance(talk, list) else talk))

    @property
    def last(self) -> str:
        """What it was told last."""
        talk = self.talk
        return "\n".join(texts_in(talk[-1:] if isinstance(talk, list) else talk))

    @property
    def tools(self) -> list[str]:
        return list(self.schemas)

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The tools that are offered, each with the schema of its input."""
        listed = [tool.get("function") or tool for tool in self.body.get("tools") or ()]
        listed += [tool for group in listed for tool in group.get("functionDeclarations") or ()]
        # One wire has tools in namespaces: their calls name both.
        spaces = [group for group in listed if group.get("type") == "namespace"]
        listed += [{**tool, "name": f"{group['name']}.{tool['name']}"} for group in spaces for tool in group["tools"]]
        keys = ("parameters", "input_schema", "parametersJsonSchema")
        return {
            tool["name"]: next((tool[key] for key in keys if isinstance(tool.get(key), dict)), {})
            for tool in listed
            if "name" in tool
        }

    @property
    def turns(self) -> list[tuple[bool, str]]:
        """The model's own turns so far: whether each called a tool, and what it said."""
        talk = self.talk
        found: list[tuple[bool, str]] = []
        went_on = False  # one wire has an item for each part of a turn
        for item in talk if isinstance(talk, list) else ():
            mine = _is_own(item)
            if mine:
                called, said = found.pop() if went_on and self.wire == "responses" else (False, "")
                found.append(
                    (called or _calls(item), said + "".join(texts_in(item.get("content") or item.get("parts"))))
                )
            went_on = mine
        return found


def _is_own(item: dict[str, Any]) -> bool:
    """Whether the model said it."""
    return item.get("role") in ("assistant", "model") or item.get("type") in OWN_ITEMS


def texts_in(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    if isinstance(value, dict):
        return [text for key in TEXTS if key in value for text in texts_in(value[key])]
    return []


def _body(http: BaseHTTPRequestHandler) -> dict[str, Any]:
    """What was sent, whole or in chunks, packed or not."""
    data = b""
    if "chunked" in http.headers.get("transfer-encoding", "").lower():
        while size := int(http.rfile.readline().partition(b";")[0], 16):
            data += http.rfile.read(size)
            http.rfile.readline()
        http.rfile.readline()
    else:
        data = http.rfile.read(int(http.headers.get("content-length", 0)))
    if http.headers.get("content-encoding") == "gzip":
        data = gzip.decompress(data)
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _side(path: str) -> dict[str, Any] | None:
    """What clients ask besides the conversation: which models there are, and how many tokens a text has."""
    path = path.partition("?")[0].rstrip("/")
    if path.endswith("/models"):
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "type": "model", "display_name": MODEL}]}
    if path.endswith("/count_tokens"):
        return {"input_tokens": 7}
    return {"totalTokens": 7} if path.endswith(":countTokens") else None


def _calls(item: dict[str, Any]) -> bool:
    parts = [part for part in item.get("content") or item.get("parts") or () if isinstance(part, dict)]
    return (
        bool(item.get("tool_calls"))
        or str(item.get("type")).endswith("_call")
        or any(part.get("type") == "tool_use" or "functionCall" in part for part in parts)
    )


class ModelServer:
    """The server, from `with` until its end. After the last answer of its script it repeats that one."""

    def __init__(self, script: Script) -> None:
        self.asked: list[ModelRequest] = []
        self.answered: dict[int, ModelReply] = {}
        """By the place of the request in `asked`."""
        self._script, self._lock = script, threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Without a path: Anthropic's clients want it so, OpenAI's want `/v1` behind it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _next(self, asked: ModelRequest) -> tuple[ModelReply, int]:
        with self._lock:
            self.asked.append(asked)
            number = len(self.asked)
        script = self._script
        answer = script(asked) if callable(script) else script[min(number, len(script)) - 1]
        self.answered[number - 1] = answer
        return answer, number

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        wire = format_of(http.path)
        if not wire:
            self._aside(http)
            return
        headers = {name.lower(): value for name, value in http.headers.items()}
        asked = ModelRequest(wire, http.path, headers, _body(http))
        self._send(http, asked, *self._next(asked))

    def _send(self, http: BaseHTTPRequestHandler, asked: ModelRequest, answer: ModelReply, number: int) -> None:
        self._head(http, 200, {}, streamed=is_streamed(asked.path, asked.body))
        for part in self._parts(asked, answer, number):
            http.wfile.write(part)
            http.wfile.flush()

    @staticmethod
    def _head(http: BaseHTTPRequestHandler, status: int, headers: dict[str, str], *, streamed: bool) -> None:
        http.send_response(status)
        http.send_header("content-type", "text/event-stream" if streamed else "application/json")
        http.send_header("connection", "close")
        for name, value in headers.items():
            http.send_header(name, value)
        http.end_headers()
        http.close_connection = True

    @staticmethod
    def _parts(asked: ModelRequest, answer: ModelReply, number: int) -> Iterable[bytes]:
        if is_streamed(asked.path, asked.body):
            return stream(asked.wire, answer, asked.body, number)
        return [json.dumps(whole(asked.wire, answer, asked.body, number)).encode()]

    @staticmethod
    def _aside(http: BaseHTTPRequestHandler) -> None:
        """Answer a question beside the conversation."""
        _body(http)
        known = _side(http.path)
        data = json.dumps(known or {"error": {}}).encode()
        http.send_response(404 if known is None else 200)
        http.send_header("content-type", "application/json")
        http.send_header("content-length", str(len(data)))
        http.end_headers()
        http.wfile.write(data)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server._aside(self)

            def do_POST(self) -> None:
                try:
                    server._answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client went away, as some tests want it to

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's word)
                pass

        return Handler
