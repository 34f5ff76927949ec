"""Edits of TOML texts. Lists of tables are written as `[[name]]` blocks; inline lists of texts are edited item by item;
other inline lists and tables are only replaced as a whole. Use it through `edit`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from anyhook.documents.lines import in_lines_of, line_end, next_line, with_last_line_end
from anyhook.documents.toml_layout import Statement, TomlLayout
from anyhook.model.json_types import Json
from anyhook.model.pattern import later

if TYPE_CHECKING:
    from anyhook.documents.parse import Place

BARE_KEY = later(r"[A-Za-z0-9_-]+")


def insert(text: str, place: Place, key: str | None, value: Json) -> str:
    """Adds an item to the list of tables at the place, as a block at the end; with a key, a line to the table there."""
    if key is None:
        listed = _inline_list(text, place) if isinstance(value, str) else None
        if listed is not None:
            return _with_item(text, listed, inline(value))
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
    last = place[-1]
    listed = _inline_list(text, place[:-1]) if isinstance(last, int) else None
    if listed is not None and isinstance(last, int):
        return _without_item(text, listed, last)
    found = [each for each in TomlLayout(text).statements if each.place[: len(place)] == place]
    for each in reversed(found):
        start = text.rfind("\n", 0, each.start) + 1
        if each.value is None:
            start -= 2 if text[:start].endswith("\n\r\n") else 1 if text[:start].endswith("\n\n") else 0
        text = text[:start] + text[next_line(text, each.end) :]
    return text


ITEM = later(r"""#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[,\]]|[^\s,\]#"']+""")
"""A comment, a text, a sign, or another word, inside an inline list."""


def _inline_list(text: str, place: Place) -> list[re.Match[str]] | None:
    """The words of the inline list at the place, up to its closing bracket; None if there is no flat list of texts."""
    for each in TomlLayout(text).statements:
        if each.place == place and each.value is not None and text[each.value] == "[":
            found = [word for word in ITEM.finditer(text, each.value + 1, each.end) if not word[0].startswith("#")]
            flat = found and found[-1][0] == "]" and all(word[0][0] in "\"'," for word in found[:-1])
            return found if flat else None
    return None


def _with_item(text: str, words: list[re.Match[str]], item: str) -> str:
    """The text with one more item, written as the last one is: behind it, or on a new line."""
    close = words[-1].start()
    if len(words) == 1:
        return text[:close] + item + text[close:]
    last = words[-2]
    if last[0] != ",":
        return f"{text[: last.end()]}, {item}{text[last.end() :]}"
    line = text.rfind("\n", 0, close) + 1
    if text[line:close].strip():
        return f"{text[: last.end()]} {item},{text[last.end() :]}"
    before = text.rfind("\n", 0, words[-3].start()) + 1
    indent = text[before : words[-3].start()]
    return f"{text[:line]}{indent if not indent.strip() else '    '}{item},{line_end(text)}{text[line:]}"


def _without_item(text: str, words: list[re.Match[str]], number: int) -> str:
    """The text without one item: with its line where it has one, else with the comma behind or before it."""
    items = [place for place, word in enumerate(words) if word[0] not in (",", "]")]
    at = items[number]
    start, end = words[at].start(), words[at].end()
    if words[at + 1][0] == ",":
        end = words[at + 1].end()
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip() and text[end : next_line(text, end)].strip() == "":
            return text[:line] + text[next_line(text, end) :]
        blank = text[:start].endswith(" ") and number
        start, end = (start - 1, end) if blank else (start, end + (text[end : end + 1] == " "))
    elif number:
        start = words[at - 1].start()
    return text[:start] + text[end:]


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
