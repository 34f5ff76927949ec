"""deepagents-code: Claude's payloads, tool names included, and Claude's answers without rewrites. Measured with
0.1.88."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, TOOL, TOOLS, event, grouped
from anyhook.tables.host_rows import Entry, Host, HostTool, Taken

EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context", limit_s=30),
    event("PreToolUse", "block context"),  # `continue: false` was seen to refuse only the call, 2026-11
    event("PermissionRequest", "block allow"),
    event(
        "PostToolUse",
        "block context",
        takes=(*TOOL, Taken("output", ("tool_response.content", "tool_response"))),
    ),
    event("PostToolUseFailure", "block"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop", "context", limit_s=60.0),
    event("PreCompact", "block"),
    event("Stop", "block"),
    event("SessionEnd"),
)

HOST = Host(
    name="deepagents",
    title="deepagents-code",
    events=EVENTS,
    base=BASE,
    tools={**TOOLS, "LS": HostTool("list_files")},
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.deepagents/hooks.json"},
        {"config": ("DEEPAGENTS_HOME", "{home}/.deepagents")},
        grouped(),
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    reads={"deepagents": ("user", "project")},
    program="dcode",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="It asks once about a project's hooks.",
    gaps=("asking the user", "rewritten input and output"),
)
