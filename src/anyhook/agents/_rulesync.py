"""rulesync's source file, `.rulesync/hooks.json`: one set of hooks, from which it writes the files of many agents. Its
commands get the payload of the agent that calls them. Here they are read as Claude Code's hooks, because rulesync
writes all events for Claude Code."""

from __future__ import annotations

from anyhook.agents.claude.dialect import SHAPE
from anyhook.agents.claude.events import EVENTS
from anyhook.documents.files import Files
from anyhook.model.hook import Hook, Source
from anyhook.model.json_types import Json
from anyhook.tables.shapes import Entries

NAME = "rulesync"
PLACES = (".rulesync/hooks.jsonc", ".rulesync/hooks.json")
OTHERWISE = {"beforeSubmitPrompt": "UserPromptSubmit", "afterError": "StopFailure"}
"""Its event names that differ from Claude's in more than the first letter."""
NAMES = {f"{row.native[0].lower()}{row.native[1:]}": row.native for row in EVENTS} | OTHERWISE


def rulesync_hooks(project: str, files: Files) -> list[Hook]:
    """The hooks of a project's source file, as hooks of Claude Code; [] without one."""
    for place in PLACES:
        path = f"{project}/{place}"
        if not files.is_file(path):
            continue
        document = files.document(path, "json")
        hooks = document.get("hooks") if isinstance(document, dict) else None
        if not isinstance(hooks, dict):
            return []
        groups: dict[str, Json] = {}
        for event, entries in hooks.items():
            groups[NAMES.get(event, event)] = [_group(entry) for entry in entries] if isinstance(entries, list) else []
        return Entries(Source("claude", "project", path, project), files, SHAPE).grouped({"hooks": groups})
    return []


def _group(entry: Json) -> Json:
    """A matcher with one handler; its command starts in the project, as rulesync writes it."""
    if not isinstance(entry, dict):
        return entry
    command = entry.get("command")
    given = {key: value for key, value in entry.items() if key != "matcher"}
    if isinstance(command, str) and command.startswith("."):
        given["command"] = f'"$CLAUDE_PROJECT_DIR"/{command.removeprefix("./")}'
    made: dict[str, Json] = {"hooks": [{"type": "command", **given}]}
    return {"matcher": entry["matcher"], **made} if "matcher" in entry else made
