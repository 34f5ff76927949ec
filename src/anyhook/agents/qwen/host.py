"""Qwen Code: Claude's payloads with tool names of its own; before a tool it honours the permission alone (`continue:
false` refuses the call, and the turn goes on), and after a tool the context alone. Measured with 0.24.4."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    AGENT,
    BASE,
    BLOCK,
    EDIT,
    FILE,
    LAST,
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
    request,
)
from anyhook.agents._results import content_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch, Taken

EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": context("SessionStart"), "message": TELL}),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        PROMPT,
        {"block": BLOCK, "context": context("UserPromptSubmit")},
        why_not="it fires again after every tool result; a refusal is silent",
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": permission("PreToolUse", "deny"),
            "ask": permission("PreToolUse", "ask"),
            "allow": permission("PreToolUse", "allow"),
        },
        limit_s=600,
    ),
    HostEvent(
        "PermissionRequest", ("permission_request",), TOOL, {"block": request("deny"), "allow": request("allow")}
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_response",), content_text)),
        {"context": context("PostToolUse")},
        limit_s=600,
    ),
    HostEvent(
        "PostToolUseFailure",
        ("post_tool_failure",),
        (*TOOL, Taken("tool_error", ("error",)), Taken("output", ("error",))),
        {"context": context("PostToolUseFailure")},
        limit_s=600,
    ),
    HostEvent("Notification", ("notification",), NOTE),
    HostEvent("SubagentStart", ("subagent_start",), AGENT),
    HostEvent("SubagentStop", ("subagent_stop",), AGENT, {"block": BLOCK}, limit_s=600),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER),
    HostEvent("PostCompact", ("post_compact",), TRIGGER),
    HostEvent("Stop", ("stop",), LAST, {"block": BLOCK, "message": TELL}, limit_s=600),
    HostEvent("SessionEnd", ("session_end",), REASON, why_not="not fired by `qwen -p`"),
)

LAYERS = ("{home}/.qwen/settings.json", "{project}/.qwen/settings.json", "/etc/qwen-code/settings.json")
"""Every file that can turn its hooks off."""

HOST = Host(
    name="qwen",
    title="Qwen Code",
    events=EVENTS,
    base=BASE,
    tools={
        "run_shell_command": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "write_file": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep_search": HostTool("grep"),
        "agent": HostTool("delegate_task", TASK),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.qwen/settings.json", "project": "{project}/.qwen/settings.json"},
        handler={"name": "anyhook", **grouped()},
        group={"matcher": "*"},
    ),
    project_variables=("QWEN_PROJECT_DIR",),
    reads={"qwen": ("user", "project", "plugin")},
    program="qwen",
    without_us="open",  # exit 127 was seen to be passed over, 2026-11
    settings=LAYERS,
    switches=(OffSwitch(("disableAllHooks",)),),
    confirm="Project hooks run in trusted folders only.",
    gaps=("rewritten input",),
)
