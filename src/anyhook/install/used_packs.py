"""Which packs a rule file uses: the list `use` at its top, changed in place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from anyhook.documents import edit
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.install.changes import CannotChange
from anyhook.model.json_types import Json
from anyhook.platform.places import base_of, replace_file

HEADER = """\
# Rules for coding agents; `anyhook guards` shows them. Rules of your own go below, as [[rule]]:
#
#   [[rule]]
#   name = "no release from here"
#   when = "runs make release"
#   because = "Releases are made by CI. Open a pull request."
#
# A rule of a pack is changed, switched off or relaxed for a path with [[relax]]:
#
#   [[relax]]
#   rule = "git/clean"
#   enabled = false
"""


def rule_file(scope: str, project: str, env: Mapping[str, str]) -> str:
    """The file with a scope's rules."""
    folder = f"{project}/.anyhook" if scope == "project" else f"{base_of(env, 'XDG_CONFIG_HOME', '.config')}/anyhook"
    return f"{folder}/hooks.toml"


def used_in(path: str) -> list[str]:
    """The packs that a file uses, in order; none if there is no file."""
    text = text_of(path)
    return _used(path, text) if text is not None else []


def change_used(path: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> bool:
    """Adds packs to a file, which is created if needed, and removes others. True if anything changed."""
    text = text_of(path)
    before = _used(path, text) if text is not None else []
    after: list[Json] = [
        *(name for name in before if name not in remove),
        *(name for name in add if name not in before),
    ]
    if after == before:
        return False
    try:
        made = _changed(text, before, after, add, remove)
    except edit.CannotEdit as error:
        raise CannotChange(f"{path}: {error}") from None
    write_rules(path, made)
    return True


def _changed(
    text: str | None, before: Sequence[str], after: list[Json], add: Sequence[str], remove: Sequence[str]
) -> str:
    """The text that uses these packs; as much as possible of the list stays as it is."""
    if text is None:
        return f"{HEADER}\n{edit.put('', 'toml', ('use',), after).strip()}\n"
    if not after:
        return edit.remove(text, "toml", ("use",))
    if not before:
        return edit.put(text, "toml", ("use",), after)
    for number in reversed([number for number, name in enumerate(before) if name in remove]):
        text = edit.remove(text, "toml", ("use", number))
    for name in add:
        text = edit.append(text, "toml", ("use",), name) if name not in before else text
    return text


def write_rules(path: str, made: str) -> None:
    """Write a rule file; one that holds nothing but our own comments is removed."""
    if made.strip() in ("", HEADER.strip()):
        os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    replace_file(path, made.encode(), 0o644)


def text_of(path: str) -> str | None:
    """The text of a rule file; None if there is none."""
    try:
        return read_bytes(path, MAX_FOREIGN_BYTES).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        raise CannotChange(f"{path} cannot be read: {error}") from None


def _used(path: str, text: str) -> list[str]:
    try:
        document = edit.read(text, "toml")
    except edit.CannotEdit as error:
        raise CannotChange(f"{path}: {error}") from None
    used = document.get("use", []) if isinstance(document, dict) else []
    if not isinstance(used, list) or not all(isinstance(name, str) for name in used):
        raise CannotChange(f'{path}: `use` must be a list of packs, as use = ["git"]')
    return [str(name) for name in used]
