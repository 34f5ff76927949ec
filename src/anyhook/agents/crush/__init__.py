"""Crush, by Charm. Its package fetches the program from elsewhere, so it is not run here; the table comes from its
documents and from what others measured with 0.88."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.96.1"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, entered

    return Sample(
        event="PreToolUse",
        files={"crush.json": entered("PreToolUse", ".crush/guard", matcher="^bash$"), ".crush/guard": GUARD},
        tool="bash",
        calls="PreToolUse",
        payload={
            "event": "PreToolUse", "session_id": "s", "cwd": "/p", "tool_name": "bash",
            "tool_input": {"command": COMMAND},
        },
        stdout={"version": 1, "decision": "deny", "reason": REASON},
    )  # fmt: skip
