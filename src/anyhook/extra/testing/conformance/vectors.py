"""Loads conformance vectors from their folders and checks their form.

A broken vector is one error that names its file and id; the others still load.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import Path as InZip

from anyhook.extra.testing.conformance.matching import faults, parse_json, show
from anyhook.model.record import Record

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from anyhook.model.json_types import Json

HERE = Path(__file__).parent
ROWS_FILE = "rows.json"
DEFERRED_FILE = "deferred.json"

ROOMS = ("home", "project", "plugin")
"""The directories of a vector: the first part of its paths."""

_VECTOR_KEYS = {"id", "rows", "title", *ROOMS, "env", "needs", "steps", "files", "absent"}
_STEP_KEYS = {
    "run": {"run", "stdin", "exit", "json", "stdout", "stderr"},
    "write": {"write"},
    "sh": {"sh", "in"},
}
_EXPECTED_OF_RUN = ("exit", "json", "stdout", "stderr")
_MODE = re.compile(r"[0-7]{3,4}")


class VectorError(ValueError):
    """A suite with errors; the message has one line per error."""


class FileEntry(Record):
    """One entry to create on disk: a file, a link or a directory."""

    text: str | None = None
    link: str | None = None
    mode: int | None = None


class RunStep(Record):
    """One call of the command, and its expected result."""

    argv: tuple[str, ...]
    stdin: str | None
    expect: dict[str, Json]
    """Some of `exit`, `json`, `stdout`, `stderr`."""


class WriteStep(Record):
    """Files that change between two calls; their paths start with one of `ROOMS`."""

    entries: dict[str, FileEntry]


class ShellStep(Record):
    """A shell command between two calls; it must succeed."""

    script: str
    room: str


class Vector(Record):
    """One vector, checked."""

    id: str
    source: str
    rows: tuple[str, ...]
    title: str
    layout: dict[str, dict[str, FileEntry]]
    """Per folder, its content at the start."""
    env: dict[str, str | None]
    needs: tuple[str, ...]
    steps: tuple[RunStep | WriteStep | ShellStep, ...]
    files: dict[str, dict[str, Json]]
    """Per path, what its `text` or `json` must match at the end."""
    absent: tuple[str, ...]
    raw: dict[str, Json]

    def filled(self, values: Mapping[str, str]) -> Vector:
        """The same vector with `{name}` replaced in every string."""
        raw = _fill(self.raw, {f"{{{name}}}": value for name, value in values.items()})
        return read_vector(raw, self.source)


class Suite(Record):
    """Everything in one directory of vectors."""

    vectors: dict[str, tuple[Vector, ...]]
    """Per dialect."""
    deferred: dict[str, dict[str, str]]
    """Per dialect, row to reason."""
    rows: dict[str, dict[str, str]]
    """Per dialect, row to title."""
    errors: tuple[str, ...]

    def all(self) -> tuple[Vector, ...]:
        return tuple(vector for vectors in self.vectors.values() for vector in vectors)


def load_suite(directory: Traversable | None = None, dialects: Sequence[str] = ()) -> Suite:
    """The vectors of the named dialects, or of all; `directory` has one folder per dialect, or is one."""
    root = directory or _own()
    errors: list[str] = []
    rows = _all_rows(root if has_rows(root) else _own(), errors)
    known = {row for titles in rows.values() for row in titles}
    vectors: dict[str, tuple[Vector, ...]] = {}
    deferred: dict[str, dict[str, str]] = {}
    seen: dict[str, str] = {}
    for folder in _folders(root, dialects, errors):
        vectors[folder.name] = tuple(_load_folder(folder, known, seen, errors))
        deferred[folder.name] = _load_deferred(folder, rows.get(folder.name, {}), errors)
    return Suite(vectors=vectors, deferred=deferred, rows=rows, errors=tuple(errors))


def _own() -> Traversable:
    """The vectors that come with anyhook: a folder in a checkout, and one file in a wheel (see `hatch_build.py`)."""
    folder = HERE / "vectors"
    return folder if folder.is_dir() else InZip(HERE / "vectors.zip")


def read_vector(raw: Json, source: str) -> Vector:
    """One vector from its JSON; a VectorError says what is wrong with it, its id and its file."""
    name = raw.get("id") if isinstance(raw, dict) else None
    place = f"{source}: {name}" if isinstance(name, str) and name else f"{source}: a vector without id"
    try:
        return _vector(_mapping(raw, "the vector"), source)
    except VectorError as error:
        raise VectorError(f"{place}: {error}") from None


def _folders(root: Traversable, dialects: Sequence[str], errors: list[str]) -> list[Traversable]:
    if not root.is_dir():
        errors.append(f"{root}: no such directory of vectors")
        return []
    found = {root.name: root} if _vector_files(root) else {folder.name: folder for folder in _below(root)}
    if not found:
        errors.append(f"{root}: an empty directory; it should hold one folder of vectors per dialect")
    strangers = [name for name in dialects if name not in found]
    if found:
        errors += [f"{root}: no vectors for {name}; there are {', '.join(found)}" for name in strangers]
    return [path for name, path in found.items() if not dialects or name in dialects]


def _below(root: Traversable) -> list[Traversable]:
    return [path for path in _sorted(root) if path.is_dir() and path.name[0] not in "._"]


def _sorted(folder: Traversable) -> list[Traversable]:
    return sorted(folder.iterdir(), key=lambda path: path.name)


def _vector_files(folder: Traversable) -> list[Traversable]:
    data = (path for path in _sorted(folder) if path.name.endswith(".json"))
    return [path for path in data if path.name not in (ROWS_FILE, DEFERRED_FILE)]


def _load_folder(folder: Traversable, known: set[str], seen: dict[str, str], errors: list[str]) -> list[Vector]:
    found: list[Vector] = []
    before = len(errors)
    for path in _vector_files(folder):
        source = f"{folder.name}/{path.name}"
        for raw in _load_list(path, source, errors):
            try:
                vector = read_vector(raw, source)
                _check_against_suite(vector, known, seen)
            except VectorError as error:
                errors.append(str(error))
            else:
                seen[vector.id] = source
                found.append(vector)
    if not found and len(errors) == before:
        errors.append(f"{folder.name}: an empty folder; it should hold vectors")
    return found


def _load_list(path: Traversable, source: str, errors: list[str]) -> list[Json]:
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        errors.append(f"{source}: cannot be read as JSON: {error}")
        return []
    if isinstance(value, list) and value:
        return value
    errors.append(f"{source}: should be a list with vectors in it")
    return []


def _check_against_suite(vector: Vector, known: set[str], seen: Mapping[str, str]) -> None:
    if vector.id in seen:
        raise VectorError(f"{vector.source}: {vector.id}: the id is already in {seen[vector.id]}")
    unknown = [row for row in vector.rows if row not in known]
    if unknown:
        raise VectorError(f"{vector.source}: {vector.id}: unknown row {', '.join(unknown)}")


def has_rows(root: Traversable) -> bool:
    """Whether a directory of vectors has its own rows: in one file, or in each dialect's folder."""
    return root.is_dir() and any((place / ROWS_FILE).is_file() for place in (root, *_below(root)))


