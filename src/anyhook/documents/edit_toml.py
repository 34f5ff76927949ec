"""Edits of TOML texts. Lists of tables are written as `[[name]]` blocks; inline lists and tables are only replaced as a
whole. Use it through `edit`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from anyhook.documents.lines import in_lines_of, line_end, next_line, with_last_line_end
from anyhook.documents.toml_layout import TomlLayout

if TYPE_CHECKING:
    from anyhook.documents.parse import Place
    from anyhook.documents.toml_layout import Statement
    from anyhook.model.json_types import Json

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def insert(text: str, place: Place, key: str | None, value: Json) -> str:
    """Adds an item to the list of tables at the place, as a block at the end; with a key, a line to the table there."""
    if key is None:
        block = in_lines_of(text, tables(place, [value]))
        return with_last_line_end(text) + (line_end(text) if text else "") + block
    line = f"{_key(key)} = {inline(value)}{line_end(text)}"
    own = [each for each in TomlLayout(text).statements if _table_of(each) == place]
    if own:
        at = next_line(text, own[-1].end)
        return with_last_line_end(text[:at]) + line + text[at:]
    return line + text if not place else text  # a table that is not written out cannot be added to


def remove(text: str, place: Place) -> str:
    """Removes the key or the table at the place with its lines, and one blank line above a table."""
    found = [each for each in TomlLayout(text).statements if each.place[: len(place)] == place]
    for each in reversed(found):
        start = text.rfind("\n", 0, each.start) + 1
        if each.value is None:
            start -= 2 if text[:start].endswith("\n\r\n") else 1 if text[:start].endswith("\n\n") else 0
        text = text[:start] + text[next_line(text, each.end) :]
    return text


def replace(text: str, place: Place, value: Json) -> str:
    """Replaces the value of the key at the place."""
    for each in TomlLayout(text).statements:
        if each.place == place and each.value is not None:
            return text[: each.value] + inline(value) + text[each.end :]
    return text


def tables(place: Place, items: list[Json]) -> str:
    """Tables of one list, as `[[name]]` blocks one after the other."""
    name = ".".join(_key(part) for part in place if isinstance(part, str))
    return "\n".join(_table(name, item if isinstance(item, dict) else {}) for item in items)


def _table(name: str, fields: dict[str, Json]) -> str:
    below = {key: value for key, value in fields.items() if _is_list_of_tables(value)}
    lines = [f"[[{name}]]", *(f"{_key(key)} = {inline(fields[key])}" for key in fields if key not in below)]
    for key, value in below.items():
        for each in value if isinstance(value, list) else []:
            lines += ["", _table(f"{name}.{_key(key)}", each if isinstance(each, dict) else {}).rstrip("\n")]
    return "\n".join(lines) + "\n"


def _is_list_of_tables(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def inline(value: Json) -> str:
    """A value on one line. TOML has no null, which its parser will report."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {inline(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else inline(name)


def _table_of(statement: Statement) -> Place:
    """The table that a header opens or that has a key; dotted keys have no separate table."""
    return statement.place if statement.value is None else statement.place[:-1]
