"""The names that cells of tables may hold, and how one that is not among them is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.words import HOOK_SCOPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCOPES = tuple(scope for scope in HOOK_SCOPES if scope not in ("", "builtin"))
BLOCKS = ("abort", "deny_tool", "end_turn", "keep_working", "deny_permission", "skip", "feedback", "advisory")
VERDICTS = ("block", "allow", "ask", "none")
LAYERINGS = ("concatenate", "replace_lists", "later_name_wins", "earlier_name_wins")
KINDS = ("string", "bool", "object", "strings", "messages", "texts by name", "any")
DOES = (
    "reason", "context", "messages", "prompt", "tool_input", "tool_output", "output_text", "follow_ups", "history",
    "block", "block_unless", "end_turn", "end_turn_unless", "verdict", "note",
)  # fmt: skip
EXITS = ("pass", "block", "fail", "block_if_said")
REASONS = ("stderr", "stdout", "reason", "message")
CHAINS = ("input", "prompt", "output")
OUR_TOOLS = (
    "shell", "read_file", "write_file", "edit_file", "list_files", "grep", "delegate_task", "web_fetch",
)  # fmt: skip
SCAFFOLDS = ("list", "groups", "rows", "folder", "executable", "rules")
STYLES = ("groups", "list", "rows", "tables", "scripts", "module")
CAUSES = {
    "timed_out": "the hook was still running at its time limit",
    "blocked": "the hook blocked",
    "signalled": "a signal killed the hook",
    "overflowed": "the hook printed more than 10 MB",
    "exit": "the hook exited with a status that counts as a failure",
    "output": "the hook printed output that its dialect does not accept",
    "not_started": "the hook could not be started (`check` reports this before it happens)",
    "cancelled": "anyhook killed the hook because nothing was waiting for it any more",
}
"""What a dialect's own error ids stand for."""


def unknown(cell: str, names: Iterable[str], known: Iterable[str], what: str) -> Iterator[str]:
    """A sentence for each name that is not known."""
    listed = tuple(known)
    for name in names:
        if name not in listed:
            from anyhook.tables.shapes import guess

            hint = guess(str(name), listed) or f" Known: {', '.join(listed)}."
            yield f"{cell}: there is no {what} {name!r}.{hint}"


def doubled(cell: str, names: list[str]) -> Iterator[str]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"{cell}: {name!r} appears more than once, and only the first counts"
