"""deepagents-code: Claude's payloads, tool names included, and Claude's answers without rewrites. Measured with
0.1.88."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    AGENT,
    BASE,
    BLOCK,
    HALT,
    LAST,
    NOTE,
    PROMPT,
    REASON,
    SOURCE,
    TOOL,
    TOOLS,
    TRIGGER,
    context,
    grouped,
    permission,
    request,
)
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Taken

ERROR = (Taken("tool_error", ("error",)), Taken("output", ("error",)))
EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": context("SessionStart")}),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        PROMPT,
        {"block": BLOCK, "context": context("UserPromptSubmit")},
        limit_s=30,
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {"block": permission("PreToolUse", "deny"), "end_turn": HALT, "context": context("PreToolUse")},
        limit_s=600,
    ),
    HostEvent(
        "PermissionRequest",
        ("permission_request",),
        TOOL,
        {"block": request("deny"), "allow": request("allow")},
        limit_s=600,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_response.content", "tool_response"))),
        {"block": BLOCK, "context": context("PostToolUse")},
        limit_s=600,
    ),
    HostEvent("PostToolUseFailure", ("post_tool_failure",), (*TOOL, *ERROR), {"block": BLOCK}, limit_s=600),
    HostEvent("Notification", ("notification",), NOTE),
    HostEvent("SubagentStart", ("subagent_start",), AGENT),
    HostEvent("SubagentStop", ("subagent_stop",), AGENT, {"context": context("SubagentStop")}),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER, {"block": BLOCK}),
    HostEvent("Stop", ("stop",), LAST, {"block": BLOCK}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON),
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
    without_us="open",  # exit 127 and a missing program were seen to be passed over, 2026-11
    confirm="It asks once about a project's hooks.",
    gaps=("asking the user", "rewritten input and output"),
)
