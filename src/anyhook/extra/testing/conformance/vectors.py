"""Loads conformance vectors from their folders and checks their form. A vector is a case with an id and the rows that
it shows, whose calls are written out as steps.

A broken vector is one error that names its file and id; the others still load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from zipfile import Path as InZip

from anyhook.extra.testing.conformance.matching import parse_json
from anyhook.extra.testing.kit.form import CaseKey, FileEntry, check, entries_of, filled, texts
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.tables.shapes import type_name

HERE = Path(__file__).parent
ROWS_FILE = "rows.json"
DEFERRED_FILE = "deferred.json"
"""The rows that no vector can show yet, with the reason: for the tests of the suite itself."""

ROOMS = ("home", "project", "plugin")
"""The directories of a vector: the first part of its paths."""

VECTOR_KEYS = (
    CaseKey("id", "text"), CaseKey("rows", "list of texts"), CaseKey("title", "text"), CaseKey("steps", "rows"),
    *(CaseKey(room, "files") for room in ROOMS), CaseKey("env", "variables"), CaseKey("needs", "list of texts"),
    CaseKey("files", "object"), CaseKey("absent", "list of texts"),
)  # fmt: skip
MUST_HAVE = ("id", "rows", "title", "steps")
EXPECTED = ("exit", "json", "stdout", "stderr")
"""What a call may be expected to do."""
STEP_KEYS = {
    "run": (
        CaseKey("run", "list of texts"),
        CaseKey("stdin", "text"),
        *(CaseKey(key, "compared") for key in EXPECTED),
    ),
    "write": (CaseKey("write", "files"),),
    "sh": (CaseKey("sh", "text"), CaseKey("in", "text", choices=ROOMS)),
}
FILE_EXPECTED = (CaseKey("text", "compared"), CaseKey("json", "compared"))


class VectorError(ValueError):
    """A suite with errors; the message has one line per error."""


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
    steps: tuple[dict[str, Json], ...]
    """Each is a call of the command and what it is expected to do, files that change, or a shell command that must
    succeed: see `STEP_KEYS`."""
    files: dict[str, Json]
    """Per path, what is expected there at the end; null for nothing."""
    raw: dict[str, Json]

    def filled(self, values: Mapping[str, str]) -> Vector:
        """The same vector with `{name}` replaced in every string."""
        return read_vector(filled(self.raw, values), self.source)


class Suite(Record):
    """Everything in one directory of vectors."""

    vectors: dict[str, tuple[Vector, ...]]
    """Per dialect."""
    rows: dict[str, dict[str, str]]
    """Per dialect, row to title."""
    errors: tuple[str, ...]

    def all(self) -> tuple[Vector, ...]:
        return tuple(vector for vectors in self.vectors.values() for vector in vectors)


def load_suite(directory: Traversable | None = None, dialects: Sequence[str] = ()) -> Suite:
    """The vectors of the named dialects, or of all; `directory` has one folder per dialect, or is one."""
    root = directory or _own()
    errors: list[str] = []
    rows = _rows(root, errors) or _rows(_own(), errors)
    known = {row for titles in rows.values() for row in titles}
    seen: dict[str, str] = {}
    vectors = {
        folder.name: tuple(_load_folder(folder, known, seen, errors)) for folder in _folders(root, dialects, errors)
    }
    return Suite(vectors=vectors, rows=rows, errors=tuple(errors))


def _own() -> Traversable:
    """The vectors that come with anyhook: a folder in a checkout, and one file in a wheel (see `hatch_build.py`)."""
    folder = HERE / "vectors"
    return folder if folder.is_dir() else InZip(HERE / "vectors.zip")


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
        try:
            listed = parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            errors.append(f"{source}: cannot be read as JSON: {error}")
            continue
        if not isinstance(listed, list) or not listed:
            errors.append(f"{source}: should be a list with vectors in it")
            continue
        for raw in listed:
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


def _check_against_suite(vector: Vector, known: set[str], seen: Mapping[str, str]) -> None:
    if vector.id in seen:
        raise VectorError(f"{vector.source}: {vector.id}: the id is already in {seen[vector.id]}")
    unknown = [row for row in vector.rows if row not in known]
    if unknown:
        raise VectorError(f"{vector.source}: {vector.id}: unknown row {', '.join(unknown)}")


def _rows(root: Traversable, errors: list[str]) -> dict[str, dict[str, str]]:
    """The rows of each dialect, from the file in its folder."""
    found: dict[str, dict[str, str]] = {}
    for folder in (root, *_below(root)) if root.is_dir() else ():
        if (path := folder / ROWS_FILE).is_file():
            try:
                titles = parse_json(path.read_text(encoding="utf-8"))
                if not isinstance(titles, dict):
                    raise ValueError(f"this is {type_name(titles)}")
                found[folder.name] = {row: str(title) for row, title in titles.items()}
            except (OSError, ValueError) as error:
                errors.append(f"{folder.name}/{ROWS_FILE}: should map each row to its title: {error}")
    return found


# -- one vector


def read_vector(raw: Json, source: str) -> Vector:
    """One vector from its JSON; a VectorError says what is wrong with it, its id and its file."""
    given = raw if isinstance(raw, dict) else {}
    name = given.get("id")
    place = f"{source}: {name}" if isinstance(name, str) and name else f"{source}: a vector without id"
    mistakes = _mistakes(given) if given is raw else [f"a vector is an object, not {type_name(raw)}."]
    if mistakes:
        raise VectorError(f"{place}: {' '.join(mistakes)}")
    env, steps = given.get("env", {}), given["steps"]
    assert isinstance(env, dict) and isinstance(steps, list)  # noqa: S101, PT018 (checked above)
    return Vector(
        id=str(name),
        source=source,
        rows=texts(given["rows"]),
        title=str(given["title"]),
        layout={room: entries_of(given.get(room)) for room in ROOMS},
        env={key: None if value is None else str(value) for key, value in env.items()},
        needs=texts(given.get("needs")),
        steps=tuple(step for step in steps if isinstance(step, dict)),
        files=_afterwards(given),
        raw=given,
    )


def _mistakes(raw: dict[str, Json]) -> list[str]:
    mistakes = [what for _, what in check(raw, VECTOR_KEYS, ())]
    mistakes += [f"the vector has no `{key}`." for key in MUST_HAVE if not raw.get(key)]
    if mistakes:
        return mistakes
    steps, files = raw["steps"], raw.get("files", {})
    assert isinstance(steps, list) and isinstance(files, dict)  # noqa: S101, PT018 (checked above)
    for number, step in enumerate(steps, 1):
        mistakes += [f"step {number}: {what}" for what in _step_mistakes(step)]
    mistakes += _file_mistakes(files, texts(raw.get("absent")))
    if not files and not any(key in step for step in steps if isinstance(step, dict) for key in EXPECTED):
        # `absent` alone is also true for a command that does nothing.
        mistakes.append("it has no expectation of the command: give files, or a step exit, json, stdout or stderr.")
    return mistakes


def _file_mistakes(files: dict[str, Json], absent: tuple[str, ...]) -> list[str]:
    mistakes = _in_no_room([*files, *absent])
    mistakes += [f"absent: {path!r} is expected under `files`." for path in absent if path in files]
    for path, wanted in files.items():
        if isinstance(wanted, dict) and wanted:
            mistakes += [f"files: {path}: {what}" for _, what in check(wanted, FILE_EXPECTED, ())]
        else:
            mistakes.append(f"files: {path}: it should say what `text` or `json` is expected.")
    return mistakes


def _step_mistakes(step: Json) -> list[str]:
    kinds = [kind for kind in STEP_KEYS if isinstance(step, dict) and kind in step]
    if not isinstance(step, dict) or len(kinds) != 1:
        return ["it should have exactly one of run, write and sh."]
    if not step[kinds[0]]:
        return [f"`{kinds[0]}` is empty."]
    wrong = [what for _, what in check(step, STEP_KEYS[kinds[0]], ())]
    return wrong or _in_no_room(entries_of(step.get("write")))


def _in_no_room(paths: Iterable[str]) -> list[str]:
    parts = {path: path.split("/") for path in paths}
    lost = [path for path, (room, *rest) in parts.items() if room not in ROOMS or not any(rest) or ".." in rest]
    return [f"{path!r} should begin with project/, home/ or plugin/." for path in lost]


def _afterwards(raw: dict[str, Json]) -> dict[str, Json]:
    """What is expected at each path, in the words of cases."""
    found: dict[str, Json] = dict.fromkeys(texts(raw.get("absent")))
    files = raw.get("files", {})
    for path, wanted in files.items() if isinstance(files, dict) else ():
        assert isinstance(wanted, dict)  # noqa: S101 (checked above)
        wishes: list[Json] = [wanted[key] if key == "text" else {"$json": wanted[key]} for key in wanted]
        found[path] = wishes[0] if len(wishes) == 1 else {"$all": wishes}
    return found
