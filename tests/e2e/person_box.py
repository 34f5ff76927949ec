"""A person at a terminal: runs a verb there, and types."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import World


def at_a_terminal(world: World, typed: bytes, words: Sequence[str]) -> tuple[int, str]:
    """Run the command on a terminal. Returns its exit status and its output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "anyhook", *words]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=world.env, cwd=world.project
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # the other end is closed
            pass
        process.wait()
    os.close(ours)
    return process.returncode, said.decode()
