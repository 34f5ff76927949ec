"""Tables in cases: one case and its rows → one case per row, with the row's values in its texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Place = tuple[str | int, ...]

MAX_SHOWN = 60
"""How many characters of a row's values are added to a name without a placeholder."""


def expanded(raw: dict[str, Json]) -> tuple[list[dict[str, Json]], list[tuple[Place, str]]]:
    """The cases without their table, and what is wrong with it, by place."""
    table = raw.get("table")
    if not isinstance(table, list):
        return [raw], []
    case = {key: value for key, value in raw.items() if key != "table"}
    made: list[dict[str, Json]] = []
    mistakes: list[tuple[Place, str]] = []
    first = table[0] if isinstance(table[0], dict) else {}
    for number, row in enumerate(table):
        if not isinstance(row, dict) or not row:
            mistakes.append((("table", number), "a row is a mapping of columns to values."))
        elif row.keys() != first.keys():
            mistakes.append((("table", number), f"every row has the same columns: {', '.join(first)}."))
        else:
            one = filled(case, row)
            assert isinstance(one, dict)  # noqa: S101 (a mapping stays one)
            if one.get("name") == case.get("name"):
                shown = ", ".join(str(value) for value in row.values())
                one["name"] = f"{case.get('name')} [{shown[:MAX_SHOWN]}]"
            made.append(one)
    text = repr(case)
    unused = [column for column in first if f"{{{column}}}" not in text]
    mistakes += [(("table", 0, column), f"no text of the case has `{{{column}}}` in it.") for column in unused]
    return made, mistakes


def filled(value: Json, row: dict[str, Json]) -> Json:
    """A text that is only a column's name becomes the value itself, of any type."""
    if isinstance(value, str):
        if value[:1] == "{" and value[1:-1] in row and value[-1:] == "}":
            return row[value[1:-1]]
        marks = "|".join(re.escape(f"{{{column}}}") for column in row)
        return re.sub(marks, lambda found: str(row[found[0][1:-1]]), value)
    if isinstance(value, list):
        return [filled(item, row) for item in value]
    if isinstance(value, dict):
        return {str(filled(key, row)): filled(item, row) for key, item in value.items()}
    return value
