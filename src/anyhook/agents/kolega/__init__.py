"""Kolega Code: `hooks.json` of a state directory and a project, read by the product and by us; nothing is installed
there, so nothing is driven either."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.45.1"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, Sample, denied, grouped

    return Sample(
        event="PreToolUse",
        files={
            ".kolega/hooks.json": {
                "schema_version": 1,
                **grouped("PreToolUse", "execute_terminal_command", ".kolega/hooks/guard"),
            },
            ".kolega/hooks/guard": GUARD,
        },
        tool="execute_terminal_command",
        calls="PreToolUse",
        payload={"session_id": "s", "tool_name": "exec_command", "tool_input": {"command": COMMAND}},
        stdout=denied("PreToolUse"),
    )
