"""Handlers that are a URL: the event is posted there, and the response body counts as the output of a process. It
follows no redirection, uses no proxy, and sends no variable that the declaration does not name."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic, time_ns
from urllib.parse import urlsplit

from anyhook.model.call import Call, Run
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.words import Ending
from anyhook.platform.child import OUTPUT_LIMIT

VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class HttpRun:
    """One request in progress. A thread runs it; any thread may wait for it or end it."""

    def __init__(self, hook: Hook, call: Call, env: Mapping[str, str]) -> None:
        self._spec, self._call, self._env = hook.spec, call, env
        self._started_ns, self._started_s = time_ns(), monotonic()
        self._done, self._lock = threading.Event(), threading.Lock()
        self._run: Run | None = None
        self._connection: HTTPConnection | None = None
        threading.Thread(target=self._work, name=f"anyhook-{hook.name}", daemon=True).start()

    def wait(self, grace_s: float | None = None) -> Run | None:
        left_s = self._left_s()
        self._done.wait(left_s if grace_s is None else min(grace_s, left_s))
        if self._run is None and self._left_s() <= 0.0:
            self.end("timed_out")
        return self._run

    def end(self, ending: Ending = "cancelled") -> None:
        """Stop waiting for the answer."""
        self._conclude(ending, None)
        connection = self._connection
        socket = connection.sock if connection is not None else None
        if socket is not None:
            try:
                socket.shutdown(2)  # wakes the thread that reads from it
            except OSError:
                pass

    def _left_s(self) -> float:
        return self._started_s + self._call.limit_s - monotonic()

    def _conclude(self, ending: Ending, code: int | None, stdout: bytes = b"", stderr: str = "") -> None:
        if len(stdout) > OUTPUT_LIMIT:
            ending, code, stdout = "overflowed", None, stdout[:OUTPUT_LIMIT]
        with self._lock:
            if self._run is None:
                spent_s = monotonic() - self._started_s
                self._run = Run(ending, code, stdout, stderr.encode("utf-8", "replace"), self._started_ns, spent_s)
                self._done.set()

    # -- in the thread

    def _work(self) -> None:
        try:
            status, body = self._post()
        except TimeoutError:
            self._conclude("timed_out", None)
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
