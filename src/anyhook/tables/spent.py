"""What a transcript tells of the tokens and dollars that a session has used. A transcript grows all the time, so each
look reads only what came since the last one."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping

from anyhook.model.record import Record
from anyhook.platform.places import NO_WAIT
from anyhook.tables.past import Object, Past, SpentTold, ns_of
from anyhook.tables.rows import Roots

MAX_TRANSCRIPT_READ = 64 << 20
"""How many bytes one look reads; the next one goes on."""
MAX_OPEN = 16
"""How many of the last messages may still be told about again."""


class Reading(Record):
    """How far a transcript was read, and what it told until there."""

    offset: int = 0
    tokens: float = 0.0
    before: float = 0.0
    """What of it was used before the period that counts."""
    open: Mapping[str, float] = {}
    """The last messages, and what each has used."""
    at_s: float = 0.0
    """The time of the last line that told."""
    dollars: float = 0.0
    dollars_before: float = 0.0


def transcript_of(payload: bytes) -> str:
    """The path of the transcript that an agent's payload names; "" if it names none."""
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return ""
    path = found.get("transcript_path") if isinstance(found, dict) else None
    return path if isinstance(path, str) and "\0" not in path else ""


def place_of(reader: Past, roots: Roots, session: str) -> str:
    """The path of a session's transcript; "" if it is not known."""
    if reader.transcript is not None:
        return reader.transcript(roots, session)
    return next(iter(reader.places(roots)), "") if reader.sums is not None else ""


def read_on(path: str, reader: Past, session: str, since_s: float, known: Reading | None) -> Reading:
    """What the transcript tells by now. One that cannot be read tells nothing new."""
    known = known or Reading()
    try:
        if reader.sums is not None:
            told = reader.sums(path, session, since_s)
            return Reading(tokens=told.tokens, dollars=told.dollars, at_s=os.stat(path).st_mtime)
        return _lines_on(path, reader.spent, since_s, known) if reader.spent is not None else known
    except OSError:
        return known


def _lines_on(path: str, tells: Callable[[Object], SpentTold | None], since_s: float, known: Reading) -> Reading:
    """What the lines since then tell. A file that became shorter is another one, and read from its start."""
    data, offset = _after(path, known.offset)
    if offset < known.offset:
        known = Reading()
    end = data.rfind(b"\n") + 1
    if not end and len(data) == MAX_TRANSCRIPT_READ:
        end = len(data)  # a line that is too long
    tokens, before, at_s, messages = known.tokens, known.before, known.at_s, {**known.open}
    dollars, dollars_before = known.dollars, known.dollars_before
    for line in data[:end].split(b"\n"):
        if b"oken" not in line and b"usage" not in line:
            continue
        try:
            told = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        found = tells(told) if isinstance(told, dict) else None
        if found is None:
            continue
        dollars = max(dollars, found.dollars)
        earlier = messages.pop(found.of, 0.0)
        tokens += found.tokens - (earlier if earlier <= found.tokens else 0.0)
        messages[found.of] = found.tokens
        if len(messages) > MAX_OPEN:
            del messages[next(iter(messages))]
        at_s = ns_of(told.get("timestamp") or told.get("time")) / 1e9 or at_s
        if at_s < since_s:
            before, dollars_before = tokens, dollars
    return Reading(offset + end, tokens, before, messages, at_s, dollars, dollars_before)


def _after(path: str, offset: int) -> tuple[bytes, int]:
    """What stands behind a place in a regular file; behind its start if it is shorter now."""
    with open(os.open(path, os.O_RDONLY | NO_WAIT), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError("no file")
        if about.st_size < offset:
            offset = 0
        file.seek(offset)
        return file.read(MAX_TRANSCRIPT_READ), offset
