"""Command lines that try a new hook: the options of `fire` that put a text where the event's hooks see it. It starts
nothing."""

from __future__ import annotations

from anyhook.model import lean_json as json
from anyhook.model.event import FIELDS
from anyhook.testing.scaffold.script import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.rows import EventRow

OPTIONS = {
    "prompt": "--prompt", "message": "--message", "source": "--source", "trigger": "--trigger", "reason": "--reason",
    "agent_type": "--agent",
}  # fmt: skip
"""Canonical fields that have an option of their own."""


def trial(row: EventRow, canonical: str, tool: str, marked: bool) -> list[str]:
    """The arguments of `fire` for an event that a new hook blocks or records, or, not marked, lets pass."""
    text = f"say {MARK}" if marked else "say hello"
    cells = [field.cell for field in row.payload]
    words = ["fire", row.native]
    if "tool" in cells:
        words += ["--tool", tool]
    if canonical in ("pre_tool", "permission_request"):
        return [*words, "--input", json.dumps({"command": text.replace("say", "echo")}, False)]
    if canonical == "post_tool":
        return [*words, "--output", text]
    if canonical == "post_tool_failure":
        return [*words, "--tool-error", text]
    for cell in cells:
        if isinstance(cell, str) and cell in OPTIONS:
            return [*words, OPTIONS[cell], text]
    for cell in cells:
        if isinstance(cell, str) and cell != "tool" and isinstance(FIELDS[cell], str):
            return [*words, "--data", json.dumps({cell: text}, False)]
    return [*words, "--session", text.replace(" ", "-")]
