"""Cursor, the editor and its command line. It cannot be run here: its table comes from its documents and from payloads
that others captured."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "2026.09.26"


def sample() -> Sample:
    from anyhook.tables.sample_rows import REASON, called, guarded

    handler: Json = {"command": ".cursor/hooks/guard", "matcher": "Shell"}
    payload = {
        "conversation_id": "s", "hook_event_name": "preToolUse", "cursor_version": VERSION,
        **called("Shell", cwd="", timeout=30000),
    }  # fmt: skip
    entry: Json = {"version": 1, "hooks": {"preToolUse": [handler]}}
    told = {"permission": "deny", "user_message": REASON, "agent_message": REASON}
    return guarded(".cursor/hooks.json", "Shell", payload, entry=entry, event="preToolUse", stdout=told)
