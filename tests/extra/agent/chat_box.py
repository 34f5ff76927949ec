"""Runs the real chat in a pseudo-terminal. Tests type into it and check what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
import time
from typing import TYPE_CHECKING, Any

import pexpect
from agent_box import script
from pexpect.fdpexpect import fdspawn

from command import InTerminal

if TYPE_CHECKING:
    import signal
    from pathlib import Path

    from conftest import World

READY = "\x1b[?2004h"
"""What the line editor sends when it starts to read keys."""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
LIMIT_S = 60


class Terminal:
    """One chat process and its terminal."""

    def __init__(self, world: World, model: str, *words: str, **env: str) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
        self.process = InTerminal(
            ["agent", "chat", "--model", model, *words],
            env={**world.env, "TERM": "xterm", **env}, cwd=world.project, terminal=theirs,
        )  # fmt: skip
        os.close(theirs)
        self.child = fdspawn(ours, encoding="utf-8", timeout=LIMIT_S)
        self.raw = ""

    def sees(self, text: str) -> str:
        """Wait for a text. Returns the output before it, without terminal codes."""
        self.child.expect_exact(text)
        before = self.child.before or ""
        self.raw += before + text
        return CONTROL.sub("", before)

    def types(self, text: str) -> None:
        """Wait until the chat reads keys, then type a line."""
        self.sees(READY)
        self.child.send(text + "\r")

    def answers(self, question: str, text: str) -> str:
        """Wait for a question and answer it. Returns the text before it."""
        said = self.sees(READY) + self.sees(question)  # a new question, not the echo of an answered one
        self.child.send(text + "\r")
        return said

    def presses(self, key: str) -> None:
        self.child.send(chr(ord(key) & 0x1F))

    def until(self, path: Path) -> None:
        """Wait for a file that something in the chat creates."""
        while not path.exists():
            assert self.process.is_running()
            time.sleep(0.02)

    def kills(self, number: signal.Signals) -> None:
        self.process.signal(number)

    def goes_away(self) -> int:
        """Close the terminal. Returns the exit status."""
        self.child.close()
        return self.process.wait()

    def ends(self) -> tuple[int, str]:
        """Wait for the chat to exit. Returns its exit status and its last output."""
        self.child.expect(pexpect.EOF)
        last = self.child.before or ""
        self.raw += last
        self.child.close()
        return self.process.wait(), CONTROL.sub("", last)


def chat(world: World, *steps: Any, words: tuple[str, ...] = (), **env: str) -> Terminal:
    """Start a chat with a model that follows these steps. The chat asks for approval by default."""
    return Terminal(world, script(world, *steps), *words, **env)
