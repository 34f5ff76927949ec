"""Call and Run: what to start, and the result. Neither knows a dialect."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.words import Ending


class Call(Record):
    """One process to start: everything that `platform/run.py` needs and `explain` shows."""

    argv: tuple[str, ...]
    stdin: bytes
    env: dict[str, str]
    cwd: str
    limit_s: float
    mark: str
    """`NAME=value`, an entry of `env` that is unique to this run. Every descendant inherits it, so after the limit even
    a grandchild that left the process group and the session can be found and ended."""
    trace: str = ""
    """The trace context in its environment; "" if its dialect accepts nothing from us."""
    may_be_warm: bool = False
    """Whether a Python script may run in a warm interpreter."""


class Run(Record):
    """How one process ended. Reading its output is another step."""

    ending: Ending
    exit_code: int | None
    """The exit status; minus the signal's number if a signal ended it; None if nothing was started, or another part of
    the program took the status."""
    stdout: bytes
    stderr: bytes
    started_ns: int
    """Wall clock, nanoseconds since the epoch."""
    duration_s: float
    error: str | None = None
    """Why it was not started, or why its status is unknown."""
