"""Cursor, the editor and its command line: camelCase events, one permission at the top of the answer, a follow-up
message in place of a block at a stop. It cannot be run here: its table comes from its documents, and from payloads that
others captured with 2026.09."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, FILE, REASON, TASK, TRIGGER
from anyhook.agents._results import unpacked
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Sign, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "2026.09.26"

TOOL = (
    Taken("tool", ("tool_name",)),
    Taken("input", ("tool_input",), unpacked),  # for an MCP tool it may be JSON in a text
    Taken("call_id", ("tool_use_id",)),
)
FACET = "the same call reaches preToolUse and postToolUse"
ALONE = "no canonical event"
AGENT = (Taken("agent_type", ("subagent_type",)), Taken("agent_name", ("subagent_id",)), Taken("task", ("task",)))
CONTEXT = Say({"additional_context": "{context}"})
DENY = Say({"permission": "deny", "user_message": "{reason}", "agent_message": "{reason}"})
GO_ON = Say({"followup_message": "{reason}"})

EVENTS = (
    HostEvent("sessionStart", ("session_start",), (), {"context": CONTEXT}, fixed={"source": "startup"}),
    HostEvent(
        "beforeSubmitPrompt",
        ("user_prompt_submit",),
        (Taken("prompt", ("prompt",)), Taken("attachments", ("attachments",))),
        {"block": Say({"continue": False, "user_message": "{reason}"}), "context": CONTEXT},
        why_not="`cursor-agent -p` does not fire it",
    ),
    HostEvent(
        "preToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": DENY,
            "allow": Say({"permission": "allow"}),
            "input": Say({"updated_input": "{input}"}),
            "context": CONTEXT,
        },
        limit_s=600,
    ),
    HostEvent(
        "postToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_output",), unpacked), Taken("duration_ms", ("duration",))),
        {"context": CONTEXT},
        limit_s=600,
    ),
    HostEvent(
        "postToolUseFailure",
        ("post_tool_failure",),
        (*TOOL, Taken("tool_error", ("error_message",)), Taken("output", ("error_message",))),
        {"context": CONTEXT},
        limit_s=600,
    ),
    HostEvent(
        "subagentStart",
        ("subagent_start",),
        AGENT,
        {"block": Say({"permission": "deny", "user_message": "{reason}"})},
    ),
    HostEvent(
        "subagentStop",
        ("subagent_stop",),
        (*AGENT, Taken("last_message", ("summary",))),
        {"block": GO_ON},
        limit_s=600,
    ),
    HostEvent("preCompact", ("pre_compact",), TRIGGER),
    HostEvent(
        "stop",
        ("stop",),
        (Taken("stop_reason", ("status",)),),
        {"block": GO_ON},
        limit_s=600,
        why_not="`cursor-agent -p` does not fire it",
    ),
    HostEvent("sessionEnd", ("session_end",), REASON),
    *left_out(
        FACET,
        "beforeShellExecution",
        "afterShellExecution",
        "beforeMCPExecution",
        "afterMCPExecution",
        "beforeReadFile",
        "afterFileEdit",
    ),
    *left_out(ALONE, "afterAgentResponse", "afterAgentThought"),
    *left_out("completions are not an agent's work", "beforeTabFileRead", "afterTabFileEdit"),
    HostEvent("workspaceOpen", installed=False, why_not=ALONE),
)

HOST = Host(
    name="cursor",
    title="Cursor",
    events=EVENTS,
    base=(
        Taken("session", ("session_id", "conversation_id")),
        Taken("parent_session", ("parent_conversation_id",)),
        Taken("model", ("model",)),
    ),
    tools={
        "Shell": HostTool("shell"),
        "Read": HostTool("read_file", FILE),
        "Write": HostTool("write_file", FILE),
        "Edit": HostTool("edit_file", EDIT),
        "Grep": HostTool("grep"),
        "Task": HostTool("delegate_task", TASK),
        "Fetch": HostTool("web_fetch"),
    },
    entry=Entry(
        "list",
        {"user": "{home}/.cursor/hooks.json", "project": "{project}/.cursor/hooks.json"},
        handler={"command": "{command}", "timeout": "{seconds}"},
        closed={"failClosed": True},
        top={"version": 1},
    ),
    project=("workspace_roots.0", "cwd"),
    project_variables=("CURSOR_PROJECT_DIR",),
    reads={"cursor": ("user", "project"), "claude": ("user", "project")},
    misreads=("claude",),  # its shell is `Shell`, not `Bash`
    program="cursor-agent",
    marks=("CURSOR_AGENT",),
    managed=("{etc}/cursor/hooks.json",),
    confirm="Project hooks run in trusted workspaces only.",
    gaps=(
        "asking the user",
        "replaced output, except of MCP tools",
        "approval prompts",
        "cloud agents, which do not run the user's hooks",
    ),
    max_context=10_000,
    lent=(("hookEventName", ""),),
    signs=(Sign(("cursor_version",)), Sign(("conversation_id", "generation_id", "workspace_roots"))),
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "runs no hooks on the command line",
            "phnx-labs/agi-cli, apps/cli/src/lib/agents.ts",
            "2026-01-16",
            before="2026.01.16",
        ),
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import REASON, called, guarded

    handler: Json = {"command": ".cursor/hooks/guard", "matcher": "Shell"}
    payload = {
        "conversation_id": "s", "hook_event_name": "preToolUse", "cursor_version": VERSION,
        **called("Shell", cwd="", timeout=30000),
    }  # fmt: skip
    entry: Json = {"version": 1, "hooks": {"preToolUse": [handler]}}
    told = {"permission": "deny", "user_message": REASON, "agent_message": REASON}
    return guarded(".cursor/hooks.json", "Shell", payload, entry=entry, event="preToolUse", stdout=told)
