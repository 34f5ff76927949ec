"""The scripted provider in trouble, for tests: it answers with an error or with anything else, late, or slowly."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from types import TracebackType

from anyhook.extra.live import model_server, wire
from anyhook.extra.live.model_server import INSTRUCTIONS, ModelRequest, Script, texts_in
from anyhook.extra.live.wire import is_streamed

DRIP_BYTES = 16
SYSTEM = ("system", "developer")


@dataclass(frozen=True)
class ModelReply(wire.ModelReply):
    """One answer of the model, or of a provider in trouble."""

    status: int = 200
    raw: bytes | None = None
    """The body as it is, in place of a proper one."""
    delay_s: float = 0.0
    """Silence before the first byte."""
    drip_s: float = 0.0
    """Silence after every few bytes."""
    headers: dict[str, str] = field(default_factory=dict)


class ModelServer(model_server.ModelServer):
    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self._over = threading.Event()

    @property
    def env(self) -> dict[str, str]:
        """The variables that send both providers' clients here."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "not-a-real-key",
            "ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "not-a-real-key",
        }  # fmt: skip

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        super().__exit__(kind, error, trace)

    def _send(self, http: BaseHTTPRequestHandler, asked: ModelRequest, answer: wire.ModelReply, number: int) -> None:
        if not isinstance(answer, ModelReply):
            super()._send(http, asked, answer, number)
            return
        self._over.wait(answer.delay_s)
        body = answer.raw
        if body is None and answer.status != 200:
            error = {"type": "server_error", "message": answer.text}
            body = json.dumps({"type": "error", "error": error}).encode()
        self._head(http, answer.status, answer.headers, streamed=body is None and is_streamed(asked.path, asked.body))
        parts = self._parts(asked, answer, number) if body is None else [body]
        for part in parts:
            size = DRIP_BYTES if answer.drip_s and not is_streamed(asked.path, asked.body) else max(1, len(part))
            for start in range(0, len(part), size):
                http.wfile.write(part[start : start + size])
                http.wfile.flush()
                if answer.drip_s and self._over.wait(answer.drip_s):
                    return


def system_of(asked: ModelRequest) -> str:
    """What is in the place for system instructions."""
    if asked.wire == "chat":
        return "\n".join(texts_in([one for one in asked.body["messages"] if one["role"] in SYSTEM]))
    return "\n".join(texts_in([asked.body.get(place) for place in INSTRUCTIONS]))


def text_of(asked: ModelRequest) -> str:
    """Everything else that it was told, results of tools included."""
    rest = [one for one in asked.talk if isinstance(one, str) or one.get("role") not in SYSTEM]
    return "\n".join(texts_in(rest))
