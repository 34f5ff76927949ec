"""Run a command in a real pseudo-terminal of a given size, and collect its output."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Mapping

from command import InTerminal
from conftest import World

NONE: Mapping[str, str] = {}


class Terminal:
    def __init__(
        self, world: World, *words: str, columns: int = 120, lines: int = 30, env: Mapping[str, str] = NONE
    ) -> None:
        self.ours, theirs = pty.openpty()
        os.set_blocking(self.ours, False)
        self.resize(columns, lines)
        self.before = termios.tcgetattr(theirs)
        env = {**world.env, "TERM": "xterm-256color", **env}
        self.process = InTerminal(words, env=env, cwd=world.project, terminal=theirs)
        self._theirs = theirs
        self.said = ""

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, until: str) -> None:
        deadline = time.monotonic() + 120
        while until not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.said):
            assert time.monotonic() < deadline, self.said[-2000:]
            self._more(0.2)

    def _more(self, wait_s: float) -> None:
        if select.select([self.ours], [], [], wait_s)[0]:
            self.said += os.read(self.ours, 65_536).decode("utf-8", "replace")

    def end(self) -> int:
        """Keep reading so that the process can write its last output, then wait for it. Check that the terminal's modes
        are restored."""
        while self.process.is_running():
            self._more(0.1)
        status = self.process.wait(30)
        self._more(0)
        after = termios.tcgetattr(self._theirs)
        os.close(self._theirs)
        os.close(self.ours)
        assert after == self.before, "the terminal is left as it was"
        return status
