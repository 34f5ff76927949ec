"""VS Code: Copilot in the editor, in the harness of its own and in that of Copilot CLI. It is not run here; the table
comes from its documents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "October 2026"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, denied, entered

    return Sample(
        event="PreToolUse",
        files={
            ".github/hooks/guard.json": entered("PreToolUse", ".github/hooks/scripts/guard", type="command"),
            ".github/hooks/scripts/guard": GUARD,
        },
        tool="run_in_terminal",
        calls="PreToolUse",
        payload={
            "timestamp": "2026-10-14T10:00:00.000Z", "hook_event_name": "PreToolUse", "session_id": "s",
            "tool_name": "run_in_terminal", "tool_input": {"command": COMMAND, "isBackground": False},
        },
        stdout={"permissionDecision": "deny", "permissionDecisionReason": REASON, **denied("PreToolUse")},
    )  # fmt: skip
