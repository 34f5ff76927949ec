"""Waiting in an event loop for a started process, without blocking the loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from anyhook.model.call import Run

if TYPE_CHECKING:
    from anyhook.handlers import Waitable

MAX_THREADS = 256
"""Far more than run at the same time: without a free thread, nothing would enforce a hook's deadline."""


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="anyhook-wait")


async def wait_in_thread(waitable: Waitable) -> Run:
    """The run. If the caller is cancelled, kill the process and wait until it is gone."""
    waiting = asyncio.get_running_loop().run_in_executor(_threads(), waitable.wait)
    try:
        run = await asyncio.shield(waiting)
    except asyncio.CancelledError:
        waitable.end("cancelled")
        await asyncio.shield(waiting)
        raise
    assert run is not None  # noqa: S101 (without a grace, wait() waits for the end)
    return run
