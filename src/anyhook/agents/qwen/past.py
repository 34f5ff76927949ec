"""Qwen Code's transcripts: `projects/PROJECT/chats/SESSION.jsonl` in its folder, a line for each message. Seen with
0.15.10."""

from __future__ import annotations

from anyhook.tables.past import *


def places(roots: Roots) -> list[str]:
    folder = roots.env.get("QWEN_RUNTIME_DIR") or roots.env.get("QWEN_HOME") or f"{roots.home}/.qwen"
    return [path for path in files_below(f"{folder}/projects", ".jsonl") if "/chats/" in path]


def events(path: str) -> Iterator[PastEvent]:
    session = TranscriptSession()
    for line in json_lines(path):
        session.session = str(line.get("sessionId") or session.session)
        session.project = str(line.get("cwd") or session.project)
        parts = inner(line, "message", "parts")
        for part in parts if isinstance(parts, list) else ():
            yield from _event(session, line, part)


def _event(session: TranscriptSession, line: dict[str, Json], part: Json) -> Iterator[PastEvent]:
    at, call, result = ns_of(line.get("timestamp")), inner(part, "functionCall"), inner(part, "functionResponse")
    match line.get("type"):
        case "user":
            yield from session.prompt(at, inner(part, "text"))
        case "assistant" if call is not None:
            yield from session.call(at, inner(call, "id"), inner(call, "name"), inner(call, "args"))
        case "tool_result" if result is not None:
            failed = inner(line, "toolCallResult", "status") == "error"
            said = inner(result, "response", "error") or inner(result, "response", "output")
            yield from session.result(at, inner(result, "id"), said, failed=failed)
        case _:
            pass


def spent(line: dict[str, Json]) -> SpentTold | None:
    used = line.get("usageMetadata")
    if line.get("type") != "assistant" or not isinstance(used, dict):
        return None
    kept = count(used.get("cachedContentTokenCount"))
    return SpentTold(str(line.get("uuid") or ""), max(0.0, count(used.get("totalTokenCount")) - kept))


PAST = Past(places, events, own_ids=True, tells=("tokens",), spent=spent)
