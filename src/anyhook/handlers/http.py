"""Handlers that are a URL: the event is posted there, and the response body counts as the output of a process. It
follows no redirection, uses no proxy, and sends no variable that the declaration does not name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from anyhook.model.call import Call
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.words import Ending
from anyhook.platform.child import OUTPUT_LIMIT
from anyhook.platform.watcher import InThread

VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class HttpRun(InThread):
    """One request in progress."""

    def __init__(self, hook: Hook, call: Call, env: Mapping[str, str]) -> None:
        self._spec, self._call, self._env = hook.spec, call, env
        self._connection: HTTPConnection | None = None
        super().__init__(hook.name, call.limit_s)

    def end(self, ending: Ending = "cancelled") -> None:
        """Stop waiting for the answer."""
        self._conclude(ending)
        connection = self._connection
        socket = connection.sock if connection is not None else None
        if socket is not None:
            try:
                socket.shutdown(2)  # wakes the thread that reads from it
            except OSError:
                pass

    # -- in the thread

    def _work(self) -> None:
        try:
            status, body = self._post()
        except TimeoutError:
            self._conclude("timed_out")
        except (OSError, HTTPException, ValueError) as error:
            self._conclude(
                "exited", 1, stderr=f"no answer from {self._spec['url']}: {str(error) or type(error).__name__}"
            )
        else:
            if 200 <= status < 300:
                self._conclude("exited", 0, body)
            else:
                self._conclude("exited", 1, body, f"{self._spec['url']} answered with status {status}")

    def _post(self) -> tuple[int, bytes]:
        url = urlsplit(str(self._spec["url"]))
        make = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = self._connection = make(url.hostname or "", url.port, timeout=max(self._left_s(), 0.001))
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        headers = {"Content-Type": "application/json", **filled(self._spec, self._env)}
        try:
            connection.request("POST", target, self._call.stdin, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(OUTPUT_LIMIT + 1)
        finally:
            connection.close()


def filled(spec: Mapping[str, Json], env: Mapping[str, str]) -> dict[str, str]:
    """The headers, with the values of variables that the declaration allows; any other is empty."""
    headers, allowed = spec.get("headers"), spec.get("allowedEnvVars")
    names = [name for name in allowed if isinstance(name, str)] if isinstance(allowed, list) else []

    def value(found: re.Match[str]) -> str:
        name = found.group(1) or found.group(2)
        return env.get(name, "") if name in names else ""

    return {key: VARIABLE.sub(value, str(text)) for key, text in headers.items()} if isinstance(headers, dict) else {}
