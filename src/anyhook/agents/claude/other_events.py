"""The events of Claude Code that hardly any other agent has: their payloads, and how they are answered. From its
documents (2.1.325). `install` hooks one up only if an armed hook wants it: versions that do not know an event's name
may refuse the whole settings file, and Claude Code runs hooks of its own files itself. Three are never hooked up, each
for its own reason."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, EXIT_2, HALT, TELL, TOOL, TRIGGER, context, permission, specific
from anyhook.tables.host_rows import HostEvent, Taken, taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import HostEffect, Say

WHY = "hooked up only if a hook wants it: older versions may refuse a settings file that names it"


def _taken(*names: str) -> tuple[Taken, ...]:
    """Fields that have the same name in the payload and in our event."""
    return tuple(Taken(name, (name,)) for name in names)


SWITCH = _taken(
    "from_model", "to_model", "requested_model", "source", "context_tokens", "prompt_cache_warm", "cache_ttl",
    "estimated_cache_write_usd", "pricing",
)  # fmt: skip
TASK = _taken("task_id", "task_subject", "task_description", "teammate_name", "team_name")
ASKED = _taken("mcp_server_name", "message", "mode", "url", "elicitation_id", "requested_schema")
ANSWERED = (*_taken("mcp_server_name", "action", "mode", "elicitation_id"), Taken("input", ("content",)))
LOADED = _taken("file_path", "memory_type", "load_reason", "globs", "trigger_file_path", "parent_file_path")
SHOWN = (*_taken("turn_id", "message_id", "index", "final"), Taken("message", ("delta",)))
FAILED = (*_taken("error", "error_details"), Taken("last_message", ("last_assistant_message",)))
EXPANDED = _taken("expansion_type", "command_name", "command_args", "command_source", "prompt")
KEEP_ON: dict[HostEffect, Say] = {"block": EXIT_2, "end_turn": HALT, "message": TELL}


def _answers(event: str) -> HostEvent:
    """Answers an MCP server's question for the person, or replaces the person's answer."""
    return HostEvent(
        event,
        ("elicitation",) if event == "Elicitation" else ("elicitation_result",),
        ASKED if event == "Elicitation" else ANSWERED,
        {
            "block": EXIT_2,
            "allow": specific(event, action="accept"),
            "input": specific(event, content="{input}"),
            "message": TELL,
        },
    )


_ROWS = (
    HostEvent("Setup", ("setup",), TRIGGER, {"context": context("Setup"), "message": TELL}),
    HostEvent(
        "PermissionDenied",
        ("permission_denied",),
        (*TOOL, *_taken("reason")),
        {"allow": specific("PermissionDenied", retry=True)},
    ),
    HostEvent(
        "PostToolBatch",
        ("post_tool_batch",),
        _taken("tool_calls"),
        {"block": BLOCK, "end_turn": HALT, "context": context("PostToolBatch"), "message": TELL},
    ),
    HostEvent(
        "UserPromptExpansion",
        ("user_prompt_expansion",),
        EXPANDED,
        {"block": BLOCK, "context": context("UserPromptExpansion"), "message": TELL},
    ),
    HostEvent("StopFailure", ("stop_failure",), FAILED),
    HostEvent(
        "PreModelSwitch",
        ("pre_model_switch",),
        SWITCH,
        {
            "block": permission("PreModelSwitch", "deny"),
            "ask": permission("PreModelSwitch", "ask"),
            "allow": permission("PreModelSwitch", "allow"),
            "message": TELL,
        },
        limit_s=30,
    ),
    HostEvent(
        "PostModelSwitch",
        ("post_model_switch",),
        SWITCH,
        {"context": context("PostModelSwitch"), "message": TELL},
        limit_s=30,
    ),
    HostEvent(
        "MessageDisplay",
        ("message_display",),
        SHOWN,
        {"output": specific("MessageDisplay", displayContent="{output}")},
        limit_s=10,
        why_not="it happens for every piece of text that is shown, and each would start a process",
    ),
    _answers("Elicitation"),
    _answers("ElicitationResult"),
    HostEvent("TaskCreated", ("task_created",), TASK, {"block": EXIT_2, "message": TELL}),
    HostEvent("TaskCompleted", ("task_completed",), TASK, KEEP_ON),
    HostEvent("TeammateIdle", ("teammate_idle",), _taken("teammate_name", "team_name"), KEEP_ON),
    HostEvent("ConfigChange", ("config_change",), _taken("source", "file_path"), {"block": BLOCK, "message": TELL}),
    HostEvent("InstructionsLoaded", ("instructions_loaded",), LOADED),
    HostEvent("CwdChanged", ("cwd_changed",), _taken("old_cwd", "new_cwd"), {"message": TELL}),
    HostEvent(
        "FileChanged",
        ("file_changed",),
        (*_taken("file_path"), Taken("change", ("event",))),
        {"message": TELL},
        why_not="its matcher is the list of files to watch, which only its user can name",
    ),
    HostEvent("DirectoryAdded", ("directory_added",), _taken("directory", "source")),
    HostEvent(
        "WorktreeCreate",
        ("worktree_create",),
        taken(worktree_name="name"),
        {"block": EXIT_2, "output": specific("WorktreeCreate", worktreePath="{output}")},
        why_not="an entry there replaces the product's own way to make a worktree, and has to make it",
    ),
    HostEvent("WorktreeRemove", ("worktree_remove",), _taken("worktree_path")),
)
OTHER_EVENTS = tuple(
    row.replace(installed=False, on_demand=not row.why_not, why_not=row.why_not or WHY) for row in _ROWS
)
