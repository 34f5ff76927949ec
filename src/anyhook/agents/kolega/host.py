"""Kolega Code as a host: for those who would rather have one entry there than the hooks themselves. Its own hook files
are one of our dialects, so nothing is installed. Measured with 0.45.1."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, FILE, REASON, SOURCE, TOOL, context, permission, specific
from anyhook.tables.host_rows import Host, HostEvent, HostTool, Taken

EVENTS = (
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": context("SessionStart")}),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        (Taken("prompt", ("user_message",)),),
        {"block": EXIT_2, "context": context("UserPromptSubmit")},
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {"block": permission("PreToolUse", "deny"), "input": specific("PreToolUse", updatedInput="{input}")},
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("tool_output",))),
        {
            "end_turn": EXIT_2,
            "context": context("PostToolUse"),
            "output": specific("PostToolUse", updatedToolOutput="{output}"),
        },
        error=("is_error",),
    ),
    HostEvent("Stop", ("stop",), (Taken("last_message", ("last_message",)),), {"block": EXIT_2}),
    HostEvent("SessionEnd", ("session_end",), REASON),
)

HOST = Host(
    name="kolega",
    title="Kolega Code",
    events=EVENTS,
    base=BASE,
    tools={
        "exec_command": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
    },
    entry=None,
    reads={"kolega": ("user", "project")},
    program="kolega-code",
)
