"""goose's transcripts: the table of messages in `goose/sessions/sessions.db`, in the user's data folder."""

from __future__ import annotations

import os

from anyhook.documents.sqlite import rows
from anyhook.tables.past import *

MESSAGES = (
    "SELECT m.session_id, s.working_dir, m.role, m.content_json, m.created_timestamp FROM messages m "
    "JOIN sessions s ON s.id = m.session_id ORDER BY m.session_id, m.id"
)

LEDGER = (
    "SELECT sum(total_tokens - coalesce(cache_read_tokens, 0)), sum(cost) FROM usage_ledger "
    "WHERE session_id = ? AND created_timestamp >= ?"
)
"""goose knows the prices of models, and says `estimated` where it uses them."""


def places(roots: Roots) -> list[str]:
    path = f"{roots.xdg('XDG_DATA_HOME', '.local/share')}/goose/sessions/sessions.db"
    return [path] if os.path.isfile(path) else []


def events(path: str) -> Iterator[PastEvent]:
    session = TranscriptSession()
    for identity, folder, role, content, created in rows(path, MESSAGES):
        if identity != session.session:
            session = TranscriptSession(str(identity), str(folder))
        at = ns_of(created)
        parts = json_object(f'{{"parts": {content}}}').get("parts")
        for part in parts if isinstance(parts, list) else ():
            match inner(part, "type"):
                case "text" if role == "user":
                    yield from session.prompt(at, inner(part, "text"))
                case "toolRequest":
                    call = inner(part, "toolCall", "value")
                    yield from session.call(at, inner(part, "id"), inner(call, "name"), inner(call, "arguments"))
                case "toolResponse":
                    result = inner(part, "toolResult")
                    output = inner(result, "value", "content") or inner(result, "error")
                    failed = inner(result, "status") == "error" or inner(result, "value", "isError") is True
                    yield from session.result(at, inner(part, "id"), output, failed=failed)
                case _:
                    pass


def sums(path: str, session: str, since_s: float) -> SpentTold:
    [(tokens, dollars)] = rows(path, LEDGER, (session, since_s))
    return SpentTold(session, count(tokens), count(dollars))


PAST = Past(places, events, tells=("tokens", "dollars"), sums=sums)
