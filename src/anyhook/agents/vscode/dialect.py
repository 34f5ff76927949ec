"""VS Code: hook files in Copilot's folders, in their own format: no version, Claude's event names, a command for each
system. VS Code ignores matchers, and so do we."""

from __future__ import annotations

import sys

from anyhook.agents._family import BASE, HookFile, Layout, claude_reply, each_by_itself, family, placed
from anyhook.agents.copilot.dialect import is_an_editors
from anyhook.agents.vscode import HOST
from anyhook.tables.cells import everything, text_of
from anyhook.tables.hosted import event_rows, not_in_a_stop_hook, now
from anyhook.tables.readers import object_or_nothing
from anyhook.tables.rows import SPECIFIC, Field, Key, Limits, Scene, differences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

SYSTEM = {"darwin": "osx", "win32": "windows"}.get(sys.platform, "linux")
STOPPING = Field("stop_hook_active", not_in_a_stop_hook)


def _source(scene: Scene) -> Json:
    said = scene.event.get("source")
    return "new" if said == "startup" else said


def _output(scene: Scene) -> Json:
    return text_of(scene.event.get("output"))


EVENTS = event_rows(
    HOST,
    cells={"source": _source, "tool_response": _output},
    extra={"Stop": (STOPPING,), "SubagentStop": (STOPPING,)},
    untold=("SubagentStart.last_assistant_message", "Stop.last_assistant_message"),
    bound=8,
)


def _one(entry: Json) -> Json:
    """An entry with the command for this system."""
    if not isinstance(entry, dict):
        return entry
    return {**entry, "command": entry[SYSTEM]} if isinstance(entry.get(SYSTEM), str) else entry


REPLY = claude_reply(EVENTS, read=object_or_nothing, text_on=(), speaks_anyway=False)
AT_A_STOP = REPLY.replace(
    keys=(
        Key((SPECIFIC, "decision"), "string", "verdict", words=(("block", "block", ()),)),
        Key((SPECIFIC, "reason"), "string", "reason"),
        *(key for key in REPLY.keys if key.path[0] not in (SPECIFIC, "decision", "reason")),
    )
)
ON_PROMPT = REPLY.replace(
    keys=(
        Key(("continue",), "bool", "block_unless"),
        Key(("stopReason",), "string", "reason"),
        Key(("systemMessage",), "string", "messages"),
    )
)
_MADE = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/hooks/"), HookFile("project", "{project}/.github/hooks/")),
        style="list",
        keys=("windows", "linux", "osx", "cwd", "env"),
        needs_type=False,
        limits=Limits(30.0),
        spelled=_one,
        mine=is_an_editors,
        patterns=False,
    ),
    EVENTS,
    REPLY.replace(on_event={"stop": AT_A_STOP, "user_prompt_submit": ON_PROMPT}),
    base=(Field("timestamp", now), *BASE),
    match=everything,
    variables=lambda hook, project, session: {},
    identity=each_by_itself,
    at_once=None,
    differences=differences(
        "October 2026",
        "microsoft/vscode-docs docs/agent-customization/hooks.md",
        "2026-11-16",
        ("VS-1", "Folders of `chat.hookFilesLocations`, front matter of agents, and plugins are not read."),
        ("VS-2", "A file with a version, or with other events, is read as Copilot CLI's."),
        ("VS-5", "Hooks start in the project's folder, not in the home folder, and get it as `cwd`."),
    ),
)
DIALECT = _MADE.replace(launch=placed(_MADE.launch))
