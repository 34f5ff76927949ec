"""VS Code: Copilot in the editor, in its own harness and in Copilot CLI's. It is not run here; the table comes from its
documents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "October 2026"


def sample() -> Sample:
    from anyhook.tables.sample_rows import REASON, called, denied, entered, guarded

    guard = ".github/hooks/scripts/guard"
    payload = {
        "timestamp": "2026-10-14T10:00:00.000Z", "hook_event_name": "PreToolUse", "session_id": "s",
        **called("run_in_terminal", isBackground=False),
    }  # fmt: skip
    entry = entered("PreToolUse", guard, type="command")
    told = {"permissionDecision": "deny", "permissionDecisionReason": REASON, **denied("PreToolUse")}
    return guarded(".github/hooks/guard.json", "run_in_terminal", payload, entry=entry, guard=guard, stdout=told)
