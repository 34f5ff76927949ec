"""deepagents-code, by LangChain: Claude's payloads in its own file, tool names included, and Claude's answers without
rewrites. Measured with 0.1.88.

As a dialect: Claude's table, but with commands only, its own file, and no rewrites."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE as CLAUDE_BASE
from anyhook.agents._claude_family import TOOL, TOOLS, event, grouped
from anyhook.agents._family import BASE, MODE, HookFile, Layout, aliased, claude_reply, family
from anyhook.tables.vocabulary import *

VERSION = "0.1.88"

CONFIG = """
[models]
default = "openai:{model}"

[models.providers.openai]
base_url = "{url}/v1"
api_key_env = "OPENAI_API_KEY"
models = ["{model}"]

[models.providers.openai.params]
use_responses_api = false
"""

HOST_EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block context", limit_s=30),
    event("PreToolUse", "block context"),  # `continue: false` was seen to refuse only the call, 2026-11
    event("PermissionRequest", "block allow"),
    event("PostToolUse", "block context", takes=(*TOOL, Taken("output", ("tool_response.content", "tool_response")))),
    event("PostToolUseFailure", "block"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop", "context", limit_s=60.0),
    event("PreCompact", "block"),
    event("Stop", "block"),
    event("SessionEnd"),
)

HOST = Host(
    name="deepagents",
    title="deepagents-code",
    events=HOST_EVENTS,
    base=CLAUDE_BASE,
    tools={**TOOLS, "LS": HostTool("list_files")},
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.deepagents/hooks.json"},
        {"config": ("DEEPAGENTS_HOME", "{home}/.deepagents")},
        grouped(),
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    reads={"deepagents": ("user", "project")},
    program="dcode",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="It asks once about a project's hooks.",
    gaps=("asking the user", "rewritten input and output"),
)


def _response(scene: Scene) -> Json:
    return {"content": scene.event.get("output"), "status": "success"}


STOPPING = Field("stop_hook_active", not_in_a_stop_hook)
EVENTS = event_rows(
    HOST,
    cells={"tool_response": _response},
    extra={
        "Stop": (STOPPING, Field("background_tasks", fixed([])), Field("session_crons", fixed([]))),
        "PermissionRequest": fields(permission_suggestions=fixed([])),
    },
    untold=("PermissionRequest.tool_use_id", "SubagentStart.last_assistant_message"),
    bound=8,
)
READ = claude_reply(EVENTS, speaks_anyway=False)
REPLY = READ.replace(keys=tuple(key for key in READ.keys if key.does not in ("tool_input", "tool_output")))


def _made(hook: Hook) -> Hook:
    """Hooks for a prompt have less time."""
    short = hook.native_event == "UserPromptSubmit" and "timeout" not in hook.definition
    return hook.replace(limit_s=30.0) if short else hook


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/hooks.json"), HookFile("project", "{project}/.deepagents/hooks.json")),
        skipped=("prompt", "http", "agent"),
        limits=Limits(600.0),
        made=_made,
    ),
    EVENTS,
    REPLY,
    base=(*BASE, MODE),
    match=aliased(HOST),
    dense=False,
    variables={"CLAUDE_PROJECT_DIR": "{project}"},
    differences=differences(
        "0.1.88",
        "PyPI deepagents-code 0.1.88; run",
        "2026-11-16",
        ("DA-1", "Plugins are not read, and entries with `argv` instead of `command` are not run."),
        ("DA-6", "Variables with secret names are passed on; the product removes them."),
    ),
)


CHANGES = (
    until(
        "0.1.45",
        "has no hooks of this form before a tool",
        "wheels of deepagents-code 0.1.44 and 0.1.45; rulesync#2156 for the older form",
        "2026-07",
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    usual = Drive(
        ("--no-tracing", "--no-mcp", "-M", "openai:{model}", "-S", "all", "-n", "{prompt}"),
        {
            "DEEPAGENTS_HOME": "{config}",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": "{url}/v1",
            "LANGSMITH_TRACING": "false",
            "DEEPAGENTS_CODE_NO_UPDATE_CHECK": "1",
        },
        writes={"{config}/config.toml": CONFIG},
        tools={
            "shell": ("execute",),
            "read_file": ("read_file",),
            "write_file": ("write_file",),
            "delegate_task": ("task",),
        },
        helper="general-purpose",
        cannot_show={"pre_compact": "a short run compacts nothing"},
    )
    asking = usual.replace(words=tuple("pwd" if word == "all" else word for word in usual.words))
    return usual.replace(scenarios={ASKING: asking})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("Bash")}
    return guarded(".deepagents/hooks.json", "Bash", payload)
