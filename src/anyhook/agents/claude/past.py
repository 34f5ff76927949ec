"""Claude Code's transcripts: `projects/PROJECT/SESSION.jsonl` in its folder, a line for each message."""

from __future__ import annotations

from anyhook.tables.past import *


def places(roots: Roots) -> list[str]:
    folder = roots.env.get("CLAUDE_CONFIG_DIR") or f"{roots.home}/.claude"
    return files_below(f"{folder}/projects", ".jsonl")


def events(path: str) -> Iterator[PastEvent]:
    session = TranscriptSession()
    for line in json_lines(path):
        kind, at = line.get("type"), ns_of(line.get("timestamp"))
        if kind not in ("user", "assistant") or line.get("isMeta"):
            continue
        session.session = str(line.get("sessionId") or session.session)
        session.project = str(line.get("cwd") or session.project)
        content = inner(line, "message", "content")
        if kind == "user" and isinstance(content, str):
            yield from session.prompt(at, content)
        for block in content if isinstance(content, list) else ():
            match inner(block, "type"):
                case "tool_use":
                    yield from session.call(at, inner(block, "id"), inner(block, "name"), inner(block, "input"))
                case "tool_result":
                    output, failed = inner(block, "content"), inner(block, "is_error") is True
                    yield from session.result(at, inner(block, "tool_use_id"), output, failed=failed)
                case "text" if kind == "user":
                    yield from session.prompt(at, inner(block, "text"))


def spent(line: dict[str, Json]) -> SpentTold | None:
    """A message is written in several lines, and each repeats what it used. What the session cost is written when it
    ends (2.1.325)."""
    if line.get("type") == "cost-state":
        return SpentTold(dollars=count(line.get("totalCostUSD")))
    message = line.get("message")
    usage = inner(message, "usage")
    if line.get("type") != "assistant" or not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
    return SpentTold(str(inner(message, "id") or ""), count(*(usage.get(name) for name in names)))


PAST = Past(places, events, tells=("tokens", "dollars"), spent=spent)
