"""Whether an edit of an agent's settings would change what they say about hooks: our entry, other hooks, a switch that
turns them off. It computes the new text and compares it, without writing it."""

from __future__ import annotations

from collections.abc import Iterable

from anyhook.documents import edit
from anyhook.documents.parse import syntax_of
from anyhook.documents.pins import json_keys
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.install.off_variables import named_in_file
from anyhook.model.json_types import Json
from anyhook.model.pattern import later
from anyhook.rules.calls import PATHS
from anyhook.tables.host_rows import Host

OUR_ENTRY = "anyhook bridge"
WORDS = ("hook", "plugin")
"""Parts of the names of keys about hooks."""
MOVES_PLACES = later(r"ANYHOOK_\w+|XDG_\w+|PYTHON\w+|(?:DY)?LD_\w+|HOME|PATH|BASH_ENV|ENV|\w+_(?:HOME|CONFIG_DIR)")
"""Variables that affect which anyhook an entry starts, and where it finds its settings and approvals."""
OLD = ("old_text", "old_string", "old_str", "oldText", "search", "old")
NEW = ("new_text", "new_string", "new_str", "newText", "replace", "new")
WHOLE = ("content", "contents", "file_text", "text", "code_edit")


def breaks(path: str, given: dict[str, Json], variables: tuple[str, ...] = ()) -> bool:
    """Whether a write or an edit would change what the file says about hooks, or set one of the variables in its `env`.
    True in doubt."""
    before = _before(path)
    after = _after(before, given) if before is not None else None
    if before is None or after is None:
        return True
    if after == before:
        return False
    told = _about_hooks(path, before, variables) if before.strip() else {}
    left = _about_hooks(path, after, variables) if after.strip() else {}
    return told is None or left is None or told != left


def breaks_keys(path: str, given: dict[str, Json], keys: tuple[str, ...]) -> bool:
    """Whether a write or an edit would change what these keys of a JSON file say. True in doubt."""
    before = _before(path)
    after = _after(before, given) if before is not None else None
    return before is None or after is None or json_keys(before, keys) != json_keys(after, keys)


def new_variables(path: str, given: dict[str, Json], host: Host) -> list[str]:
    """The variables that turn the agent's hooks off and that a file of variables would newly set."""
    before = _before(path) or ""
    known = named_in_file(before, host)
    return [name for name in named_in_file(_after(before, given) or "", host) if name not in known]


def _before(path: str) -> str | None:
    """A file's text; None if it cannot be read."""
    try:
        return read_bytes(path, MAX_FOREIGN_BYTES).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError, Unreadable):
        return None


def _after(before: str, given: dict[str, Json]) -> str | None:
    """The text after the change; None if the input does not say."""
    edits = given.get("edits")
    if isinstance(edits, list):
        text: str | None = before
        for each in edits:
            text = _after(text, each) if text is not None and isinstance(each, dict) else None
        return text
    old = _first_text(given, OLD)
    if old is not None:
        return _replaced(before, old, _first_text(given, NEW) or "")
    whole = _first_text(given, WHOLE)
    return whole if whole is not None or any(key in given for key in PATHS) else None


def _first_text(given: dict[str, Json], keys: Iterable[str]) -> str | None:
    return next((value for key in keys if isinstance(value := given.get(key), str)), None)


def _replaced(before: str, old: str, new: str) -> str | None:
    if not old:
        return new if not before else None
    if old in before:
        return before.replace(old, new)
    # A missing text is not replaced: the tool itself will say so. Lines of a patch need not be adjacent.
    return None if "\n" in old.strip("\n") or (OUR_ENTRY in old and OUR_ENTRY not in new) else before


def _about_hooks(path: str, text: str, variables: tuple[str, ...]) -> dict[str, Json] | None:
    """What a file says about hooks, by its keys down to the second level; None if it cannot be read."""
    try:
        document = edit.read(text, syntax_of(path, text))
    except edit.CannotEdit:
        return None
    if not isinstance(document, dict):
        return None
    found: dict[str, Json] = {}
    for key, value in document.items():
        if any(word in key.lower() for word in WORDS):
            found[key] = value
        elif isinstance(value, dict):
            inner = {
                name: each
                for name, each in value.items()
                if any(word in str(name).lower() for word in WORDS)
                or (key == "env" and (name in variables or MOVES_PLACES.fullmatch(str(name))))
            }
            if inner:
                found[key] = inner
    return found
