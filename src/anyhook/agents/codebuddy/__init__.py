"""CodeBuddy Code, by Tencent: Claude's table with files of its own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "2.163.0"


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("Bash"), "client": "CLI"}
    return guarded(".codebuddy/settings.json", "Bash", payload)
