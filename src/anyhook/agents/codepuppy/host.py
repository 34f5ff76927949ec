"""Code Puppy: a refusal goes to stdout, since exit status 2 lets a tool run there; it calls the end of a turn the stop
of a sub-agent. Measured with 0.0.946."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, FILE, context, grouped
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Taken, left_out

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))

EVENTS = (
    HostEvent(
        "SessionStart", ("session_start",), (), {"context": context("SessionStart")}, fixed={"source": "startup"}
    ),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        (Taken("prompt", ("tool_input.prompt",)),),
        {"context": context("UserPromptSubmit")},
    ),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": BLOCK, "context": context("PreToolUse")}, limit_s=600),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_result",)), Taken("duration_ms", ("tool_duration_ms",))),
        limit_s=600,
    ),
    HostEvent("SubagentStop", ("stop",), limit_s=600, why_not="it also uses this name for the end of a turn"),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
    *left_out("it is never fired", "Stop", "Notification"),
    HostEvent("PreCompact", installed=False, why_not="no run without a person fired it"),
)

HOST = Host(
    name="codepuppy",
    title="Code Puppy",
    events=EVENTS,
    base=(Taken("session", ("session_id",)), Taken("permission_mode", ("permission_mode",))),
    tools={
        "shell": HostTool("shell"),
        "agent_run_shell_command": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "create_file": HostTool("write_file", FILE),
        "replace_in_file": HostTool("edit_file", FILE),
        "delete_snippet": HostTool("edit_file", {**FILE, "old_text": "snippet"}),
        "list_files": HostTool("list_files", {"path": "directory"}),
        "grep": HostTool("grep", {"pattern": "search_string", "path": "directory"}),
        "invoke_agent": HostTool("delegate_task", {"task": "prompt"}),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.code_puppy/hooks.json"},
        handler=grouped("{milliseconds}"),
        group={"matcher": "*"},  # it warns about groups without one at every start
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    reads={"codepuppy": ("user",)},
    program="code-puppy",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads its file when it starts.",
    confirms=(),
    gaps=("refusing a prompt", "keeping a turn going", "everything after a tool", "asking the user", "rewritten input"),
)
