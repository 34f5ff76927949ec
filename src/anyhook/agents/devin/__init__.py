"""Devin CLI, by Cognition, also inside its desktop and other editors. It is not run here; the table comes from its
documents, and from payloads that others captured with 3000.2.17."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "3000.11"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".devin/config.json": grouped("PreToolUse", "exec", ".devin/hooks/guard"),
            ".devin/hooks/guard": GUARD,
        },
        tool="exec",
        calls="PreToolUse",
        payload={
            "hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p", "tool_name": "exec",
            "tool_input": {"command": COMMAND, "shell_id": "main"},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
