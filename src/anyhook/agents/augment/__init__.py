"""Augment: its command line Auggie and its editors. Its licence forbids looking inside, so the table comes from its
documents alone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.36"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, Sample, denied, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".augment/settings.json": grouped("PreToolUse", "launch-process", ".augment/hooks/guard"),
            ".augment/hooks/guard": GUARD,
        },
        tool="launch-process",
        calls="PreToolUse",
        payload={
            "hook_event_name": "PreToolUse", "conversation_id": "s", "workspace_roots": ["/p"],
            "tool_name": "launch-process", "tool_input": {"command": COMMAND}, "is_mcp_tool": False,
        },
        stdout=denied("PreToolUse"),
    )  # fmt: skip
