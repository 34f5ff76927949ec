"""Crush, by Charm. Its package downloads the program, so it is not run here; the table comes from its documents and
from what others measured with 0.88."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.96.1"


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, entered, guarded

    payload = {"event": "PreToolUse", "session_id": "s", "cwd": "/p", **called("bash")}
    entry = entered("PreToolUse", ".crush/guard", matcher="^bash$")
    told = {"version": 1, **decided("deny")}
    return guarded("crush.json", "bash", payload, entry=entry, guard=".crush/guard", stdout=told)
