"""Devin CLI, by Cognition, which also runs inside its desktop app and other editors: Claude's groups, a decision at the
top of the answer, and a rewrite that is merged into the arguments. It is not run here; the table comes from its
documents, and from payloads that others captured with 3000.2.17."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, EDIT, FILE, TOOL, event, grouped
from anyhook.agents._patches import split_patch
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Sign, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "3000.11"

APPROVE = Say({"decision": "approve"})
OUTPUT = (Taken("output", ("tool_response.output", "tool_response")),)

WORDS = {"block": BLOCK, "allow": APPROVE}

EVENTS = (
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
    events=EVENTS,
    base=(Taken("session", ("session_id",)),),
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


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "does not read the refusals of our entry",
            "docs.devin.ai, changelog of 3000.3.22",
            "2026-07",
            before="3000.3.22",
        ),
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    call = called("exec", shell_id="main")
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p", **call}
    return guarded(".devin/config.json", "exec", payload, stdout=decided("block"))
