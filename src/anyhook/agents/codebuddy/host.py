"""CodeBuddy Code: Claude's payloads and answers; a timeout refuses, and hooks after a tool do not get its output.
Measured with 2.163.0."""

from __future__ import annotations

from anyhook.agents._claude_family import AGENT, BASE, TOOL, TOOLS, event, grouped
from anyhook.tables.host_rows import Entry, Host, OffSwitch, Taken

SUB_AGENT = (*AGENT, Taken("agent_name", ("agent_id",)))
UNSEEN = "no run without a person fired it"
RESULT = (Taken("output", ("tool_response",)), Taken("response", ("tool_response",)))
EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context end_turn"),
    event("PreToolUse", "block end_turn input"),
    event("PermissionRequest", "block allow", why_not=UNSEEN),
    event("PostToolUse", "context output", takes=(*TOOL, *RESULT)),
    event("PostToolUseFailure", why_not=UNSEEN),
    event("Notification"),
    event("SubagentStart", takes=SUB_AGENT),
    event("SubagentStop", takes=SUB_AGENT, why_not="a block does not send it back"),
    event("PreCompact"),
    event("Stop", "block"),
    event("SessionEnd", why_not="not fired by `codebuddy -p`"),
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
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="Interactive sessions run a project's hooks once it is trusted; `/hooks` shows them.",
    gaps=("a tool's output, which hooks are not given", "context before a tool", "asking the user"),
)
