"""A case file → cases, checked key by key. Mistakes are reported with their line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence

from anyhook.documents.locate import lines_of
from anyhook.documents.parse import parse_yaml
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.extra.testing.kit import ENDINGS, is_case_file
from anyhook.extra.testing.kit.box import LIMIT_S
from anyhook.extra.testing.kit.events import check_field, check_sent
from anyhook.extra.testing.kit.form import (
    ANSWER,
    CASE_KEYS,
    COMMON_KEYS,
    EXPECT_KEYS,
    FIELDS,
    FILE_KEYS,
    LISTED,
    MERGED,
    FileEntry,
    Mistake,
    Place,
    check,
    entries_of,
    filled,
    is_inside,
    texts,
)
from anyhook.model.json_types import Json
from anyhook.model.outcome import EFFECTS, STRENGTH
from anyhook.model.record import Record
from anyhook.tables.registry import DIALECTS, HOSTS, UnknownEvent, canonical_event, host
from anyhook.tables.shapes import guess, type_name

WORDS: dict[str, tuple[str, ...]] = {"verdict": tuple(STRENGTH), "effect": EFFECTS}
"""Values that can occur under `expect`."""


COPIED_KEYS = ("event", "name", "hosted", "agent", "payload", "stdin", "env", "setup", "on_failure", "mode", "limit_s",
         "skip")  # fmt: skip
"""Keys whose values a case has as they are written."""


class BadCases(ValueError):  # noqa: N818 (it says what is wrong)
    """A file that cannot be used, with one line per mistake."""


class Case(Record):
    """One case, checked."""

    event: str
    file: str = ""
    line: int = 1
    name: str = ""
    project: str = ""
    """The folder that the file names as its project, or ""."""
    given: dict[str, Json] = {}  # noqa: RUF012 (never changed, like those below)
    """The event's fields, by canonical or any dialect's own names."""
    hosted: bool = False
    agent: str = ""
    payload: dict[str, Json] | None = None
    stdin: str | None = None
    env: dict[str, str | None] = {}  # noqa: RUF012
    files: dict[str, FileEntry] = {}  # noqa: RUF012
    home: dict[str, FileEntry] = {}  # noqa: RUF012
    bring: tuple[str, ...] = ()
    setup: str = ""
    dialects: tuple[str, ...] = ()
    on_failure: str = ""
    mode: str = ""
    plugin_dirs: tuple[str, ...] = ()
    limit_s: float = LIMIT_S
    skip: str = ""
    expect: dict[str, Json] = {}  # noqa: RUF012
    only: tuple[str, ...] = ()
    """Hooks by id, name or part of the id; () for all."""
    digest: str = ""
    """SHA-256 of the bytes that were read, so that what is approved is what runs."""

    def placed(self, folders: dict[str, Json]) -> Case:
        """The same with the paths of the folders in place of `{project}` and `{home}`."""
        made: dict[str, Json] = {
            "given": self.given,
            "payload": self.payload,
            "stdin": self.stdin,
            "expect": self.expect,
        }
        return self.replace(**{key: filled(value, folders) for key, value in made.items()})

    @property
    def id(self) -> str:
        return f"{self.file}::{self.name}"


def read_cases(path: str) -> list[Case]:
    """The cases of a file; raises BadCases if it has mistakes."""
    try:
        text = read_bytes(path).decode("utf-8")
        document = parse_yaml(text)
    except OSError as error:
        raise BadCases(f"{path}: the file cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise BadCases(f"{path}: this is not UTF-8 text. Save the file as UTF-8.") from None
    except Unreadable as error:
        place = f"{path}:{error.line}" if error.line else path
        raise BadCases(f"{place}: {error.what}. To do: {error.fix}.") from None
    return cases_in(document, path, text)


def cases_in(document: Json, path: str, text: str = "") -> list[Case]:
    """The cases of a document; `text` is its source, for line numbers."""
    found, mistakes = _read(document, path, text)
    if mistakes:
        lines = _lines(text, [place for place, _ in mistakes])
        said = [f"{path}:{lines[place]}: {what}" for place, what in mistakes]
        raise BadCases("\n".join(dict.fromkeys(said)))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return [case.replace(digest=digest) for case in found]


def _lines(text: str, places: Iterable[Place]) -> dict[Place, int]:
    """The line of each place, or of the nearest one above it."""
    wanted = set(places)
    known = lines_of(text, "yaml", {place[:end] for place in wanted for end in range(len(place) + 1)})
    return {
        place: next((known[place[:end]] for end in range(len(place), -1, -1) if place[:end] in known), 1)
        for place in wanted
    }


def _read(document: Json, path: str, text: str) -> tuple[list[Case], list[Mistake]]:
    if not isinstance(document, dict):
        return [], [((), f"a case file is a mapping with the key `cases`, not {type_name(document)}.")]
    mistakes = check(document, FILE_KEYS, ())
    if "cases" not in document:
        mistakes.append(((), "the key `cases` is missing: a list of cases."))
    if mistakes:
        return [], mistakes
    defaults, listed = document.get("defaults", {}), document["cases"]
    assert isinstance(defaults, dict) and isinstance(listed, list)  # noqa: S101, PT018 (checked above)
    known = {key.name for key in COMMON_KEYS}
    mistakes = check({name: value for name, value in defaults.items() if name not in known}, COMMON_KEYS, ("defaults",))
    lines = _lines(text, [("cases", index) for index in range(len(listed))])
    found: dict[str, Case] = {}
    for index, raw in enumerate(listed):
        place: Place = ("cases", index)
        empty = Case("", path, lines[place], project=str(document.get("project", "")))
        cases, wrong = _rows(raw, defaults, empty, place)
        mistakes += wrong
        for case in cases:
            if found.setdefault(case.name, case) is not case:
                what = f"there is another case named {case.name!r}. Give it another name."
                mistakes.append(((*place, "name"), what))
    return [*found.values()], mistakes


def _rows(raw: Json, defaults: dict[str, Json], empty: Case, place: Place) -> tuple[list[Case], list[Mistake]]:
    """The cases of one entry: one, or one for each row of its table. What is wrong is where it was written."""
    if not isinstance(raw, dict):
        return [], [(place, f"a case is a mapping, not {type_name(raw)}.")]
    rows, wrong = expanded(_merged(defaults, raw))
    found: list[Case] = []
    for row in rows:
        case, faulty = _case(row, empty)
        wrong += faulty
        found += [case] if case is not None else []
    of_all = defaults.keys() - raw.keys()
    places = (("defaults",) if inner[:1] and inner[0] in of_all else place for inner, _ in wrong)
    return found, [((*where, *inner), what) for where, (inner, what) in zip(places, wrong, strict=True)]


def _merged(defaults: dict[str, Json], raw: dict[str, Json]) -> dict[str, Json]:
    made = {**defaults, **raw}
    for key in MERGED:
        below, above = defaults.get(key), raw.get(key)
        if isinstance(below, dict) and isinstance(above, dict):
            made[key] = {**below, **above}
    return made


def _check_expect(raw: Json) -> list[Mistake]:
    if not isinstance(raw, dict):
        return []
    here = ("expect",)
    mistakes = check(raw, EXPECT_KEYS, here)
    for name, known in WORDS.items():
        value = raw.get(name)
        if isinstance(value, str) and value not in known:
            what = f"there is no {name} `{value}`.{guess(value, known)} There are: {', '.join(known)}."
            mistakes.append(((*here, name), what))
    files = raw.get("files")
    for path in files if isinstance(files, dict) else ():
        if not is_inside(path):
            mistakes.append(((*here, "files", path), f"files: {path!r} should be a path inside the project."))
    return mistakes


def _case(raw: dict[str, Json], empty: Case) -> tuple[Case | None, list[Mistake]]:
    """One case without a table, or None and its mistakes."""
    mistakes = check(raw, CASE_KEYS, ()) + _check_expect(raw.get("expect")) or _wrong(raw, str(raw.get("agent", "")))
    if mistakes:
        return None, mistakes
    given, expect = raw.get("data", {}), raw["expect"]
    assert isinstance(given, dict) and isinstance(expect, dict)  # noqa: S101, PT018 (checked above)
    case = empty.replace(
        given={**given, **{name: raw[name] for name in FIELDS if name in raw}},
        files=entries_of(raw.get("files")),
        home=entries_of(raw.get("home")),
        bring=texts(raw.get("bring")),
        dialects=texts(raw.get("dialect")),
        plugin_dirs=texts(raw.get("plugin_dirs")),
        expect={name: _listed(name, value) for name, value in expect.items()},
        **{key: raw[key] for key in COPIED_KEYS if key in raw},
    )
    return case, []


def _wrong(raw: dict[str, Json], agent: str) -> list[Mistake]:
    """What is missing, keys that cannot be combined, and names that do not exist."""
    said = (("name", "what it shows"), ("event", "the event to fire"), ("expect", "what has to come"))
    mistakes: list[Mistake] = [((), f"the case has no `{key}`: {what}.") for key, what in said if not raw.get(key)]
    mistakes += _of_bridge(raw) if agent else _of_bridge_alone(raw)
    return mistakes + _unknown_names(raw, agent)


def _of_bridge_alone(raw: dict[str, Json]) -> list[Mistake]:
    expect = raw.get("expect")
    lonely: list[str] = [key for key in ("payload", "stdin") if key in raw]
    lonely += [key for key in ANSWER if isinstance(expect, dict) and key in expect]
    return [((), f"`{key}` needs `agent`: it is what an agent's bridge reads or says.") for key in lonely]


def _of_bridge(raw: dict[str, Json]) -> list[Mistake]:
    mistakes: list[Mistake] = []
    if "payload" in raw and "stdin" in raw:
        mistakes.append((("stdin",), "`payload` and `stdin` cannot be combined. Give one of them."))
    elif "hosted" in raw:
        mistakes.append((("hosted",), "`hosted` is for events without `agent`; an agent's always are."))
    if "payload" in raw or "stdin" in raw:
        given = [key for key in (*FIELDS, "data") if key in raw]
        mistakes += [((key,), f"`{key}` and `payload` or `stdin` cannot be combined.") for key in given]
    return mistakes


def _unknown_names(raw: dict[str, Json], agent: str) -> list[Mistake]:
    event = str(raw.get("event", ""))
    mistakes = _unknown_event(event, agent) if event or agent else []
    data = raw.get("data")
    if not mistakes and isinstance(data, dict):
        try:
            for key in data:
                check_field(key, "" if agent else canonical_event(event, failed=False))
        except ValueError as error:
            mistakes.append((("data",), str(error)))
    if not mistakes and agent:
        mistakes += _not_sent(raw, agent, event)
    for name in texts(raw.get("dialect")):
        if name not in DIALECTS:
            what = f"there is no dialect `{name}`.{guess(name, DIALECTS)} Dialects: {', '.join(DIALECTS)}."
            mistakes.append((("dialect",), what))
    return mistakes


def _unknown_event(event: str, agent: str) -> list[Mistake]:
    if not agent:
        try:
            canonical_event(event, failed=False)
        except UnknownEvent as error:
            return [(("event",), str(error))]
        return []
    if agent not in HOSTS:
        return [(("agent",), f"there is no agent `{agent}`.{guess(agent, HOSTS)} Agents: {', '.join(HOSTS)}.")]
    natives = [row.native for row in host(agent).events]
    if event in natives:
        return []
    return [(("event",), f"{agent} has no event `{event}`.{guess(event, natives)} {', '.join(natives)}.")]


def _not_sent(raw: dict[str, Json], agent: str, event: str) -> list[Mistake]:
    """Fields that the agent would not send."""
    table = host(agent)
    row = table.row(event)
    assert row is not None  # noqa: S101 (the caller looked)
    data = raw.get("data")
    given = [(key, key) for key in FIELDS if key in raw]
    given += [("data", key) for key in data] if isinstance(data, dict) else []
    mistakes: list[Mistake] = []
    for place, key in given:
        try:
            check_sent(table, row, [key])
        except ValueError as error:
            mistakes.append(((place,), str(error)))
    return mistakes


def _listed(name: str, value: Json) -> Json:
    """If a list is compared with a text, one of its entries must contain the text."""
    return {"$has": {"$has": value}} if name in LISTED and isinstance(value, str) else value


def find_files(paths: Sequence[str], left_out: frozenset[str]) -> list[str]:
    """The case files that paths name, in order; a folder means all files in and below it. Raises BadCases for a path
    that does not exist or is something else."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(name for name in folders if name not in left_out)
                found += [os.path.normpath(os.path.join(folder, name)) for name in sorted(names) if is_case_file(name)]
        elif not os.path.exists(path):
            raise BadCases(f"{path}: there is no such file or folder.")
        elif not is_case_file(os.path.basename(path)):
            raise BadCases(f"{path}: the name of a case file ends with {' or '.join(ENDINGS)}.")
        else:
            found.append(path)
    return list(dict.fromkeys(found))


# -- tables: one case and its rows become one case per row, with the row's values in its texts


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
