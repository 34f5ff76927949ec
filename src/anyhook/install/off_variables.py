"""Finds variables that make an agent run no hooks, and where they are set. It changes nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from anyhook.documents import edit
from anyhook.documents.read import MAX_FOREIGN_BYTES, Unreadable, read_bytes
from anyhook.model.pattern import later
from anyhook.tables.host_rows import Host

YES = ("1", "true", "yes", "on")
LINE = later(r"^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[=:][ \t]*[\"'`]?[ \t]*(\w*)", re.MULTILINE)
HERE = "{here}/"
SETTINGS = ".json"


def turned_off_by(host: Host, roots: Mapping[str, str], env: Mapping[str, str]) -> Iterator[str]:
    """Each variable that keeps the agent from running hooks, with the place where it is set."""
    for name in host.off_variables:
        if env.get(name, "").strip().lower() in YES:
            yield f"the variable {name} is set, so the agent runs no hooks; unset it"
    for path in variable_files(host, roots):
        named = _in_settings if path.endswith(SETTINGS) else named_in_file
        for name in named(_text(path), host):
            if name in host.off_variables:
                yield f"{path} sets {name}, so the agent runs no hooks; remove it"
            elif name not in env:
                yield f"{path} sets {name}, so the agent looks for its hooks elsewhere; remove it"


def named_in_file(text: str, host: Host) -> list[str]:
    """The host's variables that a file of variables sets so that its hooks do not run."""
    return [name for name, value in LINE.findall(text) if _counts(name, value, host)]


def _in_settings(text: str, host: Host) -> list[str]:
    """The same for the `env` of a settings file."""
    try:
        given = edit.at(edit.read(text, "json"), ("env",)) if text.strip() else None
    except edit.CannotEdit:
        return []
    found = given if isinstance(given, dict) else {}
    return [name for name, value in found.items() if _counts(name, str(value).strip(), host)]


def _counts(name: str, value: str, host: Host) -> bool:
    return name in host.moving_variables or (name in host.off_variables and value.lower() in YES)


def variable_files(host: Host, roots: Mapping[str, str]) -> Iterator[str]:
    """The files that may set one, whether they exist or not."""
    near = [path.removeprefix(HERE) for path in host.variable_files if path.startswith(HERE)]
    if near:
        yield from _nearest(near, roots["project"], roots["home"])
    yield from (path.format(**roots) for path in host.variable_files if not path.startswith(HERE))


def _nearest(names: list[str], folder: str, home: str) -> Iterator[str]:
    """Folder by folder upwards, up to the first existing file, without the home folder."""
    while folder != home:
        for name in names:
            yield (path := os.path.join(folder, name))
            if os.path.isfile(path):
                return
        if folder == (folder := os.path.dirname(folder)):
            return


def _text(path: str) -> str:
    try:
        return read_bytes(path, MAX_FOREIGN_BYTES).decode()
    except (OSError, UnicodeDecodeError, Unreadable):
        return ""
