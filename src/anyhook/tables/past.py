"""Agents' transcripts as events: the common parts of the readers. A line that cannot be read is skipped."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.texts import text_of
from anyhook.tables.rows import Roots

Object = dict[str, Json]

__all__ = [
    "Iterator", "Json", "Object", "Past", "PastEvent", "Roots", "SpentTold", "TranscriptSession", "count",
    "files_below", "inner", "json_lines", "json_object", "ns_of", "one_object", "text_in",
]  # fmt: skip
"""What a reader of transcripts is written with: `from anyhook.tables.past import *`."""

MAX_JSON_LINE = 64 << 20
"""Longer lines, in bytes, are skipped, and so are larger transcripts that are one JSON object: a transcript of any size
is read within the same memory."""


class PastEvent(Record):
    """One event of a saved session, with the agent's own names for tools and inputs."""

    at_ns: int
    session: str
    project: str
    name: str
    data: dict[str, Json]


class SpentTold(Record):
    """What a line of a transcript, or a table, tells of what a session has used."""

    of: str = ""
    """What tokens were used for: a later line about the same replaces an earlier one."""
    tokens: float = 0.0
    """What the model's provider had kept from before does not count."""
    dollars: float = 0.0
    """Of the session so far."""


class Past(Record):
    """How an agent's transcripts are found and read."""

    places: Callable[[Roots], list[str]]
    events: Callable[[str], Iterator[PastEvent]]
    """The events of one file; raises OSError if it cannot be read."""
    refusals: tuple[str, ...] = ()
    """Texts in what the agent notes instead of a result if a hook has refused the call."""
    unasked: tuple[str, ...] = ()
    """Tools in transcripts that it does not ask hooks about: gaps that are known."""
    own_ids: bool = False
    """Whether hooks get other ids for calls than transcripts have."""
    tells: tuple[str, ...] = ()
    """What its transcripts tell of what sessions use: `tokens`, `dollars`; in their lines or in tables."""
    spent: Callable[[Object], SpentTold | None] | None = None
    """What a line tells."""
    sums: Callable[[str, str, float], SpentTold] | None = None
    """What tables tell of a session: the file, the session, from which time on."""
    transcript: Callable[[Roots, str], str] | None = None
    """Where a session's transcript is, if payloads do not name it."""


class TranscriptSession:
    """Turns the entries of a transcript into events, in order. A result belongs to the call with its id."""

    def __init__(self, session: str = "", project: str = "") -> None:
        self.session, self.project = session, project
        self._calls: dict[str, Object] = {}

    def prompt(self, at_ns: int, text: Json) -> Iterator[PastEvent]:
        said = text_in(text)
        if said and not said.startswith("<"):  # what the agent itself adds is in tags
            yield self._event(at_ns, "user_prompt_submit", {"prompt": said})

    def call(self, at_ns: int, identity: Json, tool: Json, given: Json) -> Iterator[PastEvent]:
        key = str(identity or "")
        if not isinstance(tool, str) or not tool or (key and key in self._calls):
            return
        data: Object = {"tool": tool, "input": given if isinstance(given, dict) else {}, "call_id": key}
        self._calls[key] = data
        yield self._event(at_ns, "pre_tool", data)

    def result(self, at_ns: int, identity: Json, output: Json, *, failed: bool) -> Iterator[PastEvent]:
        data = self._calls.pop(str(identity or ""), None)
        if data is None:
            return
        said = text_in(output)
        more: Object = {"tool_error": said} if failed else {"output": said}
        yield self._event(at_ns, "post_tool_failure" if failed else "post_tool", {**data, **more})

    def _event(self, at_ns: int, name: str, data: Object) -> PastEvent:
        return PastEvent(at_ns, self.session, self.project, name, data)


def text_in(value: Json) -> str:
    """The text of a message, which is a string or a list of parts with texts."""
    if isinstance(value, list):
        parts = [each.get("text") if isinstance(each, dict) else each for each in value]
        return "\n".join(part for part in parts if isinstance(part, str))
    if isinstance(value, dict):
        inner = value.get("content", value.get("output"))
        return text_in(inner) if inner is not None else text_of(value)
    return "" if value is None else text_of(value)


def json_lines(path: str) -> Iterator[Object]:
    """The objects of a file with one JSON object per line. Raises OSError if it cannot be read; after the last line,
    if some were too long."""
    passed = 0
    with open(path, "rb") as file:
        while line := file.readline(MAX_JSON_LINE):
            if len(line) == MAX_JSON_LINE and not line.endswith(b"\n"):
                passed += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_JSON_LINE)
                continue
            try:
                found = json.loads(line.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found
    if passed:
        raise OSError(errno.EFBIG, f"{passed} of its lines, each longer than {MAX_JSON_LINE >> 20} MB, left out", path)


def one_object(path: str) -> Object:
    """The object that a whole file is. Raises OSError if it cannot be read."""
    if os.stat(path).st_size > MAX_JSON_LINE:
        raise OSError(errno.EFBIG, f"it is larger than {MAX_JSON_LINE >> 20} MB", path)
    with open(path, encoding="utf-8", errors="replace") as file:
        found = json_object(file.read())
    if not found:
        raise OSError(errno.EILSEQ, "it is not a JSON object", path)
    return found


def count(*values: Json) -> float:
    """The sum of those that are numbers."""
    return float(sum(each for each in values if isinstance(each, (int, float))))


def json_object(text: Json) -> Object:
    """The object in a JSON text, or the object itself; {} for anything else."""
    if isinstance(text, str):
        try:
            text = json.loads(text)
        except (ValueError, RecursionError):
            return {}
    return text if isinstance(text, dict) else {}


def inner(value: Json, *keys: str) -> Json:
    """The value inside nested objects; None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def ns_of(value: Json) -> int:
    """Nanoseconds of a time in ISO 8601, in seconds or in milliseconds; 0 for anything else."""
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return 0
        return int((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1e9)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return int(value * (1e6 if value > 1e11 else 1e9))
    return 0


def files_below(folder: str, *endings: str) -> list[str]:
    """The files in a folder and below it with this ending, in order."""
    found = [
        os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(endings)
    ]
    return sorted(found)
