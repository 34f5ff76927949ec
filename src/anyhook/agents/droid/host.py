"""Factory Droid: Claude's payloads and answers with tool names of its own; a rewrite names only the fields that change.
From its documents alone."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    BASE,
    BLOCK,
    EDIT,
    FILE,
    HALT,
    NOTE,
    PROMPT,
    REASON,
    SOURCE,
    TASK,
    TELL,
    TOOL,
    TRIGGER,
    context,
    grouped,
    permission,
    specific,
)
from anyhook.agents._patches import split_patch
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch, Taken

EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": context("SessionStart"), "message": TELL}),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        PROMPT,
        {"block": BLOCK, "context": context("UserPromptSubmit"), "end_turn": HALT, "message": TELL},
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": permission("PreToolUse", "deny"),
            "ask": permission("PreToolUse", "ask"),
            "allow": permission("PreToolUse", "allow"),
            "input": specific("PreToolUse", updatedInput="{input}"),
            "context": context("PreToolUse"),
            "message": TELL,
        },
        limit_s=600,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_response",))),
        {"block": BLOCK, "end_turn": HALT, "context": context("PostToolUse"), "message": TELL},
        limit_s=600,
    ),
    HostEvent("Notification", ("notification",), NOTE),
    HostEvent("SubagentStop", ("subagent_stop",), (), {"block": BLOCK}, limit_s=600),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER),
    HostEvent("Stop", ("stop",), (), {"block": BLOCK, "message": TELL}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON),
)

HOST = Host(
    name="droid",
    title="Factory Droid",
    events=EVENTS,
    base=BASE,
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
        "Task": HostTool("delegate_task", TASK),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/.factory/hooks.json", "project": "{project}/.factory/hooks.json"},
        {"config": ("FACTORY_HOME_OVERRIDE", "{home}")},
        grouped(),
        under=(),
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
    confirm="A session keeps the hooks that were there when it began; `/hooks` shows them.",
    gaps=("the start of a sub-agent", "replaced output"),
)
