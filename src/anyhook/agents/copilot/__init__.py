"""Copilot CLI, by GitHub: camelCase, decisions at the top, and for a tool call every exit status but 0 is a refusal
without a reason. Measured with 1.0.102."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, NOTE, REASON, TRIGGER
from anyhook.agents._patches import split_patch
from anyhook.agents._results import result_text, unpacked
from anyhook.model.texts import text_of
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch, Say, Sign, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "1.0.102"


def _permission(word: str) -> Say:
    return Say({"permissionDecision": word, "permissionDecisionReason": "{reason}"})


def _result(_response: Json, output: Json) -> Json:
    return text_of(output)


FRESH = "new"
"""Its word for a session that is not resumed; other agents say `startup`, and matchers are written for that."""


def _source(said: Json) -> Json:
    return "startup" if said == FRESH else said


CONTEXT = Say({"additionalContext": "{context}"})
TOOL = (
    Taken("tool", ("toolName", "tool_name")),
    Taken("input", ("toolArgs", "toolInput", "tool_input"), unpacked),
)
AGENT = (Taken("agent_type", ("agentType", "agentName")), Taken("last_message", ("response",)))
STOP = (Taken("stop_reason", ("stopReason", "stop_reason")),)
FILE = {"content": "file_text"}
EDIT = {"old_text": "old_str", "new_text": "new_str"}
BORROWED = {
    "Bash": HostTool("shell"),
    "Read": HostTool("read_file"),
    "Write": HostTool("write_file", FILE),
    "Edit": HostTool("edit_file", EDIT),
    "Glob": HostTool("list_files", {"glob": "pattern"}),
    "Grep": HostTool("grep"),
}
"""Its names for tools in an entry of `.claude/settings.json`; their input stays its own. Measured with 1.0.102."""

EVENTS = (
    HostEvent("sessionStart", ("session_start",), (Taken("source", ("source",), _source),), {"context": CONTEXT}),
    HostEvent(
        "userPromptSubmitted",
        ("user_prompt_submit",),
        (Taken("prompt", ("prompt",)),),
        {"context": CONTEXT, "prompt": Say({"modifiedPrompt": "{prompt}"})},
    ),
    HostEvent(
        "preToolUse",
        ("pre_tool",),
        TOOL,
        {
            "block": _permission("deny"),
            "ask": _permission("ask"),
            "allow": _permission("allow"),
            "input": Say({"modifiedArgs": "{input}"}),
        },
        limit_s=600,
    ),
    HostEvent(
        "permissionRequest",
        ("permission_request",),
        TOOL,
        {"block": Say({"behavior": "deny", "message": "{reason}"}), "allow": Say({"behavior": "allow"})},
        limit_s=600,
    ),
    HostEvent(
        "postToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("toolResult", "tool_result.text_result_for_llm"), result_text)),
        {
            "context": CONTEXT,
            "output": Say({"modifiedResult": {"textResultForLlm": "{output}", "resultType": "success"}}),
        },
        limit_s=600,
    ),
    HostEvent(
        "postToolUseFailure",
        ("post_tool_failure",),
        (*TOOL, Taken("tool_error", ("error.message", "error")), Taken("output", ("error.message", "error"))),
        {"context": CONTEXT},
        limit_s=600,
    ),
    HostEvent("notification", ("notification",), NOTE, {"context": CONTEXT}),
    HostEvent("subagentStart", ("subagent_start",), AGENT, {"context": CONTEXT}),
    HostEvent("subagentStop", ("subagent_stop",), AGENT, {"block": BLOCK}, limit_s=600),
    HostEvent("preCompact", ("pre_compact",), TRIGGER),
    HostEvent("agentStop", ("stop",), STOP, {"block": BLOCK}, limit_s=600),
    HostEvent("sessionEnd", ("session_end",), REASON),
)

LAYERS = (
    "{config}/settings.json",
    "{config}/config.json",
    "{config}/hooks/anyhook.json",
    "{project}/.github/hooks/anyhook.json",
    "{project}/.github/copilot/settings.json",
    "{project}/.github/copilot/settings.local.json",
    "{project}/.claude/settings.json",
    "{project}/.claude/settings.local.json",
)
"""Every file that can turn its hooks off."""

HOST = Host(
    name="copilot",
    title="Copilot CLI",
    events=EVENTS,
    base=(Taken("session", ("sessionId", "session_id")),),
    tools={
        "bash": HostTool("shell"),
        "powershell": HostTool("shell"),
        "view": HostTool("read_file"),
        "create": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
        "str_replace_editor": HostTool("edit_file", EDIT),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep": HostTool("grep"),
        "rg": HostTool("grep"),
        "task": HostTool("delegate_task", {"agent_name": "agent_type", "task": "prompt"}),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "list",
        {"user": "{config}/hooks/anyhook.json", "project": "{project}/.github/hooks/anyhook.json"},
        {"config": ("COPILOT_HOME", "{home}/.copilot")},
        {"type": "command", "bash": "{command}", "timeoutSec": "{seconds}"},
        top={"version": 1},
        owned=True,
    ),
    project_variables=("COPILOT_PROJECT_DIR",),
    reads={"claude": ("project",), "copilot": ("user", "project")},  # it obeys Claude's nested refusal, 2026-11
    misreads=("claude",),  # the input of its tools has other fields: a gate that reads `file_path` finds none, 2026-11
    program="copilot",
    marks=("COPILOT_CLI",),
    without_us="refuses",  # exit 127 was seen to stop the call, like any status but 0, 2026-11
    settings=LAYERS,
    managed=("{etc}/github-copilot/policy.d/*.json",),
    switches=(OffSwitch(("disableAllHooks",)),),
    confirm="Project hooks run once the folder is trusted.",
    gaps=("refusing a prompt", "MCP calls of the cloud agent"),
    max_context=10_000,
    borrowed=BORROWED,
    lent=(("hook_event_name", "sessionId"), ("hookEventName", "toolName")),
    signs=(Sign(("timestamp", "hook_event_name", "cwd"), ("sessionId", "hookEventName")),),
    result=_result,
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "does not read hooks from its user's folder",
            "changelog.md of Copilot CLI, 0.0.422",
            "2026-03-05",
            before="0.0.422",
        ),
    )


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    usual = Drive(
        ("-p", "{prompt}", "--allow-all-tools", "--no-auto-update"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "{model}",
            "COPILOT_HOME": "{config}",
            "COPILOT_AUTO_UPDATE": "false",
        },
        carries=("{config}/settings.json", "{config}/config.json"),
        in_folder=lambda drive: drive.with_words("--trust-folder"),
        helper="general-purpose",
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--allow-all-tools")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, guarded

    path, guard = ".github/hooks/hooks.json", ".github/hooks/scripts/guard"
    entry: Json = {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": guard}]}}
    payload: dict[str, Json] = {"sessionId": "s", "toolName": "bash", "toolArgs": {"command": COMMAND}}
    told = {"permissionDecision": "deny", "permissionDecisionReason": REASON}
    return guarded(path, "bash", payload, entry=entry, guard=guard, event="preToolUse", stdout=told)
