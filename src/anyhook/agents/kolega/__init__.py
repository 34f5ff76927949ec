"""Kolega Code: `hooks.json` of a state directory and a project, read by the product and by us; nothing is installed
there, so nothing is driven either."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.45.1"


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, grouped, guarded

    tool = "execute_terminal_command"
    entry = {"schema_version": 1, **grouped("PreToolUse", tool, ".kolega/hooks/guard")}
    return guarded(".kolega/hooks.json", tool, {"session_id": "s", **called("exec_command")}, entry=entry)
