"""opencode's transcripts: the parts of all messages, in `opencode/opencode.db` in the user's data folder."""

from __future__ import annotations

import os

from anyhook.documents.sqlite import rows
from anyhook.tables.past import *

PARTS = (
    "SELECT p.session_id, s.directory, m.data, p.data, p.time_created FROM part p "
    "JOIN message m ON m.id = p.message_id JOIN session s ON s.id = p.session_id "
    "ORDER BY p.session_id, p.time_created, p.id"
)
"""The parts of all messages that are kept, in `opencode.db`."""

MESSAGES_USED = (
    "SELECT sum(json_extract(data, '$.tokens.input') + json_extract(data, '$.tokens.output')), "
    "sum(json_extract(data, '$.cost')) FROM message WHERE session_id = ? AND time_created >= ?"
)


def places(roots: Roots) -> list[str]:
    path = f"{roots.xdg('XDG_DATA_HOME', '.local/share')}/opencode/opencode.db"
    return [path] if os.path.isfile(path) else []


def events(path: str) -> Iterator[PastEvent]:
    session = TranscriptSession()
    for identity, folder, message, text, created in rows(path, PARTS):
        if identity != session.session:
            session = TranscriptSession(str(identity), str(folder))
        part, at = json_object(text), ns_of(created)
        state = part.get("state")
        if part.get("type") == "text" and json_object(message).get("role") == "user":
            yield from session.prompt(at, part.get("text"))
        elif part.get("type") == "tool":
            begun, ended = (ns_of(inner(state, "time", end)) or at for end in ("start", "end"))
            yield from session.call(begun, part.get("callID"), part.get("tool"), inner(state, "input"))
            failed = inner(state, "status") == "error"
            if failed or inner(state, "status") == "completed":
                output = inner(state, "error" if failed else "output")
                yield from session.result(ended, part.get("callID"), output, failed=failed)


def sums(path: str, session: str, since_s: float) -> SpentTold:
    [(tokens, dollars)] = rows(path, MESSAGES_USED, (session, since_s * 1000))
    return SpentTold(session, count(tokens), count(dollars))


PAST = Past(places, events, tells=("tokens", "dollars"), sums=sums)
