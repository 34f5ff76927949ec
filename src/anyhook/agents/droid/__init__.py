"""Factory Droid. It needs an account with its maker, so it is not run here; the table comes from its documents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.225"


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, grouped, guarded

    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "permission_mode": "auto-low",
        **called("Execute", summary="x", riskLevel="low"),
    }  # fmt: skip
    entry = grouped("PreToolUse", "Execute", ".factory/hooks/guard")["hooks"]
    return guarded(".factory/hooks.json", "Execute", payload, entry=entry)
