"""Kimi Code's transcripts: `sessions/PROJECT/SESSION/agents/AGENT/wire.jsonl` in its folder. Seen with 2.1.0."""

from __future__ import annotations

from anyhook.tables.past import *


def places(roots: Roots) -> list[str]:
    folder = roots.env.get("KIMI_CODE_HOME") or f"{roots.home}/.kimi-code"
    return files_below(f"{folder}/sessions", "wire.jsonl")


def events(path: str) -> Iterator[PastEvent]:
    folder = path.rpartition("/agents/")[0]
    session = TranscriptSession(folder.rpartition("/")[2], _project(folder))
    for line in json_lines(path):
        at, event, message = ns_of(line.get("time")), line.get("event"), line.get("message")
        match (line.get("type"), inner(event, "type")):
            case ("context.append_message", _) if inner(message, "origin", "kind") == "user":
                yield from session.prompt(at, inner(message, "content"))
            case ("context.append_loop_event", "tool.call"):
                tool, given = inner(event, "name"), inner(event, "args")
                yield from session.call(at, inner(event, "toolCallId"), tool, given)
            case ("context.append_loop_event", "tool.result"):
                failed = inner(event, "result", "isError") is True
                output = inner(event, "result", "output")
                yield from session.result(at, inner(event, "toolCallId"), output, failed=failed)
            case _:
                pass


def _project(folder: str) -> str:
    """The folder that the agent worked in, from a file of the session."""
    try:
        with open(f"{folder}/state.json", encoding="utf-8", errors="replace") as file:
            return str(json_object(file.read()).get("cwd") or "")
    except OSError:
        return ""


def transcript(roots: Roots, session: str) -> str:
    found = (path for path in places(roots) if path.endswith(f"/{session}/agents/main/wire.jsonl"))
    return next(found, "")


def spent(line: Object) -> SpentTold | None:
    used = line.get("usage")
    if line.get("type") != "usage.record" or not isinstance(used, dict):
        return None
    names = ("inputOther", "inputCacheCreation", "output")
    return SpentTold(str(line.get("time")), count(*(used.get(name) for name in names)))


PAST = Past(places, events, tells=("tokens",), spent=spent, transcript=transcript)
