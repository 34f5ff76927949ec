"""Whether an edit of an agent's config would take our entry out of it, or switch the agent's hooks off. It works out
the new text and compares; it never writes it."""

from __future__ import annotations

import json

from anyhook.documents import edit
from anyhook.documents.parse import syntax_of
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.install.diagnosis import turned_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

OUR_ENTRY, OUR_NAME = "anyhook bridge", "anyhook"


def loses(path: str, given: dict[str, Json]) -> bool:
    """Whether a write or an edit, in our own names, would remove our part of the file."""
    try:
        before = read_bytes(path, MAX_FOREIGN_BYTES).decode()
    except (OSError, UnicodeDecodeError, Unreadable):
        return True
    old, new = str(given.get("old_text") or ""), str(given.get("new_text") or "")
    if "old_text" not in given:
        after = str(given.get("content") or "")
    elif old and old in before:
        after = before.replace(old, new)
    else:  # lines of a patch, which need not be adjacent
        return OUR_ENTRY in old and OUR_ENTRY not in new
    kept = _ours(path, before)
    if not kept:  # one of our programs, all of which counts
        return after != before
    left = _ours(path, after)
    return any(entry not in left for entry in kept) or next(turned_off(after, OUR_NAME), None) is not None


def _ours(path: str, text: str) -> list[tuple[str, Json]]:
    """Our entries as the agent would find them: the event, and the whole group or table."""
    try:
        document = edit.read(text, syntax_of(path, text))
    except edit.CannotEdit:
        return []
    hooks = edit.at(document, ("hooks",))
    rows = hooks if isinstance(hooks, dict) else {"": hooks}
    return [
        (event, group)
        for event, groups in rows.items()
        for group in (groups if isinstance(groups, list) else [])
        if OUR_ENTRY in json.dumps(group)
    ]
