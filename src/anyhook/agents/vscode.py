"""VS Code: Copilot in the editor. One entry serves two harnesses. The editor's harness sends its own tool names and
reads Claude's nested answers; Copilot CLI's sends Claude's tool names and reads the same answers at the top. It is not
run here; the table comes from its documents.

As a dialect: hook files in Copilot's folders, in their own format: no version, Claude's event names, a command for
each system. VS Code ignores matchers, and so do we."""

from __future__ import annotations

import sys

from anyhook.agents._claude_family import BASE as CLAUDE_BASE
from anyhook.agents._claude_family import BLOCK, HALT, TOOL, TOOLS, event, specific
from anyhook.agents._family import BASE, ONE_BY_ONE, HookFile, Layout, claude_reply, family, placed
from anyhook.agents._patches import split_patch
from anyhook.agents.copilot import is_an_editors
from anyhook.tables.vocabulary import *

VERSION = "October 2026"

FILE = {"path": "filePath"}
EDIT = {**FILE, "old_text": "oldString", "new_text": "newString"}


def _both(word: str) -> Say:
    """A permission, in the places where the two harnesses look for it."""
    said: dict[str, Json] = {"permissionDecision": word, "permissionDecisionReason": "{reason}"}
    return Say({**said, "hookSpecificOutput": {"hookEventName": "PreToolUse", **said}})


def _split(given: Input) -> list[tuple[str, Input]]:
    """One call per replacement."""
    listed = given.get("replacements")
    return [
        (
            "edit_file",
            {"path": each.get("filePath"), "old_text": each.get("oldString"), "new_text": each.get("newString")},
        )
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
    ]


BOTH: Mapping[str, Say] = {
    **{effect: _both(word) for effect, word in (("block", "deny"), ("ask", "ask"), ("allow", "allow"))},
    "input": Say({"modifiedArgs": "{input}", **specific("PreToolUse", updatedInput="{input}").json}),
}


def _keep_on(event: str) -> Mapping[str, Say]:
    """A stop is refused in the nested answer. For a sub-agent's stop its documents disagree, and Copilot CLI reads the
    top."""
    return {"block": Say({**BLOCK.json, **specific(event, decision="block", reason="{reason}").json})}


HOST_EVENTS = (
    event("SessionStart", "context message", takes=(Taken("source", ("source",), read_new),)),
    event("UserPromptSubmit", "block message", {"block": Say({**HALT.json, **BLOCK.json})}),
    event("PreToolUse", "block ask allow input context message", BOTH),
    event(
        "PostToolUse",
        "block end_turn context message",
        takes=(*TOOL, Taken("output", ("tool_response", "tool_result.text_result_for_llm"))),
    ),
    event("SubagentStart", "context"),
    event("SubagentStop", "block", _keep_on("SubagentStop")),
    event("PreCompact", "message"),
    event("Stop", "block", _keep_on("Stop")),
)

HAS_TERMINALS = True
HOST = Host(
    name="vscode",
    title="VS Code",
    events=HOST_EVENTS,
    base=(Taken("session", ("session_id", "sessionId")), *CLAUDE_BASE[1:]),
    tools={
        "run_in_terminal": HostTool("shell"),
        "runTerminalCommand": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "create_file": HostTool("write_file", FILE),
        "replace_string_in_file": HostTool("edit_file", EDIT),
        "multi_replace_string_in_file": HostTool("edit_file", split=_split),
        "insert_edit_into_file": HostTool("edit_file", {**FILE, "new_text": "code"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "file_search": HostTool("list_files", {"glob": "query"}),
        "grep_search": HostTool("grep", {"pattern": "query"}),
        "runSubagent": HostTool("delegate_task", {"task": "prompt"}),
        "fetch_webpage": HostTool("web_fetch"),
        **TOOLS,
    },
    entry=Entry(
        "list",
        {"user": "{config}/hooks/anyhook-vscode.json", "project": "{project}/.github/hooks/anyhook-vscode.json"},
        {"config": ("COPILOT_HOME", "{home}/.copilot")},
        {"type": "command", "command": "{command}", "cwd": ".", "timeout": "{seconds}"},
        owned=True,
    ),
    project_variables=("COPILOT_PROJECT_DIR",),
    reads={"vscode": ("user", "project"), "copilot": ("user", "project")},
    misreads=("copilot",),  # its own harness sends payloads without `toolName` and `toolArgs`
    program="code",
    marks=("COPILOT_AGENT",),
    confirm="It runs a workspace's hooks once the workspace is trusted, and none if `chat.useHooks` is off.",
    gaps=(
        "the Claude and Codex harnesses, which run those agents' own entries",
        "cloud sessions",
        "context with a prompt",
        "replaced output",
    ),
    signs=(
        Sign(("timestamp", "hook_event_name"), ("cwd", "sessionId", "hookEventName")),
        # As its documents show it, June 2026; the first is as its source sends it.
        Sign(("sessionId", "hookEventName"), ("workspaceRoot", "workspace_roots", "conversation_id", "toolName")),
    ),
)


SYSTEM = {"darwin": "osx", "win32": "windows"}.get(sys.platform, "linux")
STOPPING = Field("stop_hook_active", not_in_a_stop_hook)


EVENTS = event_rows(
    HOST,
    cells={"source": said_new, "tool_response": output_alone},
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
    **ONE_BY_ONE,
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


def sample() -> Sample:
    from anyhook.tables.sample_rows import REASON, called, denied, entered, guarded

    guard = ".github/hooks/scripts/guard"
    payload = {
        "timestamp": "2026-10-14T10:00:00.000Z", "hook_event_name": "PreToolUse", "session_id": "s",
        **called("run_in_terminal", isBackground=False),
    }  # fmt: skip
    entry = entered("PreToolUse", guard, type="command")
    told = {"permissionDecision": "deny", "permissionDecisionReason": REASON, **denied("PreToolUse")}
    return guarded(".github/hooks/guard.json", "run_in_terminal", payload, entry=entry, guard=guard, stdout=told)
