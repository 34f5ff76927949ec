"""Mastra Code: flat entries in a file of events."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "0.32.1"


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    tool = "execute_command"
    handler: Json = {"type": "command", "command": ".mastracode/hooks/guard", "matcher": {"tool_name": f"^{tool}$"}}
    payload = {"session_id": "session-init", "cwd": "/p", "hook_event_name": "PreToolUse", **called(tool)}
    return guarded(".mastracode/hooks.json", tool, payload, entry={"PreToolUse": [handler]}, **BY_STATUS)
