"""Augment: the command line Auggie and the editor extensions. Claude's groups with limits in milliseconds; a block
after a tool and at a stop is nested in the answer. Its licence forbids looking inside, so the table comes from its
documents alone."""

from __future__ import annotations

from anyhook.agents._claude_family import TELL, context, grouped, permission, specific
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Sign, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "0.36"

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))
OUTPUT = (Taken("output", ("tool_output", "tool_error")),)
NOTE = (Taken("message", ("notification_message",)), Taken("notification_type", ("notification_type",)))


def _block(event: str) -> Say:
    return specific(event, decision="block", reason="{reason}")


EVENTS = (
    HostEvent(
        "SessionStart", ("session_start",), (), {"context": context("SessionStart")}, fixed={"source": "startup"}
    ),
    HostEvent(
        "PromptSubmit", ("user_prompt_submit",), (Taken("prompt", ("user_prompt",)),), installed=False,
        why_not="its documents do not say what an answer does, or which versions have it",
    ),
    HostEvent(
        "PreToolUse", ("pre_tool",), TOOL, {"block": permission("PreToolUse", "deny"), "message": TELL}, limit_s=600
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (*TOOL, *OUTPUT),
        {"block": _block("PostToolUse"), "context": context("PostToolUse"), "message": TELL},
        error=("tool_error",),
        limit_s=600,
    ),
    HostEvent("Notification", ("notification",), NOTE, installed=False, why_not="its hooks page does not list it"),
    HostEvent(
        "Stop", ("stop",), (Taken("stop_reason", ("agent_stop_cause",)),), {"block": _block("Stop")}, limit_s=600
    ),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
)  # fmt: skip

HOST = Host(
    name="augment",
    title="Augment",
    events=EVENTS,
    base=(Taken("session", ("conversation_id",)),),
    tools={
        "launch-process": HostTool("shell"),
        "view": HostTool("read_file"),
        "save-file": HostTool("write_file", {"content": "file_content"}),
        "str-replace-editor": HostTool("edit_file", {"old_text": "old_str_1", "new_text": "new_str_1"}),
        "web-fetch": HostTool("web_fetch"),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.augment/settings.json", "project": "{project}/.augment/settings.json"},
        handler=grouped("{milliseconds}"),
        names_tools=True,
    ),
    project=("workspace_roots.0", "cwd"),
    project_variables=("AUGMENT_PROJECT_DIR",),
    reads={"augment": ("user", "project")},
    program="auggie",
    marks=("AUGMENT_AGENT",),
    confirm="nothing to confirm: it reads its settings when a session begins.",
    confirms=(),
    gaps=(
        "prompts",
        "asking the user",
        "rewritten input and output",
        "tools of MCP servers, without a matcher for them",
    ),
    signs=(Sign(("conversation_id", "workspace_roots"), ("generation_id",)),),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload: dict[str, Json] = {
        "hook_event_name": "PreToolUse", "conversation_id": "s", "workspace_roots": ["/p"], **called("launch-process"),
        "is_mcp_tool": False,
    }  # fmt: skip
    return guarded(".augment/settings.json", "launch-process", payload)
