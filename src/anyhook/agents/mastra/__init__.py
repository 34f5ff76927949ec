"""Mastra Code: flat entries in a file of events."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "0.32.1"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample

    matcher: Json = {"tool_name": "^execute_command$"}
    entry: Json = {"type": "command", "command": ".mastracode/hooks/guard", "matcher": matcher}
    return Sample(
        event="PreToolUse",
        files={".mastracode/hooks.json": {"PreToolUse": [entry]}, ".mastracode/hooks/guard": GUARD},
        tool="execute_command",
        calls="PreToolUse",
        payload={
            "session_id": "session-init", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "execute_command",
            "tool_input": {"command": COMMAND},
        },
        stderr=REASON,
        status=2,
    )  # fmt: skip
