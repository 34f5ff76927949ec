"""Augment: the command line Auggie and the editor extensions. Claude's groups with limits in milliseconds; a block
after a tool and at a stop is nested in the answer. Its licence forbids looking inside, so the table comes from its
documents alone.

As a dialect: Claude's groups in settings files, limits in milliseconds; exit status 2 refuses only a tool; a block
after a tool or at a stop is nested in the answer."""

from __future__ import annotations

from anyhook.agents._claude_family import TELL, context, grouped, permission, specific
from anyhook.agents._family import HookFile, Layout, each_by_itself, family, misplaced
from anyhook.tables.vocabulary import *

VERSION = "0.36"

TOOL = taken(tool="tool_name", input="tool_input")
OUTPUT = taken(output=("tool_output", "tool_error"))
NOTE = taken(message="notification_message", notification_type="notification_type")


def _block(event: str) -> Say:
    return specific(event, decision="block", reason="{reason}")


HOST_EVENTS = (
    HostEvent(
        "SessionStart", ("session_start",), (), {"context": context("SessionStart")}, fixed={"source": "startup"}
    ),
    HostEvent(
        "PromptSubmit", ("user_prompt_submit",), taken(prompt="user_prompt"), installed=False,
        why_not="its documents do not say what an answer does, or which versions have it"
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
        limit_s=600
    ),
    HostEvent("Notification", ("notification",), NOTE, installed=False, why_not="its hooks page does not list it"),
    HostEvent(
        "Stop", ("stop",), taken(stop_reason="agent_stop_cause"), {"block": _block("Stop")}, limit_s=600
    ),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
)  # fmt: skip

HOST = Host(
    name="augment",
    title="Augment",
    events=HOST_EVENTS,
    base=taken(session="conversation_id"),
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


def _is_mcp(scene: Scene) -> Json:
    return "_" in str(scene.event.get("tool"))


EVENTS = event_rows(
    HOST,
    extra={
        "PreToolUse": fields(is_mcp_tool=_is_mcp),
        "PostToolUse": (Field("is_mcp_tool", _is_mcp), Field("tool_error", "tool_error", optional=True)),
    },
)
AFTER = ("post_tool", "post_tool_failure", "stop")
CONTEXT = ("session_start", "post_tool", "post_tool_failure")
REPLY = Reply(
    read=object_or_nothing,
    also=("suppressOutput", f"{SPECIFIC}.hookEventName", f"{SPECIFIC}.updatedInput", "stopReason"),
    json_reasons=("reason", "stderr"),
    keys=(
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=("pre_tool",),
            words=(("deny", "block", ()), ("allow", "none", ()), ("ask", "none", ()))),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "decision"), "string", "verdict", on=AFTER, words=(("block", "block", ()),)),
        Key((SPECIFIC, "reason"), "string", "reason", on=AFTER),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=CONTEXT),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=("pre_tool", "post_tool", "post_tool_failure")),
    ),
)  # fmt: skip


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{home}/.augment/settings.json"),
            HookFile("project", "{project}/.augment/settings.json"),
            HookFile("project", "{project}/.augment/settings.local.json", "local"),
        ),
        keys=("args",),
        group_keys=("metadata",),
        limits=Limits(60.0, unit_s=0.001),
    ),
    EVENTS,
    REPLY.replace(on_event={"pre_tool": REPLY.replace(exits={0: "pass", 2: "block"})}),
    base=fields(hook_event_name=native_name, conversation_id=session, workspace_roots=projects),
    variables={
        "AUGMENT_PROJECT_DIR": "{project}",
        "AUGMENT_CONVERSATION_ID": "{session}",
        "AUGMENT_HOOK_EVENT": "{event}",
    },
    identity=each_by_itself,
    misplaced=misplaced(("{project}/.augment/hooks.json", ".augment/settings.json")),
    differences=differences(
        "0.36",
        "docs.augmentcode.com/cli/hooks",
        "2026-11-16",
        ("AU-1", "The system's settings file is not read."),
        (
            "AU-5",
            "`updatedInput` changes nothing: its documents call it an example, and others report that it is missing.",
        ),
        ("AU-6", "Fields that `metadata` asks for are not sent."),
    ),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload: dict[str, Json] = {
        "hook_event_name": "PreToolUse", "conversation_id": "s", "workspace_roots": ["/p"], **called("launch-process"),
        "is_mcp_tool": False,
    }  # fmt: skip
    return guarded(".augment/settings.json", "launch-process", payload)
