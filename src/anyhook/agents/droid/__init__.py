"""Factory Droid. It wants its maker's account, so it is not run here; the table comes from its documents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.225"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, Sample, denied, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".factory/hooks.json": grouped("PreToolUse", "Execute", ".factory/hooks/guard")["hooks"],
            ".factory/hooks/guard": GUARD,
        },
        tool="Execute",
        calls="PreToolUse",
        payload={
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "permission_mode": "auto-low",
            "tool_name": "Execute", "tool_input": {"command": COMMAND, "summary": "x", "riskLevel": "low"},
        },
        stdout=denied("PreToolUse"),
    )  # fmt: skip
