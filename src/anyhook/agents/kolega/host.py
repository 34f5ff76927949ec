"""Kolega Code as a host: it runs the hooks of its own files itself, and all others through our entry. Measured with
0.45.1."""

from __future__ import annotations

import sys

from anyhook.agents._claude_family import BASE, EXIT_2, FILE, TOOL, event, grouped
from anyhook.agents._patches import split_patch
from anyhook.tables.host_rows import Entry, Host, HostTool, Say, Taken

STATE = "{home}/Library/Application Support" if sys.platform == "darwin" else "{state}"
"""The parent of the folder with the user's hooks."""
STOP = (Taken("stop_reason", ("stop_reason",)), Taken("last_message", ("last_message",)))
RESULT = tuple(Taken(field, (field,)) for field in ("agent_name", "result"))
END = Say({"continue": False, "systemMessage": "{reason}"})

EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context", {"block": EXIT_2}, takes=(Taken("prompt", ("user_message",)),)),
    event("PreToolUse", "block input", limit_s=60.0),
    event(
        "PostToolUse",
        "end_turn context output",
        {"end_turn": END},
        canonical=("post_tool", "post_tool_failure"),
        takes=(*TOOL, Taken("output", ("tool_output",))),
        error=("is_error",),
        after_failure=("context",),
        limit_s=60.0,
    ),
    event("PreCompact"),
    event("PostCompact"),
    event("Notification"),
    event("SubagentStop", "context", takes=RESULT, limit_s=60.0),
    event("Stop", "block", {"block": EXIT_2}, takes=STOP, limit_s=60.0),
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
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.kolega/hooks.json"},
        {
            "state": ("XDG_STATE_HOME", "{home}/.local/state"),
            "config": ("KOLEGA_CODE_STATE_DIR", f"{STATE}/kolega-code"),
        },
        grouped(),
        group={"matcher": "*"},
        top={"schema_version": 1},
    ),
    reads={"kolega": ("user", "project")},
    program="kolega-code",
    without_us="open",  # a missing program was seen to be ignored, 2026-11
    confirm="A project's hooks run once it is trusted there (`--trust-hooks`).",
    gaps=(
        "asking the user",
        "sessions in an editor (`kolega-code acp`) or its gateway: by the source of 0.45.1, no hook runs there",
    ),
)
