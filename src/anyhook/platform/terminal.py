"""Runs a program in a new terminal, as a person would: `python -m anyhook.platform.terminal PROGRAM ARGUMENT...`.
What the terminal shows goes to stdout."""

from __future__ import annotations

import os
import pty
import sys


def main(words: list[str]) -> int:
    return os.waitstatus_to_exitcode(pty.spawn(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
