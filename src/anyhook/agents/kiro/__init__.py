"""Kiro, by Amazon: the editor since 1.0 and `kiro-cli --v3`. It cannot be run here: its table comes from its documents,
and from what others measured with 1.0.165 to 1.2.37."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "1.2.37"


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    guard = ".kiro/hooks/scripts/guard"
    action: dict[str, Json] = {"type": "command", "command": guard}
    row: dict[str, Json] = {"trigger": "PreToolUse", "name": "guard", "matcher": "execute_bash", "action": action}
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("execute_bash")}
    entry: Json = {"version": "v1", "hooks": [row]}
    return guarded(".kiro/hooks/guard.json", "execute_bash", payload, entry=entry, guard=guard, **BY_STATUS)
