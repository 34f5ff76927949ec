"""Every event of Claude Code (2.1.325): what its hooks read, what a block does, and what a matcher is tried against."""

from __future__ import annotations

from anyhook.tables.vocabulary import *


def named(*names: str) -> tuple[Field, ...]:
    """Keys with the names of canonical fields; one that ends in `?` is left out if it is empty."""
    return tuple(Field(name.rstrip("?"), name.rstrip("?"), optional=name.endswith("?")) for name in names)


TOOL = fields(tool_name="tool", tool_input="input")
CALL = (*TOOL, Field("tool_use_id", "call_id"))
AGENT = fields(agent_id=agent_id, agent_type="agent_type")
ENDING = fields(stop_hook_active=not_in_a_stop_hook, last_assistant_message="last_message")
TRANSCRIPT = Field("agent_transcript_path", no_transcript)
TOOK = named("duration_ms?")
SWITCH = named(
    "from_model", "to_model", "requested_model", "source", "context_tokens", "prompt_cache_warm", "cache_ttl",
    "estimated_cache_write_usd", "pricing",
)  # fmt: skip
TASK = named("task_id", "task_subject", "task_description?", "teammate_name?", "team_name?")
FAILED = (*named("error", "error_details?"), Field("last_assistant_message", "last_message", optional=True))
SHOWN = (*named("turn_id", "message_id", "index", "final"), Field("delta", "message"))
ASKED = named("mcp_server_name", "message", "mode?", "url?", "elicitation_id?", "requested_schema?")
CONTENT = Field("content", "input", optional=True)
ANSWERED = (*named("mcp_server_name", "action"), CONTENT, *named("mode?", "elicitation_id?"))
LOADED = named("file_path", "memory_type", "load_reason", "globs?", "trigger_file_path?", "parent_file_path?")

EVENTS = (
    EventRow("SessionStart", ("session_start",), "advisory", named("source", "model?"), "source"),
    EventRow("UserPromptSubmit", ("user_prompt_submit",), "abort", named("prompt", "source?"), in_subagents=False),
    EventRow("PreToolUse", ("pre_tool",), "deny_tool", CALL, "tool"),
    EventRow("PermissionRequest", ("permission_request",), "deny_permission", TOOL, "tool"),
    EventRow("PostToolUse", ("post_tool",), "feedback", (*CALL, Field("tool_response", "output"), *TOOK), "tool"),
    EventRow(
        "PostToolUseFailure", ("post_tool_failure",), "feedback", (*CALL, Field("error", "tool_error"), *TOOK), "tool"
    ),
    EventRow("Notification", ("notification",), "advisory", named("message", "notification_type"), "notification_type"),
    EventRow("SubagentStart", ("subagent_start",), "advisory", AGENT, "agent_type"),
    EventRow("SubagentStop", ("subagent_stop",), "keep_working", (*AGENT, *ENDING, TRANSCRIPT), "agent_type", bound=8),
    EventRow("PreCompact", ("pre_compact",), "skip", named("trigger", "custom_instructions"), "trigger"),
    EventRow("PostCompact", ("post_compact",), "advisory", named("trigger", "compact_summary"), "trigger"),
    EventRow("Stop", ("stop",), "keep_working", ENDING, bound=8, in_subagents=False),
    EventRow("SessionEnd", ("session_end",), "advisory", named("reason"), "reason"),
    EventRow("Setup", ("setup",), "advisory", named("trigger"), "trigger"),
    EventRow("PermissionDenied", ("permission_denied",), None, (*CALL, *named("reason")), "tool"),
    EventRow("PostToolBatch", ("post_tool_batch",), "end_turn", named("tool_calls")),
    EventRow(
        "UserPromptExpansion",
        ("user_prompt_expansion",),
        "abort",
        named("expansion_type", "command_name", "command_args", "command_source?", "prompt"),
        "command_name",
        in_subagents=False,
    ),
    EventRow("StopFailure", ("stop_failure",), None, FAILED, "error", in_subagents=False),
    EventRow(
        "PreModelSwitch",
        ("pre_model_switch",),
        "skip",
        SWITCH,
        "to_model",
        in_subagents=False,
        closed_on=("timed_out",),
    ),
    EventRow("PostModelSwitch", ("post_model_switch",), "advisory", SWITCH, "to_model", in_subagents=False),
    EventRow("MessageDisplay", ("message_display",), None, SHOWN, in_subagents=False),
    EventRow("Elicitation", ("elicitation",), "deny_permission", ASKED, "mcp_server_name"),
    EventRow("ElicitationResult", ("elicitation_result",), "deny_permission", ANSWERED, "mcp_server_name"),
    EventRow("TaskCreated", ("task_created",), "skip", TASK),
    EventRow("TaskCompleted", ("task_completed",), "keep_working", TASK),
    EventRow("TeammateIdle", ("teammate_idle",), "keep_working", named("teammate_name", "team_name")),
    EventRow("ConfigChange", ("config_change",), "skip", named("source", "file_path?"), "source"),
    EventRow("InstructionsLoaded", ("instructions_loaded",), None, LOADED, "load_reason"),
    EventRow("CwdChanged", ("cwd_changed",), "advisory", named("old_cwd", "new_cwd")),
    EventRow(
        "FileChanged", ("file_changed",), "advisory", (*named("file_path"), Field("event", "change")), "file_path"
    ),
    EventRow("DirectoryAdded", ("directory_added",), None, named("directory", "source"), "source"),
    EventRow("WorktreeCreate", ("worktree_create",), "abort", fields(name="worktree_name")),
    EventRow("WorktreeRemove", ("worktree_remove",), None, named("worktree_path")),
)
