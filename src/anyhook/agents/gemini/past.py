"""Gemini CLI's transcripts: `~/.gemini/tmp/PROJECT/chats/session-….jsonl`, in which a later line about a message
replaces an earlier one. Older versions write one JSON object."""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256
from itertools import accumulate, chain

from anyhook.platform.places import head
from anyhook.tables.past import *

MAX_LOOKED_THROUGH = 1 << 20
"""How much of a session, in bytes, is looked through for the name of its folder."""
MAX_FOLDER_LENGTH = 1000
NAMED_PATH = re.compile(r'(?<=")/[^"\\]+|(?<![\w/])/[^\s"\'`\\:]+')
"""A path, alone in a text or in a sentence."""


def places(roots: Roots) -> list[str]:
    found = files_below(f"{roots.home}/.gemini/tmp", ".json", ".jsonl")
    return [path for path in found if "/chats/session-" in path]


def events(path: str) -> Iterator[PastEvent]:
    """The file is read twice, first for the last version of each message, so that none has to be kept."""
    session, last = TranscriptSession(project=_project(path)), dict[str, int]()
    with suppress(OSError):  # the second time tells it, after what could be read
        last.update((key, number) for number, key, _ in _messages(path, session))
    for number, key, message in _messages(path, session):
        if last.get(key) != number:
            continue
        at = ns_of(message.get("timestamp"))
        if message.get("type") == "user":
            yield from session.prompt(at, message.get("content"))
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            when = ns_of(inner(call, "timestamp")) or at
            yield from session.call(when, inner(call, "id"), inner(call, "name"), inner(call, "args"))
            failed = inner(call, "status") == "error"
            yield from session.result(when, inner(call, "id"), _output(inner(call, "result")), failed=failed)


def _messages(path: str, session: TranscriptSession) -> Iterator[tuple[int, str, Object]]:
    """All versions of all messages, numbered, each with the id of its message."""
    number = 0
    for line in _lines(path):
        session.session = str(line.get("sessionId") or session.session)
        told = inner(line, "$set", "messages") or line.get("messages") or [line]
        for each in told if isinstance(told, list) else ():
            if isinstance(each, dict) and each.get("id") is not None:
                number += 1
                yield number, str(each["id"]), each


def _lines(path: str) -> Iterator[Object]:
    return json_lines(path) if path.endswith(".jsonl") else iter([one_object(path)])


def _output(result: Json) -> Json:
    first = result[0] if isinstance(result, list) and result else result
    response = inner(first, "functionResponse", "response")
    return inner(response, "output") or inner(response, "error") or response


def _project(path: str) -> str:
    """The folder that the agent worked in: from a file next to the chats, or the one whose digest (in older versions)
    or short name is the name of the place, of its known folders and those that the session names; "" if none is."""
    place = path.rpartition("/chats/")[0]
    if root := (head(f"{place}/.project_root") or b"").decode("utf-8", "replace").strip():
        return root
    base, _, name = place.rsplit("/", 2)
    named = inner(_object(f"{base}/projects.json"), "projects")
    known: Object = {**_object(f"{base}/trustedFolders.json"), **(named if isinstance(named, dict) else {})}
    folders = chain(known, _named_in(path))
    return next((each for each in folders if name in (known.get(each), sha256(each.encode()).hexdigest())), "")


def _named_in(path: str) -> Iterator[str]:
    """The folders that the beginning of a session names, and those above them."""
    text = (head(path, MAX_LOOKED_THROUGH) or b"").decode("utf-8", "replace")
    for whole in dict.fromkeys(NAMED_PATH.findall(text)):
        if len(whole) <= MAX_FOLDER_LENGTH:
            yield from accumulate(whole.rstrip("/").split("/"), "{}/{}".format)


def _object(path: str) -> Object:
    return json_object((head(path, 1 << 20) or b"").decode("utf-8", "replace"))


def spent(line: Object) -> SpentTold | None:
    used = line.get("tokens")
    if line.get("id") is None or not isinstance(used, dict):
        return None
    return SpentTold(str(line["id"]), max(0.0, count(used.get("total")) - count(used.get("cached"))))


PAST = Past(places, events, tells=("tokens",), spent=spent)
