"""Letta Code: groups in its settings, limits in milliseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.34.12"


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    payload = {"event_type": "PreToolUse", "working_directory": "/p", "agent_id": "s", **called("Bash")}
    return guarded(".letta/settings.json", "Bash", payload, **BY_STATUS)
