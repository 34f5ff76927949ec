"""The user's settings for one hook, changed in place: everything else in the file stays as it is."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence

from anyhook.documents.edit import CannotEdit, at, put, read, remove
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.model.json_types import Json
from anyhook.model.lean_json import dumps
from anyhook.platform.locks import locked
from anyhook.platform.places import config_file, replace_file

NEW_LINE = "\n"


class CannotSet(Exception):  # noqa: N818 (it says what happened)
    """Why the settings could not be changed, in one sentence."""


def set_for_hooks(env: Mapping[str, str], hooks: Sequence[str], changes: Mapping[str, Json]) -> str:
    """Writes `[hooks."ID"]` for each hook, and returns the file's path. A value of None takes its key out."""
    path = config_file(env)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with locked(os.path.dirname(path)):
            real = os.path.realpath(path)
            there = os.path.lexists(real)
            before = read_bytes(real).decode("utf-8") if there else ""
            after = before
            for hook in hooks:
                after = _changed(after, hook, changes)
            if not after.strip() and there:
                os.unlink(real)
            elif after != before:
                replace_file(real, after.encode(), stat.S_IMODE(os.stat(real).st_mode) if there else 0o600)
    except (OSError, UnicodeDecodeError, CannotEdit, Unreadable) as error:
        why = getattr(error, "strerror", None) or error
        raise CannotSet(f"{path} is left as it is: {why}. Correct it, and try again.") from None
    return path


def _changed(text: str, hook: str, changes: Mapping[str, Json]) -> str:
    if at(read(text, "toml"), ("hooks", hook)) is None:
        text = _with_table(text, hook)
    for key, value in changes.items():
        place = ("hooks", hook, key)
        if value is not None:
            text = put(text, "toml", place, value)
        elif at(read(text, "toml"), place) is not None:
            text = remove(text, "toml", place)
    hooks = at(read(text, "toml"), ("hooks",))
    if isinstance(hooks, dict) and hooks.get(hook) == {}:
        # A table above tables is not there without them.
        text = remove(text, "toml", ("hooks", hook) if len(hooks) > 1 else ("hooks",))
    return text


def _with_table(text: str, hook: str) -> str:
    """The text with a table for this hook at its end, as people write it; unchanged where it has another form."""
    made = f"{text}{'' if text.endswith(NEW_LINE) else NEW_LINE}{NEW_LINE}" if text.strip() else ""
    made += f"[hooks.{dumps(hook)}]\n"
    try:
        return made if at(read(made, "toml"), ("hooks", hook)) == {} else text
    except CannotEdit:  # `hooks` is an inline table
        return text
