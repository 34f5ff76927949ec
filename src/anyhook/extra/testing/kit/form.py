"""What a key of a case or of a vector holds: the types of values, for people and as a check; and the
files that both lay out. No part of the engine is loaded here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anyhook.extra.testing.conformance.matching import faults, show
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.tables.shapes import guess, type_name

Place = tuple[str | int, ...]
Mistake = tuple[Place, str]


class Kind(Record):
    """One type of values."""

    says: str
    types: tuple[type, ...] = (object,)


KINDS: Mapping[str, Kind] = {
    "text": Kind("a text", (str,)),
    "flag": Kind("true or false", (bool,)),
    "number": Kind("a number above 0", (int, float)),
    "object": Kind("a mapping", (dict,)),
    "texts": Kind("a text or a list of texts", (str, list)),
    "list of texts": Kind("a list of texts", (list,)),
    "variables": Kind("a mapping of names to texts; null removes one", (dict,)),
    "files": Kind("a mapping of paths to texts", (dict,)),
    "rows": Kind("a list of mappings", (list,)),
    "anything": Kind("anything"),
    "compared": Kind("a value or a comparison"),
    "all compared": Kind("a mapping", (dict,)),
}


class CaseKey(Record):
    """One key."""

    name: str
    kind: str
    says: str = ""
    choices: tuple[str, ...] = ()


def check(raw: Mapping[str, Json], keys: Sequence[CaseKey], place: Place) -> list[Mistake]:
    """What is wrong with an object's keys and values."""
    known = {key.name: key for key in keys}
    mistakes: list[Mistake] = []
    for name, value in raw.items():
        here = (*place, name)
        key = known.get(name)
        if key is None:
            hint = guess(name, known) or f" Keys: {', '.join(known)}."
            mistakes.append((here, f"there is no key `{name}` here.{hint}"))
        else:
            mistakes += _check_value(key, value, here)
    return mistakes


def _check_value(key: CaseKey, value: Json, here: Place) -> list[Mistake]:
    name = key.name
    if not _fits(value, key.kind):
        return [(here, f"`{name}` takes {KINDS[key.kind].says}, not {type_name(value)}.")]
    if key.choices and value not in key.choices:
        return [(here, f"`{name}` is one of {', '.join(key.choices)}, not {value!r}.")]
    if key.kind in ("compared", "all compared"):
        return [(here, f"{line}.") for line in faults(value, name)]
    return _check_items(key, value, here) if isinstance(value, dict) else []


def _check_items(key: CaseKey, value: dict[str, Json], here: Place) -> list[Mistake]:
    told: dict[str, str] = {}
    if key.kind == "variables":
        wrong = {
            each: type_name(item) for each, item in value.items() if item is not None and not isinstance(item, str)
        }
        told = {
            each: f"`{each}` under `{key.name}` takes a text, not {it}. Put it in quotes." for each, it in wrong.items()
        }
    elif key.kind == "files":
        found = {path: _entry_mistake(path, item) for path, item in value.items()}
        told = {path: f"{key.name}: {what}." for path, what in found.items() if what}
    return [((*here, each), what) for each, what in told.items()]


def _fits(value: Json, kind: str) -> bool:
    types = KINDS[kind].types
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types and object not in types):
        return False
    if kind == "number":
        return isinstance(value, (int, float)) and value > 0
    if kind == "rows":
        return bool(value)
    if kind in ("texts", "list of texts"):
        return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    return True


def texts(value: Json) -> tuple[str, ...]:
    """One text or several."""
    return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()


def filled(value: Json, row: Mapping[str, Json]) -> Json:
    """A value with `{name}` replaced in every text. A text that is only a name becomes its value, of any type."""
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


# -- files to lay out


class FileEntry(Record):
    """One entry to create on disk: a file, a link or, if neither, a directory."""

    text: str | None = None
    link: str | None = None
    mode: int | None = None


FILE_ENTRY_KEYS = {"text", "link", "dir", "mode"}
OCTAL = re.compile(r"[0-7]{3,4}")


def is_inside(path: str) -> bool:
    """Whether a relative path stays inside its directory."""
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")


def entries_of(raw: Json) -> dict[str, FileEntry]:
    """The files of a mapping of paths to texts; ValueError for one that is not as it should be."""
    made: dict[str, FileEntry] = {}
    for path, item in raw.items() if isinstance(raw, dict) else ():
        if what := _entry_mistake(path, item):
            raise ValueError(what)
        entry = item if isinstance(item, dict) else {"text": item}
        text, link, mode = (entry.get(key) for key in ("text", "link", "mode"))
        made[path] = FileEntry(
            None if text is None else str(text),
            None if link is None else str(link),
            None if mode is None else int(str(mode), 8),
        )
    return made


def _entry_mistake(path: str, item: Json) -> str:
    """What is wrong with one file, or ""."""
    if not is_inside(path):
        return f"{path!r} should be a path inside the directory"
    if isinstance(item, str):
        return ""
    if not isinstance(item, dict) or len({"text", "link", "dir"} & item.keys()) != 1 or item.keys() - FILE_ENTRY_KEYS:
        return f'{path}: should be a text, a link or {{"dir": true}}, with a mode if it needs one, not {show(item)}'
    if not isinstance(item.get("text", ""), str) or item.get("dir", True) is not True:
        return f"{path}: its text should be a text, and its dir true, not {show(item)}"
    link, mode = item.get("link", "to"), item.get("mode")
    if not (isinstance(link, str) and link):
        return f"{path}: its link should be a text, not {show(link)}"
    if mode is not None and not (isinstance(mode, str) and OCTAL.fullmatch(mode)):
        return f'{path}: mode should be octal digits in a string, such as "755", not {show(mode)}'
    return ""
