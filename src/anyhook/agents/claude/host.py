"""Claude Code: JSON on stdout at status 0, nested decisions, output replaced only in the tool's own shape. Measured
with 2.1.325."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, TOOL, TOOLS, TRIGGER, event, grouped
from anyhook.agents.claude.other_events import OTHER_EVENTS
from anyhook.tables.host_rows import Entry, Host, OffSwitch, Sign, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json


def _output(response: Json) -> Json:
    """A tool's output, as text if its result has a text field."""
    if isinstance(response, dict):
        if isinstance(response.get("stdout"), str):
            texts = [response["stdout"], response.get("stderr")]
            return "\n".join(text for text in texts if isinstance(text, str) and text)
        file = response.get("file")
        if isinstance(file, dict) and isinstance(file.get("content"), str):
            return file["content"]
    return response


def _result(response: Json, output: Json) -> Json:
    """The replaced result in the tool's own shape; Claude Code ignores any other."""
    if not isinstance(output, str):
        return output
    if isinstance(response, dict) and "stdout" in response:
        return {**response, "stdout": output, "stderr": ""}
    file = response.get("file") if isinstance(response, dict) else None
    if isinstance(response, dict) and isinstance(file, dict):
        return {**response, "file": {**file, "content": output}}
    return output if isinstance(response, str) else None


RESULT = (Taken("output", ("tool_response",), _output), Taken("response", ("tool_response",)))
COMPACT = (*TRIGGER, Taken("custom_instructions", ("custom_instructions",)))
COMPACTED = (*TRIGGER, Taken("compact_summary", ("compact_summary",)))

EVENTS = (
    event("SessionStart", "context message"),
    event("UserPromptSubmit", "block context end_turn message", limit_s=30.0),
    event("PreToolUse", "block ask allow input context message"),
    event("PermissionRequest", "block allow message"),
    event("PostToolUse", "block end_turn context output message", takes=(*TOOL, *RESULT)),
    event("PostToolUseFailure", "block context message"),
    event("Notification"),
    event("SubagentStart", "context message"),
    event("SubagentStop", "block message"),
    event("PreCompact", "block message", takes=COMPACT),
    event("PostCompact", takes=COMPACTED),
    event("Stop", "block message"),
    event("SessionEnd", limit_s=1.5, why_not="all hooks share 1.5 s when a session ends"),
    *OTHER_EVENTS,
)

LAYERS = (
    "{config}/settings.json",
    "{project}/.claude/settings.json",
    "{project}/.claude/settings.local.json",
    "/etc/claude-code/managed-settings.json",
)
"""Every file that can turn its hooks off."""

HOST = Host(
    name="claude",
    title="Claude Code",
    events=EVENTS,
    base=BASE,
    tools=TOOLS,
    entry=Entry(
        "groups",
        {"user": "{config}/settings.json", "project": "{project}/.claude/settings.json"},
        {"config": ("CLAUDE_CONFIG_DIR", "{home}/.claude")},
        grouped(),
        closed={"onFailure": "block"},  # since 2.1.295, 2026-10; older versions ignore the key
        names_tools=True,
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    reads={"claude": ("user", "project", "plugin")},
    program="claude",
    marks=("CLAUDECODE", "CLAUDE_CODE"),
    sdk="claude_agent_sdk",
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    settings=LAYERS,
    managed=("{etc}/claude-code/managed-settings.json", "{etc}/claude-code/managed-settings.d/*.json"),
    off_words=("--bare",),
    off_variables=("CLAUDE_CODE_SIMPLE",),
    variable_files=("{config}/settings.json",),  # a project's is read too late for it; seen with 2.1.325, 2026-11
    switches=(
        OffSwitch(("disableAllHooks",)),
        OffSwitch(("allowManagedHooksOnly",)),
    ),
    confirm="Interactive sessions run the project's hooks once the workspace is trusted; `/hooks` shows them.",
    gaps=("tools that run on the maker's servers",),
    max_context=10_000,
    lent=(("timestamp", ""), ("conversation_id", ""), ("project_path", ""), ("hook_event_name", "cwd")),
    signs=(Sign(("transcript_path", "cwd", "hook_event_name"), ("hookEventName", "conversation_id", "project_path")),),
    result=_result,
)
