"""Cursor, the editor and its command line: camelCase events, one permission at the top of the answer, a follow-up
message in place of a block at a stop. It cannot be run here: its table comes from its documents, and from payloads that
others captured with 2026.09.

As a dialect: `hooks.json` with a list for each event; separate events for shell, file and MCP calls; a permission at
the top of the answer. Before a tool, an answer that cannot be read refuses."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, FILE, REASON, TASK, TRIGGER
from anyhook.agents._family import HookFile, Layout, each_by_itself, family, misplaced
from anyhook.agents._results import unpacked
from anyhook.tables.vocabulary import *

VERSION = "2026.09.26"

TOOL = (
    Taken("tool", ("tool_name",)),
    Taken("input", ("tool_input",), unpacked),  # for an MCP tool it may be JSON in a text
    Taken("call_id", ("tool_use_id",)),
)
FACET = "the same call reaches preToolUse and postToolUse"
ALONE = "no canonical event"
AGENT = taken(agent_type="subagent_type", agent_name="subagent_id", task="task")
CONTEXT = Say({"additional_context": "{context}"})
DENY = Say({"permission": "deny", "user_message": "{reason}", "agent_message": "{reason}"})
GO_ON = Say({"followup_message": "{reason}"})

HOST_EVENTS = (
    HostEvent("sessionStart", ("session_start",), (), {"context": CONTEXT}, fixed={"source": "startup"}),
    HostEvent(
        "beforeSubmitPrompt",
        ("user_prompt_submit",),
        taken(prompt="prompt", attachments="attachments"),
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
        "subagentStart", ("subagent_start",), AGENT, {"block": Say({"permission": "deny", "user_message": "{reason}"})}
    ),
    HostEvent(
        "subagentStop", ("subagent_stop",), (*AGENT, Taken("last_message", ("summary",))), {"block": GO_ON}, limit_s=600
    ),
    HostEvent("preCompact", ("pre_compact",), TRIGGER),
    HostEvent(
        "stop",
        ("stop",),
        taken(stop_reason="status"),
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

OWN_FOLDERS = ("{home}/.cursor/plans/**",)
HOST = Host(
    name="cursor",
    title="Cursor",
    events=HOST_EVENTS,
    base=taken(session=("session_id", "conversation_id"), parent_session="parent_conversation_id", model="model"),
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


def _given(scene: Scene, key: str) -> Json:
    given = scene.event.get("input")
    return given.get(key, "") if isinstance(given, dict) else ""


def _command(scene: Scene) -> Json:
    return _given(scene, "command")


def _path(scene: Scene) -> Json:
    return _given(scene, "file_path") or _given(scene, "path")


def _edits(scene: Scene) -> Json:
    old = _given(scene, "old_string")
    return [{"old_string": old, "new_string": _given(scene, "new_string") or _given(scene, "content")}]


def _packed_input(scene: Scene) -> Json:
    return text_of(scene.event.get("input"))


SHELL = fields(command=_command, cwd=project)
MCP = fields(tool_name="tool", tool_input=_packed_input)
FACETS = {
    "beforeShellExecution": ("pre_tool", ("shell",), SHELL),
    "beforeMCPExecution": ("pre_tool", ("mcp",), MCP),
    "beforeReadFile": ("pre_tool", ("read_file",), fields(file_path=_path, content=fixed(""))),
    "afterShellExecution": ("post_tool", ("shell",), (*SHELL, Field("output", "output"))),
    "afterMCPExecution": ("post_tool", ("mcp",), (*MCP, Field("result_json", output_alone))),
    "afterFileEdit": ("post_tool", ("write_file", "edit_file"), fields(file_path=_path, edits=_edits)),
}
"""Events that repeat a tool call: when they come, for which of our tools, and their payload."""
MCP_NAMES = ("MCP:", "mcp__", "mcp_", "@")
"""The prefixes of MCP tools' names in various agents."""
OURS = {native: tool.ours for native, tool in HOST.tools.items()}
EVENTS = (
    *event_rows(
        HOST,
        cells={"tool_output": output_alone},
        extra={
            "preToolUse": fields(cwd=project, agent_message=fixed("")),
            "postToolUse": fields(cwd=project),
            "postToolUseFailure": fields(cwd=project, failure_type=lambda scene: "error"),
            "stop": fields(loop_count=fixed(0)),
            "subagentStop": fields(loop_count=fixed(0)),
        },
        bound=5,
    ),
    *(
        EventRow(native, (when,), "deny_tool" if when == "pre_tool" else None, payload, "tool", about=about)
        for native, (when, about, payload) in FACETS.items()
    ),
)
PERMISSIONS: Words = (("deny", "block", ()), ("allow", "allow", ()), ("ask", "ask", ()))
GATES, STOPS = ("pre_tool", "subagent_start"), ("stop", "subagent_stop")


