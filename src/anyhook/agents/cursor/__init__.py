"""Cursor, the editor and its command line. It cannot be run here: its table comes from its documents and from payloads
that others captured."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "2026.09.26"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample

    entry: dict[str, Json] = {"command": ".cursor/hooks/guard", "matcher": "Shell"}
    return Sample(
        event="preToolUse",
        files={
            ".cursor/hooks.json": {"version": 1, "hooks": {"preToolUse": [entry]}},
            ".cursor/hooks/guard": GUARD,
        },
        tool="Shell",
        calls="preToolUse",
        payload={
            "conversation_id": "s", "hook_event_name": "preToolUse", "cursor_version": VERSION, "tool_name": "Shell",
            "tool_input": {"command": COMMAND, "cwd": "", "timeout": 30000},
        },
        stdout={"permission": "deny", "user_message": REASON, "agent_message": REASON},
    )  # fmt: skip
