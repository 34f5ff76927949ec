"""Kiro, by Amazon: the editor since 1.0 and `kiro-cli --v3`. It cannot be run here: its table comes from its documents,
and from what others measured with 1.0.165 to 1.2.37."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "1.2.37"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample

    action: dict[str, Json] = {"type": "command", "command": ".kiro/hooks/scripts/guard"}
    row: dict[str, Json] = {"trigger": "PreToolUse", "name": "guard", "matcher": "execute_bash", "action": action}
    return Sample(
        event="PreToolUse",
        files={".kiro/hooks/guard.json": {"version": "v1", "hooks": [row]}, ".kiro/hooks/scripts/guard": GUARD},
        tool="execute_bash",
        calls="PreToolUse",
        payload={"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "execute_bash",
                 "tool_input": {"command": COMMAND}},
        stderr=REASON,
        status=2,
    )  # fmt: skip
