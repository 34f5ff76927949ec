"""Junie CLI, by JetBrains. It is not run here; the table comes from what others read and measured in September 2026."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "3110"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, grouped

    return Sample(
        event="PreToolUse",
        scope="user",
        files={
            ".junie/config.json": grouped("PreToolUse", "", "~/.junie/scripts/guard"),
            ".junie/scripts/guard": GUARD,
        },
        tool="bash",
        calls="PreToolUse",
        payload={
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/h/.junie", "project_path": "/p",
            "tool_name": "bash", "tool_input": {"command": COMMAND},
        },
        stderr=REASON,
        status=2,
    )  # fmt: skip
