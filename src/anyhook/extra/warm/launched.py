"""What the native launcher tells the command through its first argument: be the server, start one after the answer, or
a worker was lost."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def take_warm_mark(mark: str, stand_in: Callable[[int], int]) -> Callable[[], None] | None:
    """A function to call after the answer, or None."""
    if mark == "--warm-serve":
        from anyhook.extra.warm.server import serve

        serve(stand_in, sys.argv[1], int(sys.argv[2]))
    if mark == "--warm-lost":
        from anyhook.extra.warm.client import lose_worker

        lose_worker()
    is_awaited = os.environ.get("ANYHOOK_WARM") == "on"  # then the call itself starts one, and waits for it
    return _start if mark == "--warm-start" and not is_awaited else None


def _start() -> None:
    """If no server can be started, every call is cold."""
    try:
        from anyhook.extra.warm.place import is_wanted

        sys.stdout.flush()
        if is_wanted(os.environ):
            from anyhook.extra.warm.start import is_worth, start_server

            if is_worth(os.environ):
                start_server(os.environ)
    except Exception:  # noqa: BLE001 (the answer is given, and nothing may change its status; `anyhook warm` shows the rest)
        return
