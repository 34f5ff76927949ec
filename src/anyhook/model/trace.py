"""Trace context: the place of a hook's run in a trace, as defined by W3C. It sends nothing; what it puts into a
hook's environment is written down with the run, so that an export finds the same ids."""

from __future__ import annotations

import os
from itertools import count

from anyhook.model.lean_json import hasher
from anyhook.model.words import TRACEPARENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STATE = "TRACESTATE"
NO_TRACE, NO_SPAN = "0" * 32, "0" * 16
MAX_KEPT = 1000
"""How many sessions' trace ids one engine remembers."""


def parent_of(env: Mapping[str, str]) -> str:
    """The caller's trace context; "" if it has none, or an invalid one."""
    given = env.get(TRACEPARENT, "")
    version, _, rest = given.partition("-")
    parts = rest.split("-")
    right = [len(part) for part in (version, *parts[:3])] == [2, 32, 16, 2] and not set("".join(parts[:3])) - _HEX
    if not right or version == "ff" or set(version) - _HEX or parts[0] == NO_TRACE or parts[1] == NO_SPAN:
        return ""
    return f"00-{parts[0]}-{parts[1]}-{parts[2]}" if version != "00" or len(parts) == 3 else ""


_HEX = frozenset("0123456789abcdef")


def trace_id(session: str) -> str:
    """The trace that the events of a session belong to where the caller is in none."""
    return hasher()(session.encode("utf-8", "surrogatepass"))[:32]


class Trace:
    """Gives each run of an engine a span of its own, in the caller's trace or in that of its session."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.parent = parent_of(env) if TRACEPARENT in env else ""
        self._spans = count(int.from_bytes(os.urandom(8)))  # taken from many threads at once, and never twice
        self._ids: dict[str, str] = {}

    def enter(self, env: dict[str, str], session: str) -> str:
        """Puts the next run's context into its environment, and returns it. A state belongs to the caller's context: it
        goes where that goes."""
        span = next(self._spans) & 0xFFFF_FFFF_FFFF_FFFF or 1
        parent = self.parent
        if parent:
            made = env[TRACEPARENT] = f"{parent[:36]}{span:016x}{parent[52:]}"
            return made
        env.pop(STATE, None)
        known = self._ids.get(session)
        if known is None:
            if len(self._ids) >= MAX_KEPT:
                self._ids.clear()
            known = self._ids[session] = trace_id(session)
        made = env[TRACEPARENT] = f"00-{known}-{span:016x}-01"
        return made
