"""What the hosts share that use Claude's payloads and answers. Each host uses only the rows that it honours."""

from __future__ import annotations

from anyhook.tables.host_rows import HostEvent, HostTool, Say, Taken, taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.tables.vocabulary import Any, Json

TOOL = taken(tool="tool_name", input="tool_input", call_id="tool_use_id")
AGENT = taken(agent_type="agent_type", last_message="last_assistant_message")
SOURCE = taken(source="source")
REASON = taken(reason="reason")
TRIGGER = taken(trigger="trigger")
PROMPT = taken(prompt="prompt")
LAST = taken(last_message="last_assistant_message")
ERROR = taken(tool_error="error", output="error")
NOTE = taken(message="message", notification_type="notification_type")


def inside(_value: Json) -> Json:
    return "subagent"


BASE = (
    Taken("session", ("session_id",)),
    Taken("permission_mode", ("permission_mode",)),
    Taken("model", ("model",)),
    Taken("duration_ms", ("duration_ms",)),
    Taken("invoked_by", ("agent_id",), inside),
    Taken("agent_id", ("agent_id",)),
    Taken("agent_type", ("agent_type",)),
    Taken("turn_id", ("turn_id",)),
)

BLOCK = Say({"decision": "block", "reason": "{reason}"})
DENY = Say({"decision": "deny", "reason": "{reason}"})
HALT = Say({"continue": False, "stopReason": "{reason}"})
TELL = Say({"systemMessage": "{message}"})
EXIT_2 = Say(stderr="{reason}", status=2)
BY_EXIT_2 = {"block": EXIT_2}
"""Of hosts that are refused by exit status 2 alone."""


def specific(event: str, **keys: Json) -> Say:
    """Keys inside `hookSpecificOutput`, which repeats the event's name."""
    return Say({"hookSpecificOutput": {"hookEventName": event, **keys}})


def permission(event: str, word: str) -> Say:
    """A permission decision before a tool runs."""
    return specific(event, permissionDecision=word, permissionDecisionReason="{reason}")


def context(event: str) -> Say:
    return specific(event, additionalContext="{context}")


def request(word: str) -> Say:
    """Answers a permission request for the user."""
    decision: dict[str, Json] = {"behavior": word}
    if word == "deny":
        decision["message"] = "{reason}"
    return Say({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})


GATE_S = 600
"""How long the family waits for a hook that may refuse."""
EVENTS: Mapping[str, tuple[str, tuple[Taken, ...], float]] = {
    "SessionStart": ("session_start", SOURCE, 60.0),
    "UserPromptSubmit": ("user_prompt_submit", PROMPT, 60.0),
    "PreToolUse": ("pre_tool", TOOL, GATE_S),
    "PermissionRequest": ("permission_request", TOOL, GATE_S),
    "PostToolUse": ("post_tool", (*TOOL, Taken("output", ("tool_response",))), GATE_S),
    "PostToolUseFailure": ("post_tool_failure", (*TOOL, *ERROR), GATE_S),
    "Notification": ("notification", NOTE, 60.0),
    "SubagentStart": ("subagent_start", AGENT, 60.0),
    "SubagentStop": ("subagent_stop", AGENT, GATE_S),
    "PreCompact": ("pre_compact", TRIGGER, 60.0),
    "PostCompact": ("post_compact", TRIGGER, 60.0),
    "Stop": ("stop", LAST, GATE_S),
    "SessionEnd": ("session_end", REASON, 60.0),
}
"""The family's events: our name for each, the fields of its payload, and how long its hooks may take."""


def said(native: str, effect: str) -> Say:
    """How the family expresses an effect."""
    word = "deny" if effect == "block" else effect
    if native == "PermissionRequest" and effect in ("block", "allow"):
        return request(word)
    if native == "PreToolUse" and effect in ("block", "ask", "allow"):
        return permission(native, word)
    within = {"input": "updatedInput", "output": "updatedToolOutput", "context": "additionalContext"}
    if effect in within:
        return specific(native, **{within[effect]: f"{{{effect}}}"})
    return {"block": BLOCK, "end_turn": HALT, "message": TELL}[effect]


def event(native: str, effects: str = "", unlike: Mapping[str, Say] = {}, **more: Any) -> HostEvent:
    """An event of the family: the effects that this host honours, those of them that it expresses differently, and
    further fields of the row."""
    canonical, takes, limit_s = EVENTS[native]
    says = {effect: unlike.get(effect) or said(native, effect) for effect in effects.split()}
    known: dict[str, Any] = {"canonical": (canonical,), "takes": takes, "says": says, "limit_s": limit_s}
    return HostEvent(native, **{**known, **more})


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
    "WebFetch": HostTool("web_fetch"),
    "WebSearch": HostTool("web_search"),
}


def grouped(timeout: str = "{seconds}") -> Mapping[str, Json]:
    """One handler in a group."""
    return {"type": "command", "command": "{command}", "timeout": timeout}