def _all_rows(root: Traversable, errors: list[str]) -> dict[str, dict[str, str]]:
    """The rows of each dialect: from one file for all of them, or from the file in each one's folder."""
    found: dict[str, dict[str, str]] = {}
    for folder in (root, *_below(root)):
        if not (folder / ROWS_FILE).is_file():
            continue
        try:
            table = _mapping(parse_json((folder / ROWS_FILE).read_text(encoding="utf-8")), "the file")
            if folder is root and not _vector_files(root):
                return {dialect: _string_map(titles, dialect) for dialect, titles in table.items()}
            found[folder.name] = _string_map(table, "the file")
        except (OSError, ValueError) as error:
            whose = "each dialect to its rows and their titles" if folder is root else "each row to its title"
            errors.append(f"{folder.name}/{ROWS_FILE}: should map {whose}: {error}")
    return found


def _load_deferred(folder: Traversable, known: Mapping[str, str], errors: list[str]) -> dict[str, str]:
    path = folder / DEFERRED_FILE
    source = f"{folder.name}/{path.name}"
    if not path.is_file():
        return {}
    try:
        reasons = _string_map(parse_json(path.read_text(encoding="utf-8")), "the file")
    except (OSError, ValueError) as error:
        errors.append(f"{source}: should map rows to reasons: {error}")
        return {}
    errors += [f"{source}: unknown row {row}" for row in reasons if row not in known]
    errors += [f"{source}: {row} has no reason" for row, reason in reasons.items() if not reason.strip()]
    return reasons


def _vector(raw: dict[str, Json], source: str) -> Vector:
    _no_other_keys(raw, _VECTOR_KEYS, "the vector")
    vector = Vector(
        id=_text(raw.get("id"), "id"),
        source=source,
        rows=_texts(raw.get("rows"), "rows"),
        title=_text(raw.get("title"), "title"),
        layout={room: entries_of(raw.get(room, {}), room) for room in ROOMS},
        env=_env(raw.get("env", {})),
        needs=_texts(raw.get("needs", []), "needs"),
        steps=tuple(_step(step, f"step {n}") for n, step in enumerate(_sequence(raw.get("steps"), "steps"), 1)),
        files=_files(raw.get("files", {})),
        absent=tuple(_roomed(path, "absent") for path in _texts(raw.get("absent", []), "absent")),
        raw=raw,
    )
    if not vector.rows:
        raise VectorError("rows should name at least one row")
    expects = bool(vector.files) or any(isinstance(step, RunStep) and step.expect for step in vector.steps)
    if not expects:
        # `absent` alone is also true for a command that does nothing.
        raise VectorError("has no expectation of the command: give files, or a step exit, json, stdout or stderr")
    return vector


