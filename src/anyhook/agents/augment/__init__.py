"""Augment: the command line Auggie and the editor extensions. Its licence forbids looking inside, so the table comes
from its documents alone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "0.36"


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload: dict[str, Json] = {
        "hook_event_name": "PreToolUse", "conversation_id": "s", "workspace_roots": ["/p"], **called("launch-process"),
        "is_mcp_tool": False,
    }  # fmt: skip
    return guarded(".augment/settings.json", "launch-process", payload)
