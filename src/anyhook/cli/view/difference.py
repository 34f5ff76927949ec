"""The difference between two values, as the lines of a diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import islice

from anyhook.model import lean_json
from anyhook.model.json_types import Json

MAX_LINES = 20


def difference(before: Json, after: Json) -> list[str]:
    """Lines that start with `-`, `+`, or a space if both have them; cut after a maximum."""
    was, now = [*_lines(before, "")], [*_lines(after, "")]
    found = [
        f"{line[0]} {line[1:]}"
        for line in islice(difflib.unified_diff(was, now, n=1, lineterm=""), 2, None)
        if not line.startswith("@@")
    ]
    more = len(found) - MAX_LINES
    return found if more <= 0 else [*found[:MAX_LINES], f"  … {more} more lines; --json has them all"]


def _lines(value: Json, path: str) -> Iterator[str]:
    """A line for each plain value, and for each line of a text, with its path in front; nothing for None."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _lines(item, f"{path}[{number}]")
    elif isinstance(value, str):
        yield from (f"{path}: {line}" if path else line for line in value.split("\n"))
    elif value is not None:
        yield (
            f"{path}: {lean_json.dumps(value, ensure_ascii=False)}"
            if path
            else lean_json.dumps(value, ensure_ascii=False)
        )


def file_difference(before: bytes | None, after: bytes | None, was: str, now: str) -> list[str]:
    """The same for a file, with its names before and now."""
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    return [*difflib.unified_diff(old, new, was, now, lineterm="")]
