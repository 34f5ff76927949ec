"""What a transcript tells of the tokens that a session has used. A transcript grows all the time, so each look reads
only what came since the last one."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from anyhook.model.record import Record
from anyhook.platform.places import NO_WAIT
from anyhook.tables.past import ns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyhook.tables.past import Object, TokensTold

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


def transcript_of(payload: bytes) -> str:
    """The path of the transcript that an agent's payload names; "" if it names none."""
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return ""
    path = found.get("transcript_path") if isinstance(found, dict) else None
    return path if isinstance(path, str) and "\0" not in path else ""


def read_on(path: str, tells: Callable[[Object], TokensTold | None], since_s: float, known: Reading | None) -> Reading:
    """What the transcript tells by now. One that cannot be read tells nothing new; one that became shorter is another
    one, and read from its start."""
    known = known or Reading()
    try:
        data, offset = _after(path, known.offset)
    except OSError:
        return known
    if offset < known.offset:
        known = Reading()
    end = data.rfind(b"\n") + 1
    if not end and len(data) == MAX_TRANSCRIPT_READ:
        end = len(data)  # a line that is too long
    tokens, before, at_s, messages = known.tokens, known.before, known.at_s, {**known.open}
    for line in data[:end].split(b"\n"):
        if b"token" not in line:
            continue
        try:
            told = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        found = tells(told) if isinstance(told, dict) else None
        if found is None:
            continue
        earlier = messages.pop(found.of, 0.0)
        tokens += found.tokens - (earlier if earlier <= found.tokens else 0.0)
        messages[found.of] = found.tokens
        if len(messages) > MAX_OPEN:
            del messages[next(iter(messages))]
        at_s = ns_of(told.get("timestamp")) / 1e9 or at_s
        if at_s < since_s:
            before = tokens
    return Reading(offset + end, tokens, before, messages, at_s)


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
