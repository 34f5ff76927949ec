"""How Claude Code reads what a hook answers: keys by event, exit statuses, plain text."""

from __future__ import annotations

from anyhook.tables.readers import object_or_prose, whole_object, yes_or_no
from anyhook.tables.rows import SPECIFIC, Asking, Key, Reply

CONTEXT_EVENTS = (
    "session_start", "user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure", "subagent_start", "stop",
    "subagent_stop", "notification",
)  # fmt: skip
TURN_EVENTS = ("user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure", "stop", "subagent_stop")
PERMISSIONS = (("deny", "block", ()), ("allow", "allow", ()), ("ask", "ask", ()), ("defer", "ask", ()))

DOCUMENTED = (
    "suppressOutput", "terminalSequence", "async", "asyncTimeout",
    *(f"{SPECIFIC}.{key}" for key in (
        "hookEventName", "classifierContext", "updatedMCPToolOutput", "sessionTitle", "suppressOriginalPrompt",
        "initialUserMessage", "watchPaths", "reloadSkills", "retry", "decision.updatedPermissions",
        "decision.interrupt",
    )),
)  # fmt: skip

COMMAND = Reply(
    read=object_or_prose,
    also=DOCUMENTED,
    exits={0: "pass", 2: "block"},
    exit_reasons=("reason", "stderr"),
    json_reasons=("reason", "stderr"),
    speaks_anyway=True,
    text_on=("session_start", "user_prompt_submit"),
    keys=(
        Key(("decision",), "string", "verdict", words=(("block", "block", ()), ("approve", "allow", ("pre_tool",)))),
        Key(("reason",), "string", "reason"),
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=("pre_tool",), words=PERMISSIONS),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "updatedInput"), "object", "tool_input", on=("pre_tool",)),
        Key(
            (SPECIFIC, "decision", "behavior"),
            "string",
            "verdict",
            on=("permission_request",),
            words=(("deny", "block", ()), ("allow", "allow", ())),
        ),
        Key((SPECIFIC, "decision", "message"), "string", "reason", on=("permission_request",)),
        Key((SPECIFIC, "decision", "updatedInput"), "object", "tool_input", on=("permission_request",)),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=CONTEXT_EVENTS),
        Key((SPECIFIC, "updatedToolOutput"), "any", "tool_output", on=("post_tool",)),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=TURN_EVENTS),
        Key(("stopReason",), "string", "messages"),
    ),
)
POSTED = COMMAND.replace(read=whole_object, exits={0: "pass"}, speaks_anyway=False)
"""An answer to a request: a body that is not a JSON object is a failure, and so is any status but success."""
MODEL = Reply(
    read=yes_or_no,
    json_reasons=("reason",),
    keys=(Key(("ok",), "any", "block_unless"), Key(("reason",), "string", "reason")),
)
ASKING = Asking(
    placeholders=("$ARGUMENTS",),
    roles={"fast": "fast", "haiku": "fast", "sonnet": "long", "opus": "thinking"},
    reply='{"ok": true} to let it happen, or {"ok": false, "reason": "one or two sentences"} to block it',
    temperature=0.0,
    max_tokens=512,
)
