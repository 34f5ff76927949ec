"""Devin CLI, by Cognition, which also runs inside its desktop app and other editors. It is not run here; the table
comes from its documents, and from payloads that others captured with 3000.2.17."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "3000.11"


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    call = called("exec", shell_id="main")
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p", **call}
    return guarded(".devin/config.json", "exec", payload, stdout=decided("block"))
