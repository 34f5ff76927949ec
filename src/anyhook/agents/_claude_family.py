"""What hosts share that follow one agent's payloads and answers. Each takes the rows it honours, none takes all."""

from __future__ import annotations

from anyhook.tables.host_rows import HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)), Taken("call_id", ("tool_use_id",)))
AGENT = (Taken("agent_type", ("agent_type",)), Taken("last_message", ("last_assistant_message",)))
SOURCE = (Taken("source", ("source",)),)
REASON = (Taken("reason", ("reason",)),)
TRIGGER = (Taken("trigger", ("trigger",)),)
PROMPT = (Taken("prompt", ("prompt",)),)
LAST = (Taken("last_message", ("last_assistant_message",)),)
NOTE = (Taken("message", ("message",)), Taken("notification_type", ("notification_type",)))


def _inside(_value: Json) -> Json:
    return "subagent"


BASE = (
    Taken("session", ("session_id",)),
    Taken("permission_mode", ("permission_mode",)),
    Taken("model", ("model",)),
    Taken("duration_ms", ("duration_ms",)),
    Taken("invoked_by", ("agent_id",), _inside),
    Taken("agent_type", ("agent_type",)),
)

BLOCK = Say({"decision": "block", "reason": "{reason}"})
DENY = Say({"decision": "deny", "reason": "{reason}"})
HALT = Say({"continue": False, "stopReason": "{reason}"})
TELL = Say({"systemMessage": "{message}"})
EXIT_2 = Say(stderr="{reason}", status=2)


def specific(event: str, **keys: Json) -> Say:
    """Keys inside `hookSpecificOutput`, which repeats the event's name."""
    return Say({"hookSpecificOutput": {"hookEventName": event, **keys}})


def permission(event: str, word: str) -> Say:
    """A permission decision before a tool runs."""
    return specific(event, permissionDecision=word, permissionDecisionReason="{reason}")


def context(event: str) -> Say:
    return specific(event, additionalContext="{context}")


def request(word: str) -> Say:
    """An answer in the user's stead."""
    decision: dict[str, Json] = {"behavior": word}
    if word == "deny":
        decision["message"] = "{reason}"
    return Say({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})


FILE = {"path": "file_path"}
EDIT = {"path": "file_path", "old_text": "old_string", "new_text": "new_string"}
TASK = {"agent_name": "subagent_type", "task": "prompt"}

TOOLS: Mapping[str, HostTool] = {
    "Bash": HostTool("shell"),
    "Read": HostTool("read_file", FILE),
    "Write": HostTool("write_file", FILE),
    "Edit": HostTool("edit_file", EDIT),
    "Glob": HostTool("list_files", {"glob": "pattern"}),
    "Grep": HostTool("grep"),
    "Agent": HostTool("delegate_task", TASK),
    "Task": HostTool("delegate_task", TASK),
}


def grouped(timeout: str = "{seconds}") -> Mapping[str, Json]:
    """A handler of a group."""
    return {"type": "command", "command": "{command}", "timeout": timeout}
