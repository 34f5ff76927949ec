"""Hosts: one table per agent that can call us. They say what its payloads mean and what it honours, and do nothing."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.host_rows import Host

# Every agent with a bridge, by the name that the command takes.
HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "goose", "kimi", "vibe", "cline", "opencode", "kolega")


def host(name: str) -> Host:
    """A host's table."""
    module = f"anyhook.hosts.{name}"
    if not hasattr(sys.modules.get(module), "HOST"):  # another thread may be in the middle of it
        __import__(module)
    found: Host = sys.modules[module].HOST
    return found
