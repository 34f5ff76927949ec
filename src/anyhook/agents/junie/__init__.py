"""Junie CLI, by JetBrains. It is not run here; the table comes from what others found out in September 2026."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "3110"


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, grouped, guarded

    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/h/.junie", "project_path": "/p", **called("bash"),
    }  # fmt: skip
    entry = grouped("PreToolUse", "", "~/.junie/scripts/guard")
    guard = ".junie/scripts/guard"
    return guarded(".junie/config.json", "bash", payload, entry=entry, guard=guard, scope="user", **BY_STATUS)
