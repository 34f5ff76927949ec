"""An edit as a diff, before a person allows it and after it happened: the path first, then the lines."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

from anyhook.cli.view.console import BAD, BOLD, FAINT, GOOD, PLAIN
from anyhook.cli.view.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

MAX_LINES = 60
"""How many lines of a diff are shown."""
MAX_BYTES = 1_000_000
"""For a larger file only the path is shown."""


def edit_lines(tool: str, given: Mapping[str, Json], project: str) -> list[tuple[str, str]]:
    """The lines of an edit with their styles; [] for any other call."""
    path = edited_path(tool, given)
    if not path:
        return []
    old, new = ("", given.get("content")) if tool == "write_file" else (given.get("old_text"), given.get("new_text"))
    if tool == "write_file":
        old = text_now(path, project)
    return diff_lines(path, old, new) if isinstance(old, str) and isinstance(new, str) else []


def edited_path(tool: str, given: Mapping[str, Json]) -> str:
    """The file that a call changes; "" if it is not an edit."""
    path = given.get("path")
    return path if isinstance(path, str) and tool in ("write_file", "edit_file") else ""


def diff_lines(path: str, old: str, new: str) -> list[tuple[str, str]]:
    found = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm=""))[2:]
    lines = [(visible(line), _style(line)) for line in found[:MAX_LINES]]
    if len(found) > MAX_LINES:
        lines.append((f"… {len(found) - MAX_LINES} more lines", FAINT))
    return [(visible(path), BOLD), *lines]


def changes(lines: list[tuple[str, str]]) -> list[str]:
    """What a diff adds and removes, without the context lines."""
    return [text for text, style in lines if style in (GOOD, BAD)]


def text_now(path: str, project: str) -> str | None:
    """The current text; None if it cannot be shown."""
    path = os.path.join(project, path)
    try:
        if os.path.getsize(path) > MAX_BYTES:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        return None


def _style(line: str) -> str:
    return {"+": GOOD, "-": BAD, "@": FAINT}.get(line[:1], PLAIN)
