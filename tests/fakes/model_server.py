"""A provider of models on the loopback: speaks OpenAI chat completions, OpenAI responses and Anthropic messages, whole
or streamed, answers from a script in turn and remembers what it was asked. It reaches nobody."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from fakes.wire import Answer, format_of, stream, whole

DRIP_BYTES = 16

Script = Sequence[Answer] | Callable[["Asked"], Answer]


@dataclass(frozen=True)
class Asked:
    """One request."""

    wire: str
    """`chat`, `responses` or `messages`."""
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """What stands in the place for system instructions."""
        if self.wire == "chat":
            return "\n".join(_texts([one for one in self.body["messages"] if one["role"] in ("system", "developer")]))
        return "\n".join(_texts(self.body.get("instructions") or self.body.get("system") or ""))

    @property
    def text(self) -> str:
        """Everything else that it was told, results of tools included."""
        told = self.body.get("messages") or self.body.get("input") or []
        rest = [one for one in told if isinstance(one, str) or one.get("role") not in ("system", "developer")]
        return "\n".join(_texts(rest))

    @property
    def tools(self) -> list[str]:
        return [tool.get("name") or tool["function"]["name"] for tool in self.body.get("tools") or ()]


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for key in ("content", "text", "output") if key in value for text in _texts(value[key])]
    return []


class ModelServer:
    """The server, from `with` until its end. After the last answer of its script it repeats that one."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        self._script, self._lock = script, threading.Lock()
        self._over = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Without a path: Anthropic's clients want it so, OpenAI's want `/v1` behind it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def env(self) -> dict[str, str]:
        """The variables that send both providers' clients here."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "not-a-real-key",
            "ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "not-a-real-key",
        }  # fmt: skip

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _next(self, asked: Asked) -> tuple[Answer, int]:
        with self._lock:
            self.asked.append(asked)
            number = len(self.asked)
        if callable(self._script):
            return self._script(asked), number
        return self._script[min(number, len(self._script)) - 1], number

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(http.rfile.read(int(http.headers.get("content-length", 0))))
        wire = format_of(http.path)
        headers = {name.lower(): value for name, value in http.headers.items()}
        answer, number = self._next(Asked(wire, http.path, headers, body))
        streamed = bool(body.get("stream")) and answer.raw is None and answer.status == 200
        self._over.wait(answer.delay_s)
        http.send_response(answer.status if wire else 404)
        http.send_header("content-type", "text/event-stream" if streamed else "application/json")
        http.send_header("connection", "close")
        for name, value in answer.headers.items():
            http.send_header(name, value)
        http.end_headers()
        http.close_connection = True
        for part in self._parts(wire, answer, body, number, streamed):
            http.wfile.write(part)
            http.wfile.flush()
            if answer.drip_s and self._over.wait(answer.drip_s):
                return

    def _parts(self, wire: str, answer: Answer, body: dict[str, Any], number: int, streamed: bool) -> list[bytes]:
        if answer.raw is not None:
            whole_body = answer.raw
        elif answer.status != 200 or not wire:
            error = {"type": "server_error", "message": answer.text or "no such path"}
            whole_body = json.dumps({"type": "error", "error": error}).encode()
        elif streamed:
            return list(stream(wire, answer, body, number))
        else:
            whole_body = json.dumps(whole(wire, answer, body, number)).encode()
        size = DRIP_BYTES if answer.drip_s else max(1, len(whole_body))
        return [whole_body[start : start + size] for start in range(0, len(whole_body), size)]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                try:
                    server._answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the client went away, as some tests want it to

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's word)
                pass

        return Handler
