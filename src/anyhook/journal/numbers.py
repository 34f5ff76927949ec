"""Numbers of a record as other programs take them, whatever they are: another version may have written it, or
somebody else. They judge no record."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

NUMBER_MOST = 2**62
SECONDS_MOST = 1e9


def whole_number(value: Json) -> int | None:
    """A whole number that fits into 64 bits and leaves room to reckon with; None for anything else."""
    return value if type(value) is int and 0 <= value < NUMBER_MOST else None


def seconds(value: Json) -> float:
    """A duration; nothing for anything else."""
    return float(value) if type(value) in (int, float) and 0 <= value < SECONDS_MOST else 0.0  # type: ignore[arg-type, operator]
