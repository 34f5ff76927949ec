"""Numbers of a record as other programs take them, whatever stands there: another version may have written it, or
somebody else. They judge no record."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

MAX_NUMBER = 2**62
MAX_SECONDS = 1e9


def whole_number(value: Json) -> int | None:
    """A whole number that fits into 64 bits and leaves room to reckon with; None for anything else."""
    return value if type(value) is int and 0 <= value < MAX_NUMBER else None


def seconds(value: Json) -> float:
    """A duration; nothing for anything else."""
    return float(value) if type(value) in (int, float) and 0 <= value < MAX_SECONDS else 0.0  # type: ignore[arg-type, operator]


FIELDS = ("input", "prompt", "message", "source", "reason")


def about(data: Mapping[str, Json]) -> str:
    """The first text among these fields, of an object its first one; "" where there is none."""
    found = next((data[field] for field in FIELDS if field in data), None)
    if isinstance(found, dict):
        found = next((value for value in found.values() if isinstance(value, str) and value), None)
    return " ".join(str(found).split()) if found else ""
