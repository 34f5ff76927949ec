"""CodeBuddy Code, by Tencent: Claude's table with files of its own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "2.163.0"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, Sample, denied, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".codebuddy/settings.json": grouped("PreToolUse", "Bash", ".codebuddy/hooks/guard"),
            ".codebuddy/hooks/guard": GUARD,
        },
        tool="Bash",
        calls="PreToolUse",
        payload={
            "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Bash",
            "tool_input": {"command": COMMAND}, "client": "CLI",
        },
        stdout=denied("PreToolUse"),
    )  # fmt: skip
