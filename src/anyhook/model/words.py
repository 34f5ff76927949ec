"""The words of verdicts, and those that switches take, in the command, the library, the settings and the tables
alike."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NONE, ALLOW, ASK, BLOCK = "none", "allow", "ask", "block"
"""Verdicts, weakest first."""
TRUST = ("ask", "all", "native", "none")
ON_FAILURE = ("native", "deny", "allow")
MODE = ("enforce", "shadow")
TRACEPARENT = "TRACEPARENT"
"""The variable with a caller's trace context, as W3C names it."""
RUN_VARIABLE = "ANYHOOK_RUN"
"""Names the run that a process belongs to: found by those who end it, and by an engine that was started inside a
hook."""
RECORD = "ANYHOOK_RECORD"
"""The variable that names the folder of whoever records events."""
FULL, HASHED = "full", "hashed"
BODIES = (FULL, HASHED, "none")
"""What the journal keeps of payloads."""


def checked(switch: str, value: str | None, known: tuple[str, ...]) -> None:
    """ValueError for an unknown word."""
    if value is not None and value not in known:
        raise ValueError(f"{switch}={value!r}: it must be one of {', '.join(known)}")


def listed(many: Sequence[str], one: str | Sequence[str]) -> list[str]:
    """A switch that may be repeated, in the library's plural or the command's singular."""
    return [*many, *([one] if isinstance(one, str) else one)]
