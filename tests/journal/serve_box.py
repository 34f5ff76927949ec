"""Run `anyhook serve` in a separate process and read what it sends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from conftest import World

BLOCKS = [("kodik:user:PreToolUse:guard", "block", 0.012, "exited")]


class Served:
    """A running `anyhook serve`."""

    def __init__(self, world: World, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anyhook", "serve", "--port", str(port)],
            env=world.env, cwd=world.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[\w-]{32}/)", self.address)
        assert found, self.address
        self.port, self.start = int(found[1]), found[2]
        self._open: list[HTTPConnection | HTTPResponse] = []

    def get(self, path: str, **headers: str) -> HTTPResponse:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=240)
        connection.request("GET", self.start + path, headers=headers)
        answer = connection.getresponse()
        self._open.extend((answer, connection))
        return answer

    def end(self, number: int) -> tuple[int, str]:
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, err = self.process.communicate(timeout=240)
        for each in self._open:  # not earlier: the server must end while clients are still connected
            each.close()
        return self.process.returncode, err


@contextmanager
def served(world: World, number: int = signal.SIGTERM, port: int = 0) -> Iterator[Served]:
    server = Served(world, port)
    try:
        yield server
    finally:
        status, err = server.end(number)
    assert (status, "Traceback" in err) == (0, False), err


def messages(stream: HTTPResponse) -> Iterator[tuple[str, Any]]:
    kind = ""
    while line := stream.readline().decode().strip("\r\n") or "-":
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            yield kind, json.loads(line[6:])
