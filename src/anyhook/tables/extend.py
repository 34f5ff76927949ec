"""Tables that extend another: one product follows another, and its own table lists the differences."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.tables.registry import BadTable
from anyhook.tables.shapes import guess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    Table = TypeVar("Table", bound=Record)

NAMES = ("native", "key", "kind", "field")
"""The fields that identify rows."""


def extend(base: Table, /, **changes: Any) -> Table:
    """A table like `base`, except for these fields. In a field that maps names to values, only the names given change.
    In a field that lists rows, a mapping changes rows by their name: to another row, or by some of its fields; a new
    name adds a row. In both, None removes a name."""
    made: dict[str, object] = {}
    for field, change in changes.items():
        if field not in base.fields:
            hint = guess(field, base.fields)
            raise BadTable(f"{type(base).__name__}.{field}: there is no such field.{hint}")
        old = getattr(base, field)
        if isinstance(old, dict) and isinstance(change, dict):
            made[field] = {name: value for name, value in {**old, **change}.items() if value is not None}
        elif isinstance(old, tuple) and isinstance(change, dict):
            made[field] = _rows(f"{type(base).__name__}.{field}", old, change)
        else:
            made[field] = change
    return base.replace(**made)


def _rows(cell: str, old: tuple[Record, ...], changes: Mapping[str, Any]) -> tuple[Record, ...]:
    rows = {_name(row): row for row in old}
    for name, change in changes.items():
        if change is None and name in rows:
            del rows[name]
        elif isinstance(change, Record):
            rows[name] = change
        elif isinstance(change, dict) and name in rows:
            rows[name] = extend(rows[name], **change)
        else:
            raise BadTable(f"{cell}[{name}]: there is no such row to change. Rows: {', '.join(rows)}.")
    return tuple(rows.values())


def _name(row: Record) -> str:
    return next(str(getattr(row, field)) for field in NAMES if field in row.fields)
