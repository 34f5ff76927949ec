"""The names that cells of tables may hold, and how one that is not among them is reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args, get_origin

from anyhook.model.json_types import Json
from anyhook.model.outcome import EFFECTS
from anyhook.model.words import HOOK_SCOPES, VERDICTS, Verdict
from anyhook.tables.shapes import guess

Layering = Literal["concatenate", "replace_lists", "later_name_wins", "earlier_name_wins"]
"""How the layers of a dialect meet."""
KeyKind = Literal["string", "bool", "object", "strings", "messages", "texts by name", "any"]
"""The JSON type of a key in a hook's answer."""
KeyDoes = Literal[
    "reason", "context", "messages", "prompt", "tool_input", "tool_output", "output_text", "follow_ups", "history",
    "recipe", "block", "block_unless", "end_turn", "end_turn_unless", "verdict", "note",
]  # fmt: skip
"""What a key of a hook's answer does."""
Words = tuple[tuple[str, Verdict, tuple[str, ...]], ...]
"""The words of a key: word, verdict, and the canonical events on which it has an effect (() for all)."""
ExitMeaning = Literal["pass", "block", "fail", "block_if_said"]
ReasonSource = Literal["stderr", "stdout", "reason", "message"]
"""Where the reason of a block is taken from."""
TextDoes = Literal["context", "messages"]
"""What plain text on stdout is."""
OutputKind = Literal["nothing", "blank", "object", "text", "garbage"]
Printed = tuple[OutputKind, Json]
"""What a hook printed: what it is, and its value."""
Rewritable = Literal["input", "prompt", "output"]
"""The fields of an event that a hook can rewrite."""
ScaffoldShape = Literal["list", "groups", "rows", "folder", "executable", "events", "rules"]
EntryStyle = Literal["groups", "list", "rows", "tables", "scripts", "module"]
Without = Literal["open", "refuses", "unknown"]
"""What a product does if the program of our entry is missing."""

SCOPES = tuple(scope for scope in HOOK_SCOPES if scope not in ("", "builtin"))
OUR_TOOLS = (
    "shell", "read_file", "write_file", "edit_file", "list_files", "grep", "delegate_task", "web_fetch",
    "web_search",
)  # fmt: skip
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
WORDS: dict[str, Iterable[str]] = {
    **{name: get_args(words) for name, words in tuple(vars().items()) if get_origin(words) is Literal},
    "Cause": [cause for cause in CAUSES if cause != "blocked"], "Effect": EFFECTS, "Verdict": VERDICTS,
}  # fmt: skip
"""The closed sets of words, by the names that annotations have for them."""


def unknown(cell: str, names: Iterable[str], known: Iterable[str], what: str) -> Iterator[str]:
    """A sentence for each name that is not known."""
    listed = tuple(known)
    for name in names:
        if name not in listed:
            hint = guess(str(name), listed) or f" Known: {', '.join(listed)}."
            yield f"{cell}: there is no {what} {name!r}.{hint}"


def doubled(cell: str, names: list[str]) -> Iterator[str]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"{cell}: {name!r} appears more than once, and only the first counts"
