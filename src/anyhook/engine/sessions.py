"""Sessions of an embedding program: `session_end` reaches the hooks even if the program is terminated. Afterwards the
signal does what it would have done."""

from __future__ import annotations

import os
import signal

from anyhook.model.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from anyhook.engine.engine import Engine
    from anyhook.model.json_types import Json


def end_on_sigterm(engine: Engine, data: Callable[[], dict[str, Json]] = dict) -> Callable[[], None]:
    """On SIGTERM fire `session_end` with the reason `sigterm`, then let the signal take its course. `data` returns the
    event's other fields at that time. Returns a function that removes the handler. Call it in the main thread."""
    before = signal.getsignal(signal.SIGTERM)

    def restore() -> None:
        signal.signal(signal.SIGTERM, before)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        restore()
        engine.fire_sync(Event.of("session_end", **{"reason": "sigterm", **data()}))
        engine.close_sync()
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, on_signal)
    return restore
