"""How Claude Code reads a hook's answer: keys by event, exit statuses, plain text."""

from __future__ import annotations

from anyhook.tables.vocabulary import *

CONTEXT_EVENTS = (
    "session_start", "user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure", "subagent_start", "stop",
    "subagent_stop", "notification", "setup", "user_prompt_expansion", "post_tool_batch", "post_model_switch",
)  # fmt: skip
TURN_EVENTS = (
    "user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure", "stop", "subagent_stop", "post_tool_batch",
    "task_completed", "teammate_idle",
)  # fmt: skip
PERMISSIONS: Words = (
    ("deny", "block", ()),
    ("allow", "allow", ()),
    ("ask", "ask", ()),
    ("defer", "ask", ("pre_tool",)),
)
SWITCHES = ("pre_tool", "pre_model_switch")
QUESTIONS = ("elicitation", "elicitation_result")
RETRY: Words = (("true", "allow", ()), ("false", "none", ()))

DOCUMENTED = (
    "suppressOutput", "terminalSequence", "async", "asyncTimeout",
    *(f"{SPECIFIC}.{key}" for key in (
        "hookEventName", "classifierContext", "updatedMCPToolOutput", "sessionTitle", "suppressOriginalPrompt",
        "initialUserMessage", "watchPaths", "reloadSkills", "decision.updatedPermissions",
        "decision.interrupt",
    )),
)  # fmt: skip

_COMMON = Reply(
    read=object_or_prose,
    also=DOCUMENTED,
    exits={0: "pass", 2: "block"},
    exit_reasons=("reason", "stderr"),
    json_reasons=("reason", "stderr"),
    speaks_anyway=True,
    text_on=("session_start", "user_prompt_submit", "user_prompt_expansion", "post_model_switch"),
    keys=(
        Key(("decision",), "string", "verdict", words=(("block", "block", ()), ("approve", "allow", ("pre_tool",)))),
        Key(("reason",), "string", "reason"),
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=SWITCHES, words=PERMISSIONS),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=SWITCHES),
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
        Key(
            (SPECIFIC, "action"),
            "string",
            "verdict",
            on=QUESTIONS,
            words=(("accept", "allow", ()), ("decline", "block", ()), ("cancel", "block", ())),
        ),
        Key((SPECIFIC, "content"), "object", "tool_input", on=QUESTIONS),
        Key((SPECIFIC, "retry"), "bool", "verdict", on=("permission_denied",), words=RETRY, any_case=True),
        Key((SPECIFIC, "displayContent"), "string", "tool_output", on=("message_display",)),
        Key((SPECIFIC, "worktreePath"), "string", "tool_output", on=("worktree_create",)),
        Key(("systemMessage",), "string", "messages"),
        Key(("continue",), "bool", "end_turn_unless", on=TURN_EVENTS),
        Key(("stopReason",), "string", "messages"),
    ),
)


def _path_or_object(stdout: bytes) -> Printed:
    """The last line is the path of the new worktree, unless a JSON object names it."""
    kind, value = object_or_prose(stdout)
    if kind != "text":
        return kind, value
    return "object", {SPECIFIC: {"worktreePath": str(value).splitlines()[-1].strip()}}


COMMAND = _COMMON.replace(
    on_event={
        "worktree_create": _COMMON.replace(
            read=_path_or_object, exits={0: "pass"}, otherwise="block", speaks_anyway=False
        )
    }
)
POSTED = _COMMON.replace(read=whole_object, exits={0: "pass"}, speaks_anyway=False)
"""The answer to an HTTP request: a body that is not a JSON object is a failure, and so is any status but success."""
CALLED = _COMMON.replace(
    exits={0: "pass"},
    text_doubted=True,
    on_event={"worktree_create": COMMAND.on_event["worktree_create"].replace(otherwise="fail")},
)
"""A tool of an MCP server has no exit status: if it fails, it has no effect. It is called for its answer, so text that
is not read may be meant as a refusal."""
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
