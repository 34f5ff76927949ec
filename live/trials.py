"""The trials: which hooks are there, what the model does, and what to look for afterwards. A trial may test several
effects at once if they do not interfere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anyhook.extra.live.script import ASIDE, Step
from anyhook.tables.drive_rows import ASKING, DELEGATING, FULL
from live.hooks import Answers, agenthooks, answering, answering_about, context, kodelet, kodik
from live.looks import (
    OUTPUT,
    Look,
    asked,
    denied,
    ended,
    ended_before,
    feedback,
    heard,
    kept_out,
    let_through,
    replaced,
    reworded,
    rewritten,
    skipped,
    stopped,
    told,
    unsent,
    unsent_by_end,
    went_on,
)
from live.matrix import SUB_AGENTS

OLD_PROMPT = "Please do PROMPTOLD what has to be done."


def shell(command: str, **more: str) -> Step:
    return Step(tool="shell", input={"command": command, **more})


RUNS = shell(f"echo done > ran.txt; echo {OUTPUT}")
CHANGED = "echo done > changed.txt; echo changed"
DONE, MORE = Step("first done"), Step("second done")
FAILING = (
    # For some agents, a command that fails is not a failed tool.
    shell(f"echo {OUTPUT} >&2; exit 3"),
    Step(tool="read_file", input={"path": "{project}/missing.txt"}),
    DONE,
)
ESCALATION = {"escalation": "require_escalated"}  # one agent asks only about such commands
QUESTIONABLE = (
    shell("echo done > not-asked.txt", **ESCALATION),
    shell(f"echo done > ran.txt; echo {OUTPUT}", **ESCALATION),
    DONE,
)
END = {"continue": False, "stopReason": "WORDEND"}
REFUSAL = {"decision": "block", "reason": "WORDREFUSED"}
SUB = "anyhook_sub"
DELEGATED = (
    Step(tool="delegate_task", input={"task": f"Please do {SUB} for me.", "agent_name": "{helper}"}),
    shell("sleep 3"),  # some run sub-agents in parallel, and end them when they end themselves
    DONE,
    Step(tool="shell", input={"command": "echo done > inside.txt"}, where=SUB),
    Step("sub done", where=SUB),
    Step("sub done again", where=SUB),
)
OVERLONG = (
    shell("echo one"),
    shell("echo two"),
    Step(tool="shell", input=RUNS.input, tokens=190_000),
    shell("sleep 2"),  # some compact in parallel with the conversation
    DONE,
    Step("done, after all", where=ASIDE),
)


@dataclass(frozen=True)
class Trial:
    """Hooks, steps, and how to recognise each effect."""

    hooks: Mapping[str, str]
    looks: Mapping[tuple[str, str], Look]
    steps: tuple[Step, ...] = (RUNS, DONE, MORE)
    prompt: str = OLD_PROMPT
    scenario: str = ""
    borrowed: Answers = field(default_factory=dict)
    """Hooks in a dialect that depends on the agent."""


ORDINARY: Mapping[str, Trial] = {
    "context": Trial(
        kodik(
            SessionStart=context("WORDSTART"),
            UserPromptSubmit=context("WORDPROMPT"),
            PreToolUse=context("WORDBEFORE"),
            PostToolUse=context("WORDAFTER"),
        ),
        {
            ("session_start", "context"): told("WORDSTART"),
            ("user_prompt_submit", "context"): told("WORDPROMPT"),
            ("pre_tool", "context"): told("WORDBEFORE"),
            ("post_tool", "context"): told("WORDAFTER"),
        },
    ),
    "after a failure": Trial(
        agenthooks("after_tool_failure", "echo WORDAFTER"),
        {("post_tool_failure", "context"): told("WORDAFTER"), ("post_tool_failure", "message"): heard("WORDTELL")},
        FAILING,
        borrowed={"PostToolUseFailure": {"systemMessage": "WORDTELL"}},
    ),
    "message": Trial(
        {},
        {
            ("session_start", "message"): heard("WORDSTART"),
            ("user_prompt_submit", "message"): heard("WORDPROMPT"),
            ("pre_tool", "message"): heard("WORDBEFORE"),
            ("post_tool", "message"): heard("WORDAFTER"),
            ("stop", "message"): heard("WORDSTOP"),
            ("session_end", "message"): heard("WORDOVER"),
        },
        borrowed={
            "SessionStart": {"systemMessage": "WORDSTART"},
            "UserPromptSubmit": {"systemMessage": "WORDPROMPT"},
            "PreToolUse": {"systemMessage": "WORDBEFORE"},
            "PostToolUse": {"systemMessage": "WORDAFTER"},
            "Stop": {"systemMessage": "WORDSTOP"},
            "SessionEnd": {"systemMessage": "WORDOVER"},
        },
    ),
    "a refused start": Trial(
        {
            **agenthooks("session_start", answering({"decision": "deny", "reason": "WORDREFUSED"})),
            **kodik(Stop=context("WORDSTOP")),
        },
        {("session_start", "block"): unsent, ("stop", "context"): told("WORDSTOP")},
    ),
    "a refused call": Trial(kodik(PreToolUse="echo WORDREFUSED >&2; exit 2"), {("pre_tool", "block"): stopped}),
    "a call to be asked about": Trial(
        agenthooks("before_tool", answering({"decision": "ask", "reason": "WORDASK"})), {("pre_tool", "ask"): asked}
    ),
    "other input": Trial(
        kodik(PreToolUse=answering({"modified_input": {"command": CHANGED}})), {("pre_tool", "input"): rewritten}
    ),
    "an end before a tool": Trial({}, {("pre_tool", "end_turn"): ended_before}, borrowed={"PreToolUse": END}),
    "a result refused": Trial(kodik(PostToolUse="echo WORDREFUSED >&2; exit 2"), {("post_tool", "block"): feedback}),
    "a failure refused": Trial(
        agenthooks("after_tool_failure", "echo WORDREFUSED >&2; exit 2"),
        {("post_tool_failure", "block"): feedback},
        FAILING,
    ),
    "the turn's end": Trial({}, {("post_tool", "end_turn"): ended}, borrowed={"PostToolUse": END}),
    "the turn's end after a failure": Trial(
        {}, {("post_tool_failure", "end_turn"): ended}, FAILING, borrowed={"PostToolUseFailure": END}
    ),
    "other output": Trial(
        {},
        {("post_tool", "output"): replaced},
        borrowed={
            "PostToolUse": {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "WORDOUTPUT"}}
        },
    ),
    "other output of a failure": Trial(
        kodelet("after_tool_call", {"output": {"result": "WORDOUTPUT"}}, about='"success": *false'),
        {("post_tool_failure", "output"): replaced},
        FAILING,
    ),
    "a refused prompt": Trial(
        kodik(UserPromptSubmit="echo WORDREFUSED >&2; exit 2"), {("user_prompt_submit", "block"): unsent}
    ),
    "an end at the prompt": Trial(
        {}, {("user_prompt_submit", "end_turn"): unsent_by_end}, borrowed={"UserPromptSubmit": END}
    ),
    "another prompt": Trial(
        kodik(UserPromptSubmit=answering({"modified_prompt": "Do PROMPTNEW instead."})),
        {("user_prompt_submit", "prompt"): reworded},
    ),
    "a refused stop": Trial(
        kodik(Stop=answering({"decision": "block", "reason": "WORDMORE"}, once=True)), {("stop", "block"): went_on}
    ),
    "a follow-up": Trial(
        kodelet("agent_stop", {"result": "continue", "follow_up_messages": ["WORDMORE"]}),
        {("stop", "follow_up"): went_on},
    ),
}

RARE: Mapping[str, Trial] = {
    "a call let through": Trial(
        agenthooks("before_tool", answering_about("ran.txt", {"decision": "allow"})),
        {("pre_tool", "allow"): let_through},
        QUESTIONABLE,
        scenario=ASKING,
    ),
    "a permission granted": Trial(
        kodik(
            PermissionRequest=answering_about("ran.txt", {"decision": "approve", "additional_context": "WORDCONTEXT"})
        ),
        {
            ("permission_request", "allow"): let_through,
            ("permission_request", "context"): told("WORDCONTEXT"),
            ("permission_request", "message"): heard("WORDTELL"),
            ("notification", "context"): told("WORDNOTICE"),
            ("notification", "message"): heard("WORDNOTE"),
        },
        QUESTIONABLE,
        scenario=ASKING,
        borrowed={
            "PermissionRequest": {"systemMessage": "WORDTELL"},
            "Notification": {
                "systemMessage": "WORDNOTE",
                "hookSpecificOutput": {"hookEventName": "Notification", "additionalContext": "WORDNOTICE"},
            },
        },
    ),
    "a permission refused": Trial(
        kodik(PermissionRequest=answering(REFUSAL)),
        {("permission_request", "block"): denied},
        QUESTIONABLE,
        scenario=ASKING,
    ),
    "a permission with other input": Trial(
        {},
        {("permission_request", "input"): rewritten},
        QUESTIONABLE,
        scenario=ASKING,
        borrowed={
            "PermissionRequest": {
                "hookSpecificOutput": {
                    "hookEventName": "PermissionRequest",
                    "decision": {"behavior": "allow", "updatedInput": {"command": CHANGED}},
                }
            }
        },
    ),
    "a sub-agent": Trial(
        kodik(
            SubagentStart=context("WORDSTART"),
            SubagentStop=context("WORDSTOP"),
            PreToolUse=answering_about("inside.txt", REFUSAL),
        ),
        {
            (SUB_AGENTS, "block"): kept_out,
            ("subagent_start", "context"): told("WORDSTART"),
            ("subagent_start", "message"): heard("WORDTELL"),
            ("subagent_stop", "context"): told("WORDSTOP"),
        },
        DELEGATED,
        scenario=DELEGATING,
        borrowed={"SubagentStart": {"systemMessage": "WORDTELL"}},
    ),
    "a refused sub-agent": Trial(
        kodik(SubagentStart=answering(REFUSAL)),
        {("subagent_start", "block"): feedback},
        DELEGATED,
        scenario=DELEGATING,
    ),
    "a sub-agent sent back": Trial(
        kodik(SubagentStop=answering({"decision": "block", "reason": "WORDMORE"}, once=True)),
        {
            ("subagent_stop", "block"): went_on,
            ("subagent_stop", "message"): heard("WORDTELL"),
        },
        DELEGATED,
        scenario=DELEGATING,
        borrowed={"SubagentStop": {"systemMessage": "WORDTELL"}},
    ),
    "a compaction": Trial(
        kodik(PreCompact=context("WORDBEFORE"), PostCompact=context("WORDAFTER")),
        {
            ("pre_compact", "context"): told("WORDBEFORE"),
            ("pre_compact", "message"): heard("WORDTELL"),
            ("post_compact", "context"): told("WORDAFTER"),
            ("post_compact", "message"): heard("WORDLATER"),
        },
        OVERLONG,
        scenario=FULL,
        borrowed={"PreCompact": {"systemMessage": "WORDTELL"}, "PostCompact": {"systemMessage": "WORDLATER"}},
    ),
    "a refused compaction": Trial(
        kodik(PreCompact=answering(REFUSAL)),
        {("pre_compact", "block"): skipped},
        OVERLONG,
        scenario=FULL,
    ),
}
TRIALS: Mapping[str, Trial] = {**ORDINARY, **RARE}
