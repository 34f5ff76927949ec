"""A pool of processes for work that takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection


@contextmanager
def process_pool(jobs: int, end_with: Callable[[Connection], None]) -> Iterator[Executor]:
    """A pool of new processes. Each calls `end_with` with a pipe that closes when this process ends."""
    context = get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, context, end_with, (theirs,))
    try:
        yield pool
        pool.shutdown()
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()