def _sent_on(draft: Draft, event: str) -> Draft:
    """A follow-up message at a stop keeps the agent working."""
    return {**draft, "verdict": "block"} if event in STOPS and draft.get("reason") else draft


REPLY = Reply(
    read=object_or_nothing,
    also=("env", "updated_mcp_tool_output", "pluginPaths"),
    exits={0: "pass", 2: "block"},
    exit_reasons=("reason", "stderr"),
    json_reasons=("reason", "stderr"),
    keys=(
        Key(("permission",), "string", "verdict", on=GATES, words=PERMISSIONS),
        Key(("continue",), "bool", "block_unless", on=("user_prompt_submit",)),
        Key(("user_message",), "string", "reason", on=(*GATES, "user_prompt_submit")),
        Key(("agent_message",), "string", "reason", on=GATES),
        Key(("updated_input",), "object", "tool_input", on=("pre_tool",)),
        Key(
            ("additional_context",),
            "string",
            "context",
            on=("session_start", "user_prompt_submit", "pre_tool", "post_tool", "post_tool_failure"),
        ),
        Key(("followup_message",), "string", "reason", on=STOPS),
    ),
    finish=_sent_on,
)
STRICT = REPLY.replace(read=whole_object)
"""Before a tool, an answer that cannot be read refuses; elsewhere it has no effect."""


def _seen(event: Event, row: EventRow) -> str | None:
    """The text that a matcher is tried against, or None."""
    given = event.get("input")
    if "Shell" in row.native:
        return str(given.get("command", "")) if isinstance(given, dict) else ""
    return str(event.get(row.target)) if row.target in ("tool", "agent_type") else None


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """A pattern to search for in the tool's name or in the command; an invalid one matches."""
    tool = str(event.get("tool"))
    if row.about:
        ours = "mcp" if tool.startswith(MCP_NAMES) else event.ours or OURS.get(tool, tool)
        if ours not in row.about:
            return f"{row.native} is not about the tool {tool!r}"
    seen = _seen(event, row)
    if not isinstance(hook.matcher, str) or hook.matcher in MATCH_ALL or seen is None:
        return None
    try:
        found = compile_pattern(hook.matcher).search(seen)
    except BadPattern:
        return None
    return None if found else f"matcher {hook.matcher!r} is not found in {seen[:80]!r}"


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("project", "{project}/.cursor/hooks.json"),
            HookFile("user", "{home}/.cursor/hooks.json"),
        ),
        style="list",
        keys=("failClosed", "loop_limit"),
        needs_type=False,
        skipped=("prompt",),
        elsewhere=frozenset(alone(HOST) - set(FACETS)),
        patterns=False,
        top={"version": 1},
    ),
    EVENTS,
    REPLY.replace(on_event=dict.fromkeys(GATES, STRICT)),
    base=fields(
        conversation_id=session,
        session_id=session,
        model="model",
        hook_event_name=native_name,
        workspace_roots=projects,
        transcript_path=no_transcript,
    ),
    match=match,
    tools={**tool_rows(HOST), "edit_file": ToolRow("Write", EDIT, also=("Edit",))},  # its name for every edit
    variables={"CURSOR_PROJECT_DIR": "{project}", "CLAUDE_PROJECT_DIR": "{project}"},
    identity=each_by_itself,
    failing=Failing(gates_only=("output",), strict=("failClosed", False, True)),
    misplaced=misplaced(("{project}/.cursor/hooks/hooks.json", ".cursor/hooks.json")),
    differences=differences(
        "2026.09.26",
        "cursor.com/docs/hooks",
        "2026-11-16",
        ("CU-2", "`prompt` handlers are reported and not run; team and enterprise files are not read."),
        ("CU-4", "A user's hooks start in the project's folder, not in `~/.cursor`."),
        ("CU-6", "`ask` counts before every tool; the product asks about shell and MCP calls only."),
    ),
    mcp_tools="MCP:{tool}",
)


CHANGES = (
    until(
        "2026.01.16", "runs no hooks on the command line", "phnx-labs/agi-cli, apps/cli/src/lib/agents.ts", "2026-01-16"
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
