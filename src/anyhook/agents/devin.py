"""Devin CLI, by Cognition, which also runs inside its desktop app and other editors: Claude's groups, a decision at the
top of the answer, and a rewrite that is merged into the arguments. It is not run here; the table comes from its
documents, and from payloads that others captured with 3000.2.17.

As a dialect: Claude's groups in its own files, decisions at the top of the answer, context and rewrites nested."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, EDIT, FILE, TOOL, event, grouped
from anyhook.agents._family import HookFile, Layout, claude_reply, family, misplaced
from anyhook.agents._patches import split_patch
from anyhook.tables.vocabulary import *

VERSION = "3000.11"

APPROVE = Say({"decision": "approve"})
OUTPUT = taken(output=("tool_response.output", "tool_response"))

WORDS = {"block": BLOCK, "allow": APPROVE}

HOST_EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context"),
    event("PreToolUse", "block allow input", WORDS),
    event("PermissionRequest", "block allow", WORDS),
    event(
        "PostToolUse",
        "block context",
        canonical=("post_tool", "post_tool_failure"),
        takes=(*TOOL, *OUTPUT),
        error=("tool_response.error",),
    ),
    HostEvent("PostCompaction", ("post_compact",)),
    event("Stop", "block"),
    event("SessionEnd"),
)

HOST = Host(
    name="devin",
    title="Devin CLI",
    events=HOST_EVENTS,
    base=taken(session="session_id"),
    tools={
        "exec": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep": HostTool("grep"),
        "webfetch": HostTool("web_fetch"),
        "run_subagent": HostTool("delegate_task"),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/devin/config.json", "project": "{project}/.devin/config.json"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        grouped(),
    ),
    project_variables=("DEVIN_PROJECT_DIR",),
    reads={"devin": ("user", "project"), "claude": ("user", "project")},
    misreads=("claude",),  # `Bash` does not match its `exec`, and it documents no `permissionDecision`
    program="devin",
    confirm="It runs no hooks in Restricted Mode.",
    gaps=("work of sub-agents in the background", "cloud sessions", "asking the user", "replaced output"),
    signs=(
        Sign(("prompt_id",), ("cwd", "transcript_path")),
        Sign((), ("cwd", "transcript_path"), ("DEVIN_PROJECT_DIR",)),  # there is no prompt yet when a session starts
    ),
)


def _response(scene: Scene) -> Json:
    error = scene.event.get("tool_error") or None
    return {"success": error is None, "output": scene.event.get("output"), "error": error}


EVENTS = event_rows(
    HOST,
    cells={"tool_response": _response},
    extra={
        "Stop": fields(stop_hook_active=not_in_a_stop_hook),
        "PostCompaction": fields(summary=fixed(None)),
    },
)
READ = claude_reply(EVENTS, read=object_or_nothing, text_on=(), exit_reasons=("stderr",))
CONTEXT = ("session_start", "user_prompt_submit", "post_tool", "post_tool_failure")
DECISIONS: Words = (("block", "block", ()), ("approve", "allow", ("pre_tool", "permission_request")))
REPLY = READ.replace(
    also=("suppressOutput", "systemMessage", "continue", "stopReason"),
    keys=(
        Key(("decision",), "string", "verdict", words=DECISIONS),
        Key(("reason",), "string", "reason"),
        Key(("hookSpecificOutput", "updatedInput"), "object", "tool_input", on=("pre_tool",)),
        Key(("hookSpecificOutput", "additionalContext"), "string", "context", on=CONTEXT),
    ),
)

DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/devin/config.json"),
            HookFile("project", "{project}/.devin/config.json"),
            HookFile("project", "{project}/.devin/config.local.json", "local"),
            HookFile("project", "{project}/.devin/hooks.v1.json", "v1", under=()),
        ),
        skipped=("prompt",),
    ),
    EVENTS,
    REPLY,
    base=fields(hook_event_name=native_name, session_id=session, prompt_id="call_id"),
    variables={"DEVIN_PROJECT_DIR": "{project}"},
    whole_input=merged,
    misplaced=misplaced(("{project}/.devin/hooks.json", ".devin/hooks.v1.json")),
    differences=differences(
        "3000.11",
        "docs.devin.ai/cli/extensibility/hooks",
        "2026-11-16",
        ("DV-1", "Files between the project's folder and the root of its repository are not read."),
        ("DV-2", "`prompt` handlers are reported and not run."),
        ("DV-3", "The product documents no default time limit; 60 s apply."),
    ),
)


CHANGES = (
    until("3000.3.22", "does not read the refusals of our entry", "docs.devin.ai, changelog of 3000.3.22", "2026-07"),
)


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    call = called("exec", shell_id="main")
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p", **call}
    return guarded(".devin/config.json", "exec", payload, stdout=decided("block"))
