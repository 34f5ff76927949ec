"""The live check's own hook, in a dialect that no agent reads itself, so it runs only through our entry."""

from __future__ import annotations

import json

PROBE_HOOK = "{home}/Documents/Kodik/Hooks/hooks.json"


def probe_hook(command: str) -> str:
    """A hook before every tool call."""
    handler = {"type": "command", "command": command}
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
