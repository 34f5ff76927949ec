"""What the native launcher says to the command that it starts, by a first word: to be the server, to start one when the
answer is given, or that a worker was lost."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def take_mark(stand_in: Callable[[int], None]) -> tuple[list[str], Callable[[], None] | None]:
    """The words of the call itself, and what to do after it is answered."""
    mark = sys.argv.pop(1)
    if mark == "--warm-serve":
        from anyhook.warm.server import serve

        serve(stand_in, sys.argv[1], int(sys.argv[2]))
    if mark == "--warm-lost":
        from anyhook.warm.client import lose_worker

        lose_worker()
    return sys.argv[1:], _start if mark == "--warm-start" else None


def _start() -> None:
    """Where no server can be started, every call is a cold one."""
    try:
        from anyhook.warm.place import is_wanted

        sys.stdout.flush()
        if is_wanted(os.environ):
            from anyhook.warm.start import start_server

            start_server(os.environ)
    except Exception:  # noqa: BLE001 (the answer is given, and nothing may change its status; `anyhook warm` shows the rest)
        return