def _step(raw: Json, place: str) -> RunStep | WriteStep | ShellStep:
    step = _mapping(raw, place)
    kinds = [kind for kind in _STEP_KEYS if kind in step]
    if len(kinds) != 1:
        raise VectorError(f"{place} should have exactly one of run, write and sh")
    _no_other_keys(step, _STEP_KEYS[kinds[0]], place)
    if kinds[0] == "write":
        entries = entries_of(step["write"], f"{place}: write")
        return WriteStep(entries={_roomed(path, f"{place}: write"): entry for path, entry in entries.items()})
    if kinds[0] == "sh":
        room = step.get("in", "project")
        if room not in ROOMS:
            raise VectorError(f"{place}: in should be one of {', '.join(ROOMS)}, not {show(room)}")
        return ShellStep(script=_text(step["sh"], f"{place}: sh"), room=str(room))
    stdin = step.get("stdin")
    if stdin is not None and not isinstance(stdin, str):
        raise VectorError(f"{place}: stdin should be a text")
    expect = {key: _expectation(step[key], f"{place}: {key}") for key in _EXPECTED_OF_RUN if key in step}
    argv = _texts(step["run"], f"{place}: run", empty_text=True)
    if not argv:
        raise VectorError(f"{place}: run names no verb")
    return RunStep(argv=argv, stdin=stdin, expect=expect)


def _files(raw: Json) -> dict[str, dict[str, Json]]:
    made: dict[str, dict[str, Json]] = {}
    for path, wanted in _mapping(raw, "files").items():
        place = f"files: {path}"
        expectation = _mapping(wanted, place)
        _no_other_keys(expectation, {"text", "json"}, place)
        if not expectation:
            raise VectorError(f"{place}: should say what text or json matches")
        made[_roomed(path, "files")] = {key: _expectation(item, place) for key, item in expectation.items()}
    return made


def _expectation(raw: Json, place: str) -> Json:
    found = faults(raw)
    if found:
        raise VectorError(f"{place}: {'; '.join(found)}")
    return raw


def is_inside(path: str) -> bool:
    """Whether a relative path stays inside its directory."""
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")


def entries_of(raw: Json, place: str) -> dict[str, FileEntry]:
    made: dict[str, FileEntry] = {}
    for path, item in _mapping(raw, place).items():
        if not is_inside(path):
            raise VectorError(f"{place}: {path!r} should be a path inside the directory")
        made[path] = _entry(item, f"{place}: {path}")
    return made


def _entry(raw: Json, place: str) -> FileEntry:
    if isinstance(raw, str):
        return FileEntry(text=raw)
    entry = _mapping(raw, place)
    _no_other_keys(entry, {"text", "link", "dir", "mode"}, place)
    if len({"text", "link", "dir"} & entry.keys()) != 1 or entry.get("dir", True) is not True:
        raise VectorError(f'{place}: should be a text, a link or {{"dir": true}}')
    mode = entry.get("mode")
    if mode is not None and not (isinstance(mode, str) and _MODE.fullmatch(mode)):
        raise VectorError(f'{place}: mode should be octal digits in a string, such as "755", not {show(mode)}')
    return FileEntry(
        text=_text(entry["text"], place, empty=True) if "text" in entry else None,
        link=_text(entry["link"], place) if "link" in entry else None,
        mode=int(str(mode), 8) if mode is not None else None,
    )


def _env(raw: Json) -> dict[str, str | None]:
    made: dict[str, str | None] = {}
    for name, value in _mapping(raw, "env").items():
        if value is not None and not isinstance(value, str):
            raise VectorError(f"env: {name} should be a string, or null to take it away")
        made[name] = value
    return made


def _roomed(path: str, place: str) -> str:
    room, *rest = path.split("/")
    if room not in ROOMS or not any(rest) or ".." in rest:
        raise VectorError(f"{place}: {path!r} should begin with project/, home/ or plugin/")
    return path


def _no_other_keys(raw: Mapping[str, Json], allowed: set[str], place: str) -> None:
    others = sorted(raw.keys() - allowed)
    if others:
        raise VectorError(f"{place} has the unknown key {', '.join(others)}; known are {', '.join(sorted(allowed))}")


def _mapping(raw: Json, place: str) -> dict[str, Json]:
    if not isinstance(raw, dict):
        raise VectorError(f"{place} should be an object, not {show(raw)}")
    return raw


def _string_map(raw: Json, place: str) -> dict[str, str]:
    return {key: _text(value, f"{place}: {key}", empty=True) for key, value in _mapping(raw, place).items()}


def _sequence(raw: Json, place: str) -> list[Json]:
    if not isinstance(raw, list) or not raw:
        raise VectorError(f"{place} should be a list with something in it")
    return raw


def _text(raw: Json, place: str, *, empty: bool = False) -> str:
    if not isinstance(raw, str) or not (raw or empty):
        raise VectorError(f"{place} should be a text, not {show(raw)}")
    return raw


def _texts(raw: Json, place: str, *, empty_text: bool = False) -> tuple[str, ...]:
    if not isinstance(raw, list):
        raise VectorError(f"{place} should be a list of texts, not {show(raw)}")
    return tuple(_text(item, place, empty=empty_text) for item in raw)


def _fill(value: Json, names: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace(name, text)
        return value
    if isinstance(value, list):
        return [_fill(item, names) for item in value]
    if isinstance(value, dict):
        return {str(_fill(key, names)): _fill(item, names) for key, item in value.items()}
    return value
