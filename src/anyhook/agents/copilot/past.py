"""Copilot CLI's transcripts: `session-state/SESSION/events.jsonl` in its folder."""

from __future__ import annotations

from anyhook.tables.past import *


def _folder(roots: Roots) -> str:
    return f"{roots.env.get('COPILOT_HOME') or f'{roots.home}/.copilot'}/session-state"


def places(roots: Roots) -> list[str]:
    return files_below(_folder(roots), "events.jsonl")


def transcript(roots: Roots, session: str) -> str:
    return f"{_folder(roots)}/{session}/events.jsonl"


def spent(line: Object) -> SpentTold | None:
    """Its `cost` counts requests, and no dollars."""
    used = inner(line.get("data"), "usage")
    if line.get("type") != "session.usage_record" or not isinstance(used, dict):
        return None
    return SpentTold(str(line.get("id") or ""), count(used.get("inputTokens"), used.get("outputTokens")))


def events(path: str) -> Iterator[PastEvent]:
    session = TranscriptSession()
    for line in json_lines(path):
        at, data = ns_of(line.get("timestamp")), line.get("data")
        match line.get("type"):
            case "session.start" | "session.resume":
                session.session = str(inner(data, "sessionId") or session.session)
                session.project = str(inner(data, "context", "cwd") or session.project)
            case "user.message":
                yield from session.prompt(at, inner(data, "content"))
            case "tool.execution_start":
                tool, given = inner(data, "toolName"), inner(data, "arguments")
                yield from session.call(at, inner(data, "toolCallId"), tool, given)
            case "tool.execution_complete":
                failed = inner(data, "success") is False
                output = inner(data, "error", "message") if failed else inner(data, "result", "content")
                yield from session.result(at, inner(data, "toolCallId"), output, failed=failed)
            case _:
                pass


PAST = Past(places, events, tells=("tokens",), spent=spent, transcript=transcript)
