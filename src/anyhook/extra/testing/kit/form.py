"""What a key of a case or of a vector holds: the types of values, for people and as a check; the files that both lay
out; and the keys of a case file. No part of the engine is loaded here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anyhook.extra.testing.conformance.matching import faults, show
from anyhook.model.json_types import Json
from anyhook.model.outcome import STRENGTH
from anyhook.model.record import Record
from anyhook.model.words import MODE, ON_FAILURE
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


# -- the keys of a case file, as one table for the reader and the docs


FIELDS = ("tool", "input", "output", "tool_error", "prompt", "message", "source", "trigger", "reason", "agent_type",
          "call_id", "session")  # fmt: skip
"""Canonical fields with their own key; `data` takes all others."""
OBJECTS = ("input",)
LOOSE = ("output",)


def _field(name: str) -> CaseKey:
    kind = "object" if name in OBJECTS else "anything" if name in LOOSE else "text"
    return CaseKey(name, kind, f"The event's `{name}`.")


EVENT_KEYS = (
    CaseKey("event", "text", "The event, by its canonical name or any dialect's; with `agent`, by the agent's own."),
    *(_field(name) for name in FIELDS),
    CaseKey("data", "object", "Further fields of the event, by canonical or any dialect's own names."),
    CaseKey("hosted", "flag", "Whether tools have our agent's names, to be translated for each dialect."),
    CaseKey("agent", "text", "Fire through the bridge of this agent, as `anyhook bridge AGENT EVENT` would be called."),
    CaseKey("payload", "object", "What the agent sends, if the fields above are not enough; needs `agent`."),
    CaseKey("stdin", "text", "The same as raw text, right or wrong; needs `agent`."),
)
PLACE_KEYS = (
    CaseKey("env", "variables", "Variables besides PATH, HOME, LANG and the folders below HOME."),
    CaseKey("files", "files", "Files that the project has besides its own, or instead of them."),
    CaseKey("home", "files", "Files in the home folder, which is otherwise empty: the user's hooks."),
    CaseKey("bring", "list of texts", "Folders of the project to copy that are otherwise left out."),
    CaseKey("setup", "text", "A shell command, run in the project before the event; it must succeed."),
)
SWITCH_KEYS = (
    CaseKey("dialect", "texts", "Only the hooks of these dialects."),
    CaseKey("on_failure", "text", "What a broken hook means.", ON_FAILURE),
    CaseKey("mode", "text", "`shadow` runs everything and enforces nothing.", MODE),
    CaseKey("plugin_dirs", "list of texts", "Installed plugins, by folders of the project."),
    CaseKey("limit_s", "number", "How many seconds the whole case may take; default: 60."),
    CaseKey("skip", "text", "Why this case is not run."),
)
EXPECT_KEYS = (
    CaseKey("verdict", "compared", f"What all hooks together say: {', '.join(STRENGTH)}."),
    CaseKey("effect", "compared", "What a block does here, such as `deny_tool`."),
    CaseKey("reason", "compared", "Why it was blocked."),
    CaseKey("hook", "compared", "The id of the hook that blocked."),
    CaseKey("tool_input", "compared", "The rewritten input; null if there must be none."),
    CaseKey("tool_output", "compared", "The replaced output."),
    CaseKey("prompt", "compared", "The replaced prompt."),
    CaseKey("context", "compared", "Context for the model: a list, or a text that one of its entries contains."),
    CaseKey("messages", "compared", "Messages for the user, in the same way."),
    CaseKey("follow_ups", "compared", "Messages that make the agent go on, in the same way."),
    CaseKey("history", "compared", "The conversation that replaces the current one."),
    CaseKey("recipe", "compared", "The recipe to run."),
    CaseKey("end_turn", "compared", "Whether the turn ends."),
    CaseKey("enforced", "compared", "Whether the decision counts; false in shadow mode."),
    CaseKey("exit", "compared", "The exit status of `anyhook fire`, or of the bridge."),
    CaseKey("stdout", "compared", "What the bridge answers; needs `agent`."),
    CaseKey("stderr", "compared", "What it prints on stderr; needs `agent`."),
    CaseKey("json", "compared", "Its answer, read as JSON; needs `agent`."),
    CaseKey("ran", "list of texts", "Hooks that ran, by id, name or part of the id."),
    CaseKey("not_ran", "list of texts", "Hooks that exist but did not run."),
    CaseKey("failed", "list of texts", "Hooks that broke. Any other that breaks fails the case."),
    CaseKey(
        "hooks", "all compared", "By id, name or part of the id: what the hook's record in `fire --json` contains."
    ),
    CaseKey("problems", "list of texts", "The codes of all problems; [] for no problems."),
    CaseKey(
        "files", "all compared", "By path: what a file in the project holds afterwards; null if it must not exist."
    ),
)
DECISION_FIELDS = tuple(key.name for key in EXPECT_KEYS[:14])
LISTED = ("context", "messages", "follow_ups")
ANSWER = ("stdout", "stderr", "json")
MERGED = ("data", "env", "files", "home", "expect")
"""Keys whose mappings in `defaults` are added to, not replaced."""


def by_key(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an event as a case has them: those without a key of their own are together in `data`."""
    rest: dict[str, Json] = {name: value for name, value in fields.items() if name not in FIELDS}
    own = {name: fields[name] for name in FIELDS if name in fields}
    return {**own, "data": rest} if rest else own


NAME = CaseKey("name", "text", "What the case shows; `{column}` is replaced by a value of the table.")
TABLE = CaseKey("table", "rows", "One case for each row; `{column}` in any text of the case is replaced by its value.")
EXPECT = CaseKey("expect", "object", "The expected result.")
COMMON_KEYS = (*EVENT_KEYS, *PLACE_KEYS, *SWITCH_KEYS, EXPECT)
CASE_KEYS = (NAME, *COMMON_KEYS, TABLE)
FILE_KEYS = (
    CaseKey(
        "project", "text", "The project's folder, relative to this file; default: the nearest one above with hooks."
    ),
    CaseKey("defaults", "object", "Default values for every case."),
    CaseKey("cases", "rows", "The cases."),
)
