"""Waiting in an event loop for something that was started, without holding the loop. It starts nothing itself."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.handlers import Waitable
    from anyhook.model.call import Run

MAX_THREADS = 256
"""Far above what runs at once: a hook whose deadline nobody watches because all threads are busy would outlive it."""


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="anyhook-wait")


async def wait_in_thread(waitable: Waitable) -> Run:
    """The run. Cancelling the caller ends what was started, and waits for that."""
    waiting = asyncio.get_running_loop().run_in_executor(_threads(), waitable.wait)
    try:
        run = await asyncio.shield(waiting)
    except asyncio.CancelledError:
        waitable.end("cancelled")
        await asyncio.shield(waiting)
        raise
    assert run is not None  # noqa: S101 (without a grace, wait() waits for the end)
    return run
