"""The files that a patch names: in the form of `apply_patch`, or a unified diff."""

from __future__ import annotations

import re

LINE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
DIFF = re.compile(r"^--- (\S+)[^\n]*\n\+\+\+ (\S+)", re.MULTILINE)


def patched(text: str) -> list[tuple[str, str]]:
    """`write` or `delete`, and the path as it is written."""
    found: list[tuple[str, str]] = []
    for kind, path, target in LINE.findall(text):
        if kind == "Delete":
            found.append(("delete", path))
        else:
            found.append(("write", path or target))
    for old, new in DIFF.findall(text):
        is_gone = new == "/dev/null"
        found.append(("delete", old.removeprefix("a/")) if is_gone else ("write", new.removeprefix("b/")))
    return found
