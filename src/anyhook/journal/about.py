"""What an event is about, in one line: the command, the path, the prompt. It judges nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

FIELDS = ("input", "prompt", "message", "source", "reason")


def about(data: Mapping[str, Json]) -> str:
    """The first text among these fields, or the first text in an object; "" if there is none."""
    found = next((data[field] for field in FIELDS if field in data), None)
    if isinstance(found, dict):
        found = next((value for value in found.values() if isinstance(value, str) and value), None)
    return " ".join(str(found).split()) if found else ""
