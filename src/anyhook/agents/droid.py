"""Factory Droid: Claude's payloads and answers with its own tool names; a rewrite names only the fields that change. It
needs an account with its maker, so it is not run here; the table comes from its documents alone.

As a dialect: Claude's table, except that a file is keyed by event (older versions use the settings), a filter for
commands adds to the matcher, and a rewrite names only the fields that change."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE as CLAUDE_BASE
from anyhook.agents._claude_family import EDIT, FILE, TASK, event, grouped
from anyhook.agents._family import BASE, MODE, HookFile, Layout, aliased, claude_reply, family, misplaced
from anyhook.agents._patches import split_patch
from anyhook.tables.vocabulary import *

VERSION = "0.225"

HOST_EVENTS = (
    event("SessionStart", "context message"),
    event("UserPromptSubmit", "block context end_turn message"),
    event("PreToolUse", "block ask allow input context message"),
    event("PostToolUse", "block end_turn context message"),
    event("Notification"),
    event("SubagentStop", "block", takes=()),
    event("PreCompact"),
    event("Stop", "block message", takes=()),
    event("SessionEnd"),
)

OWN_FOLDERS = ("{config}/.factory/specs/**",)
HOST = Host(
    name="droid",
    title="Factory Droid",
    events=HOST_EVENTS,
    base=CLAUDE_BASE,
    tools={
        "Execute": HostTool("shell"),
        "Read": HostTool("read_file", FILE),
        "Create": HostTool("write_file", FILE),
        "Edit": HostTool("edit_file", {**EDIT, "old_text": "old_str", "new_text": "new_str"}),
        "ApplyPatch": HostTool("edit_file", split=split_patch),
        "Glob": HostTool("list_files", {"glob": "pattern"}),
        "LS": HostTool("list_files"),
        "Grep": HostTool("grep"),
        "FetchUrl": HostTool("web_fetch"),
        "WebSearch": HostTool("web_search"),
        "Task": HostTool("delegate_task", TASK),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/.factory/hooks.json", "project": "{project}/.factory/hooks.json"},
        {"config": ("FACTORY_HOME_OVERRIDE", "{home}")},
        grouped(),
        under=(),
        names_tools=True,
    ),
    project_variables=("FACTORY_PROJECT_DIR",),
    reads={"droid": ("user", "project")},
    program="droid",
    settings=(
        "{config}/.factory/settings.json",
        "{project}/.factory/settings.json",
        "{project}/.factory/settings.local.json",
    ),
    switches=(OffSwitch(("hooksDisabled",)), OffSwitch(("allowManagedHooksOnly",))),
    confirm="A session uses the hooks that were there when it started; `/hooks` shows them.",
    gaps=("the start of a sub-agent", "replaced output"),
)


STOPPING = fields(stop_hook_active=not_in_a_stop_hook)
EVENTS = event_rows(HOST, extra={"Stop": STOPPING, "SubagentStop": STOPPING}, bound=8)
_named = aliased(HOST)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """The matcher, and for commands the pattern under `commandRegex`."""
    pattern, given = hook.spec.get("commandRegex"), event.get("input")
    if isinstance(pattern, str) and row.target == "tool":
        command = str(given.get("command", "")) if isinstance(given, dict) else ""
        if not compile_pattern(pattern).search(command):
            return f"`commandRegex` {pattern!r} is not found in the command"
    return _named(hook, event, row)


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/.factory/hooks.json"),
            HookFile("user", "{config}/.factory/settings.json", "settings", ("hooks",), "hooks.json"),
            HookFile("project", "{project}/.factory/hooks.json"),
            HookFile("project", "{project}/.factory/settings.json", "settings", ("hooks",), "hooks.json"),
            HookFile("project", "{project}/.factory/settings.local.json", "local", ("hooks",), "hooks.json"),
        ),
        under=(),
        group_keys=("commandRegex",),
        off=(("hooksDisabled",), True),
    ),
    EVENTS,
    claude_reply(EVENTS),
    base=(*BASE, MODE),
    match=match,
    variables={"FACTORY_PROJECT_DIR": "{project}", "CLAUDE_PROJECT_DIR": "{project}"},
    whole_input=merged,
    misplaced=misplaced(("{project}/.factory/hooks/hooks.json", ".factory/hooks.json")),
    differences=differences(
        "0.225",
        "Factory-AI/factory docs/reference/hooks-reference.mdx",
        "2026-11-16",
        ("FD-1", "Managed files and plugins are not read."),
    ),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, grouped, guarded

    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "permission_mode": "auto-low",
        **called("Execute", summary="x", riskLevel="low"),
    }  # fmt: skip
    entry = grouped("PreToolUse", "Execute", ".factory/hooks/guard")["hooks"]
    return guarded(".factory/hooks.json", "Execute", payload, entry=entry)
