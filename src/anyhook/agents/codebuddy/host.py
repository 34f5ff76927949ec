"""CodeBuddy Code: Claude's payloads and answers; a hook that takes too long refuses, and a tool's output does not reach
the hooks after it. Measured with 2.163.0."""

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
    specific,
)
from anyhook.tables.host_rows import Entry, Host, HostEvent, OffSwitch, Taken

SUB_AGENT = (*AGENT, Taken("agent_name", ("agent_id",)))
UNSEEN = "no run without a person fired it"
EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": context("SessionStart")}),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        PROMPT,
        {"block": BLOCK, "context": context("UserPromptSubmit"), "end_turn": HALT},
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": permission("PreToolUse", "deny"),
            "end_turn": HALT,
            "input": specific("PreToolUse", updatedInput="{input}"),
        },
        limit_s=600,
    ),
    HostEvent(
        "PermissionRequest",
        ("permission_request",),
        TOOL,
        {"block": request("deny"), "allow": request("allow")},
        limit_s=600,
        why_not=UNSEEN,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_response",)), Taken("response", ("tool_response",))),
        {
            "context": context("PostToolUse"),
            "output": specific("PostToolUse", updatedToolOutput="{output}"),
        },
        limit_s=600,
    ),
    HostEvent(
        "PostToolUseFailure",
        ("post_tool_failure",),
        (*TOOL, Taken("tool_error", ("error",)), Taken("output", ("error",))),
        limit_s=600,
        why_not=UNSEEN,
    ),
    HostEvent("Notification", ("notification",), NOTE),
    HostEvent("SubagentStart", ("subagent_start",), SUB_AGENT),
    HostEvent("SubagentStop", ("subagent_stop",), SUB_AGENT, limit_s=600, why_not="a block does not send it back"),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER),
    HostEvent("Stop", ("stop",), LAST, {"block": BLOCK}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON, why_not="not fired by `codebuddy -p`"),
)

HOST = Host(
    name="codebuddy",
    title="CodeBuddy Code",
    events=EVENTS,
    base=BASE,
    tools=TOOLS,
    entry=Entry(
        "groups",
        {"user": "{home}/.codebuddy/settings.json", "project": "{project}/.codebuddy/settings.json"},
        handler=grouped(),
    ),
    project_variables=("CODEBUDDY_PROJECT_DIR",),
    reads={"codebuddy": ("user", "project")},
    program="codebuddy",
    settings=(
        "{home}/.codebuddy/settings.json",
        "{project}/.codebuddy/settings.json",
        "{project}/.codebuddy/settings.local.json",
    ),
    switches=(OffSwitch(("disableAllHooks",)),),
    without_us="open",  # exit 127 and a missing program were seen to be passed over, 2026-11
    confirm="Interactive sessions run a project's hooks once it is trusted; `/hooks` shows them.",
    gaps=("a tool's output, which hooks are not given", "context before a tool", "asking the user"),
)
