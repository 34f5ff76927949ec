"""Kodik: an IDE with hooks from projects, users and plugins. It is not public, so it was never run here. Everything
comes from its documents and from the plugins that its maker publishes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.words import OwnScope
    from anyhook.tables.sample_rows import Sample

VERSION = "2026-11"
"""The month of its documents, because it has no public version number."""


def chat_scope() -> OwnScope:
    """Where a hook goes that a user describes in the chat, as its document suggests."""
    return "project"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".kodik/hooks/hooks.json": grouped("PreToolUse", "Bash", ".kodik/hooks/guard"),
            ".kodik/hooks/guard": GUARD,
        },
        tool="Bash",
        calls="PreToolUse",
        payload={
            "hook_event_name": "PreToolUse", "tool_name": "shell", "tool_input": {"command": COMMAND},
            "context": {"session_id": "s", "cwd": "/p"},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
