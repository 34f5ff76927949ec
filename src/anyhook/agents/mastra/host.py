"""Mastra Code: exit status 2 refuses a tool, and its model is not told why. Measured with 0.32.1, which fires two
events without a person; the others are from its source."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2, NOTE, PROMPT
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Taken, left_out

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))
UNSEEN = "`mastracode -p` does not fire it"
ALONE = "no canonical event"

EVENTS = (
    HostEvent("SessionStart", ("session_start",), fixed={"source": "startup"}, why_not=UNSEEN),
    HostEvent("UserPromptSubmit", ("user_prompt_submit",), PROMPT, {"block": EXIT_2}, why_not=UNSEEN),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": EXIT_2}, limit_s=600),
    HostEvent(
        "PostToolUse", ("post_tool", "post_tool_failure"), (*TOOL, Taken("output", ("tool_output",))),
        error=("tool_error",), limit_s=600,
    ),
    HostEvent("Notification", ("notification",), NOTE, why_not=UNSEEN),
    HostEvent("SubagentStart", ("subagent_start",), why_not=UNSEEN),
    HostEvent("Stop", ("stop",), (), {"block": EXIT_2}, limit_s=600, why_not=UNSEEN),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}, why_not=UNSEEN),
    *left_out(ALONE, "AgentStart", "AgentEnd"),
    HostEvent("PermissionRequest", installed=False, why_not="what an answer does was not seen"),
    *left_out(ALONE, "PermissionResult", "Interrupt"),
    HostEvent("SubagentEnd", installed=False, why_not="what an answer does was not seen"),
)  # fmt: skip

HOST = Host(
    name="mastra",
    title="Mastra Code",
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
    tools={
        "execute_command": HostTool("shell"),
        "view": HostTool("read_file"),
        "write_file": HostTool("write_file"),
        "string_replace_lsp": HostTool("edit_file", {"old_text": "old_string", "new_text": "new_string"}),
        "find_files": HostTool("list_files", {"glob": "pattern"}),
        "search_content": HostTool("grep"),
    },
    entry=Entry(
        "list",
        {"user": "{home}/.mastracode/hooks.json", "project": "{project}/.mastracode/hooks.json"},
        handler={"type": "command", "command": "{command}", "timeout": "{milliseconds}"},
        under=(),
    ),
    reads={"mastra": ("user", "project")},
    program="mastracode",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads its file when it starts.",
    confirms=(),
    shows_stderr=False,  # seen with 0.32.1, 2026-11
    gaps=("a reason for the model", "context", "asking the user", "rewritten input and output"),
)
