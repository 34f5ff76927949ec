"""Factory Droid: Claude's payloads and answers with its own tool names; a rewrite names only the fields that change. It
needs an account with its maker, so it is not run here; the table comes from its documents alone."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EDIT, FILE, TASK, event, grouped
from anyhook.agents._patches import split_patch
from anyhook.tables.host_rows import Entry, Host, HostTool, OffSwitch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample

VERSION = "0.225"

EVENTS = (
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


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, grouped, guarded

    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "permission_mode": "auto-low",
        **called("Execute", summary="x", riskLevel="low"),
    }  # fmt: skip
    entry = grouped("PreToolUse", "Execute", ".factory/hooks/guard")["hooks"]
    return guarded(".factory/hooks.json", "Execute", payload, entry=entry)
