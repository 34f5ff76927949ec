"""Kodik: an IDE with hooks of a project, a user and plugins. It is not public, so it was never run here. Everything
comes from its documents and from the plugins that its maker publishes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.words import OwnScope
    from anyhook.tables.sample_rows import Sample

VERSION = "2026-11"
"""It has no version that people could name: the month of its documents."""


def chat_scope() -> OwnScope:
    """Its document has people describe a hook in the chat: where such a hook goes."""
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
