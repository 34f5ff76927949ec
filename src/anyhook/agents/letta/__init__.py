"""Letta Code: groups in its settings, limits in milliseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.34.12"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".letta/settings.json": grouped("PreToolUse", "Bash", ".letta/hooks/guard"),
            ".letta/hooks/guard": GUARD,
        },
        tool="Bash",
        calls="PreToolUse",
        payload={
            "event_type": "PreToolUse", "working_directory": "/p", "agent_id": "s", "tool_name": "Bash",
            "tool_input": {"command": COMMAND},
        },
        stderr=REASON,
        status=2,
    )  # fmt: skip
