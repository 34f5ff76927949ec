"""Kolega Code as a host: for those who would rather have one entry there than the hooks themselves. Its own hook files
are one of our dialects, so nothing is installed. Measured with 0.45.1."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, EXIT_2, FILE, TOOL, event
from anyhook.agents._patches import split_patch
from anyhook.tables.host_rows import Host, HostTool, Taken

EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context", {"block": EXIT_2}, takes=(Taken("prompt", ("user_message",)),)),
    event("PreToolUse", "block input", limit_s=60.0),
    event(
        "PostToolUse",
        "end_turn context output",
        {"end_turn": EXIT_2},
        canonical=("post_tool", "post_tool_failure"),
        takes=(*TOOL, Taken("output", ("tool_output",))),
        error=("is_error",),
        limit_s=60.0,
    ),
    event("PreCompact"),
    event("PostCompact"),
    event("Stop", "block", {"block": EXIT_2}, takes=(Taken("last_message", ("last_message",)),), limit_s=60.0),
    event("SessionEnd"),
)

HOST = Host(
    name="kolega",
    title="Kolega Code",
    events=EVENTS,
    base=BASE,
    tools={
        # The released product's names, then those of its document.
        "exec_command": HostTool("shell"),
        "write_stdin": HostTool("shell", {"command": "chars"}),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", {**FILE, "old_text": "old_string", "new_text": "new_string"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "dispatch_agent": HostTool("delegate_task", {"agent_name": "agent_type"}),
        "execute_terminal_command": HostTool("shell"),
        "read_entire_file": HostTool("read_file", {"path": "relative_path"}),
        "create_file": HostTool("write_file", {"path": "relative_path"}),
    },
    entry=None,
    reads={"kolega": ("user", "project")},
    program="kolega-code",
)
