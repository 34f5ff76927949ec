"""Kodik as a host, from its documents: one JSON object on the last line, or exit status 2. The names of its tools are
those of its pages on the agent, and the shorter ones that its page on hooks uses."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, EDIT, FILE, PROMPT, SOURCE, TRIGGER, grouped
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))
AGENT = (Taken("agent_type", ("agent_type",)),)
CONTEXT = Say({"additional_context": "{context}"})

EVENTS = (
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {"block": BLOCK, "input": Say({"modified_input": "{input}"}), "context": CONTEXT},
        limit_s=300,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("tool_output",)), Taken("tool_error", ("error",))),
        {"block": BLOCK, "context": CONTEXT},
        error=("error",),
        limit_s=300,
    ),
    HostEvent(
        "PermissionRequest",
        ("permission_request",),
        TOOL,
        {"block": BLOCK, "allow": Say({"decision": "approve", "reason": "{reason}"})},
        limit_s=300,
    ),
    HostEvent("SubagentStart", ("subagent_start",), AGENT, {"block": BLOCK, "context": CONTEXT}),
    HostEvent("SubagentStop", ("subagent_stop",), AGENT, {"block": BLOCK}),
    HostEvent("SessionStart", ("session_start",), SOURCE, {"context": CONTEXT}),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER, {"block": BLOCK}),
    HostEvent("PostCompact", ("post_compact",), TRIGGER),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        PROMPT,
        {"block": BLOCK, "prompt": Say({"modified_prompt": "{prompt}"}), "context": CONTEXT},
    ),
    HostEvent("Stop", ("stop",), (), {"block": BLOCK}, limit_s=300),
)

HOST = Host(
    name="kodik",
    title="Kodik",
    events=EVENTS,
    base=(Taken("session", ("context.session_id", "session_id")),),
    tools={
        "shell": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "edit_file": HostTool("edit_file"),
        "edit_files": HostTool("edit_file"),
        "glob": HostTool("list_files"),
        "rg": HostTool("grep"),
        "web_fetch": HostTool("web_fetch"),
        "sub_agent": HostTool("delegate_task"),
        "Bash": HostTool("shell"),
        "Edit": HostTool("edit_file", EDIT),
        "Write": HostTool("write_file", FILE),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/Documents/Kodik/Hooks/hooks.json", "project": "{project}/.kodik/hooks/hooks.json"},
        handler=grouped(),
    ),
    project=("context.cwd", "cwd"),
    project_variables=("KODIK_PROJECT_ROOT",),
    reads={"kodik": ("user", "project", "plugin")},
    program="kodik",
    confirm="Project hooks run once the folder is trusted; reload the window after installing.",
    gaps=("asking the user", "replaced output", "the end of a session"),
)
