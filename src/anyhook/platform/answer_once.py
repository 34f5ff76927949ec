"""A process that calls one function of a hook. The answer goes to the original stdout, and what the function prints
goes to stderr. It exits with status 1 if the function raises."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def answer_once(call: Callable[[], bytes], place: Callable[[BaseException], str] = lambda _: "") -> NoReturn:
    """Call the function, write its answer and exit. `place` says where in the hook's file an exception was raised."""
    answer_end = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        answer = call()
    except BaseException as error:  # noqa: BLE001 (whatever a hook raises, SystemExit included, is its own failure)
        sys.stderr.write(f"{place(error)}{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    sys.stderr.flush()
    while answer:
        answer = answer[os.write(answer_end, answer) :]
    os._exit(0)
