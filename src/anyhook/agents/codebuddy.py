"""CodeBuddy Code, by Tencent: Claude's payloads and answers with its own files; a timeout refuses, and hooks after a
tool do not get its output. Measured with 2.163.0.

As a dialect: Claude's table, except for its own files, a limit of sixty seconds, and that a timeout refuses."""

from __future__ import annotations

from anyhook.agents._claude_family import AGENT, TOOL, TOOLS, event, grouped
from anyhook.agents._claude_family import BASE as CLAUDE_BASE
from anyhook.agents._family import BASE, MODE, HookFile, Layout, aliased, claude_reply, family
from anyhook.tables.vocabulary import *

VERSION = "2.163.0"

SUB_AGENT = (*AGENT, Taken("agent_name", ("agent_id",)))
UNSEEN = "no run without a person fired it"
RESULT = taken(output="tool_response", response="tool_response")
HOST_EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context end_turn"),
    event("PreToolUse", "block end_turn input"),
    event("PermissionRequest", "block allow", why_not=UNSEEN),
    event("PostToolUse", "context output", takes=(*TOOL, *RESULT)),
    event("PostToolUseFailure", why_not=UNSEEN),
    event("Notification"),
    event("SubagentStart", takes=SUB_AGENT),
    event("SubagentStop", takes=SUB_AGENT, why_not="a block does not send it back"),
    event("PreCompact"),
    event("Stop", "block"),
    event("SessionEnd", why_not="not fired by `codebuddy -p`"),
)

HOST = Host(
    name="codebuddy",
    title="CodeBuddy Code",
    events=HOST_EVENTS,
    base=CLAUDE_BASE,
    tools=TOOLS,
    entry=Entry(
        "groups",
        {"user": "{home}/.codebuddy/settings.json", "project": "{project}/.codebuddy/settings.json"},
        handler=grouped(),
    ),
    project_variables=("CODEBUDDY_PROJECT_DIR",),
    reads={"codebuddy": ("user", "project")},
    program="codebuddy",
    settings=(
        "{home}/.codebuddy/settings.json",
        "{project}/.codebuddy/settings.json",
        "{project}/.codebuddy/settings.local.json",
    ),
    switches=(OffSwitch(("disableAllHooks",)),),
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="Interactive sessions run a project's hooks once it is trusted; `/hooks` shows them.",
    gaps=("a tool's output, which hooks are not given", "context before a tool", "asking the user"),
)


CALL = fields(call_id="call_id")
STOPPING = fields(stop_hook_active=not_in_a_stop_hook, background_tasks=fixed([]), session_crons=fixed([]))
EVENTS = event_rows(
    HOST,
    extra={
        "PreToolUse": CALL,
        "PostToolUse": CALL,
        "PostToolUseFailure": CALL,
        "Stop": STOPPING,
        "SubagentStop": STOPPING,
        "PreCompact": fields(custom_instructions=fixed(None)),
    },
    untold=("SubagentStart.last_assistant_message",),
    bound=8,
)


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{home}/.codebuddy/settings.json"),
            HookFile("project", "{project}/.codebuddy/settings.json"),
            HookFile("project", "{project}/.codebuddy/settings.local.json", "local"),
        ),
        keys=("statusMessage", "async", "once", "if"),
        skipped=("prompt", "http", "agent", "mcp_tool"),
        off=(("disableAllHooks",), True),
    ),
    EVENTS,
    claude_reply(EVENTS),
    base=(*BASE, MODE, Field("model", "model")),
    match=aliased(HOST),
    variables={
        "CODEBUDDY_PROJECT_DIR": "{project}",
        "CLAUDE_PROJECT_DIR": "{project}",
        "CODEBUDDY_SESSION_ID": "{session}",
        "CLAUDE_SESSION_ID": "{session}",
    },
    failing=Failing(gates_only=("timed_out",)),
    differences=differences(
        "2.163.0",
        "PyPI codebuddy-agent-sdk 0.3.274; run",
        "2026-11-16",
        ("CB-1", "Plugins and managed files are not read."),
        ("CB-2", "Handlers that are not commands are reported and not run; `if`, `once` and `async` have no effect."),
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, PROVIDER, Drive

    model: Json = {
        "id": "{model}", "name": "{model}", "vendor": PROVIDER, "apiKey": KEY, "url": "{url}/v1/chat/completions",
        "maxInputTokens": 200000, "maxOutputTokens": 8000, "supportsToolCall": True,
    }  # fmt: skip
    usual = Drive(
        ("-p", "--model", "{model}", "--output-format", "text", "-y", "{prompt}"),
        {
            "CODEBUDDY_API_KEY": KEY,
            "CODEBUDDY_BASE_URL": "{url}",
            "DISABLE_TELEMETRY": "1",
            "CODEBUDDY_CODE_ENABLE_TELEMETRY": "0",
            "DISABLE_AUTOUPDATER": "1",
            "CODEBUDDY_SKIP_BUILTIN_MARKETPLACE": "1",
        },
        writes={"{home}/.codebuddy/models.json": {"models": [model], "availableModels": ["{model}"]}},
        helper="general-purpose",
        cannot_show={
            "permission_request": "`codebuddy -p` refuses without asking",
            "post_tool_failure": "a failed command and a missing file fire PostToolUse",
            "session_end": "`codebuddy -p` does not fire it",
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("-y")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("Bash"), "client": "CLI"}
    return guarded(".codebuddy/settings.json", "Bash", payload)
