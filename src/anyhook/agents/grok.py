"""Grok Build, by xAI: Claude's groups in a folder of files; payloads that hold every field in two spellings. A refusal
is at the top of the answer, a rewrite nested; a stop counts only if the turn has really ended. Measured with 1.0.41.

As a dialect: Claude's groups and answers; a hook can refuse a prompt but not add to it, and has five seconds."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    DENY,
    EDIT,
    ERROR,
    EXIT_2,
    FILE,
    TASK,
    event,
    grouped,
)
from anyhook.agents._family import MODE, HookFile, Layout, aliased, claude_reply, family, misplaced
from anyhook.tables.vocabulary import *

VERSION = "1.0.41"

CONFIG = """
[models]
default = "{model}"

[model.{model}]
model = "{model}"
base_url = "{url}/v1"
name = "{model}"
api_key = "sk-not-a-real-key"
api_backend = "chat_completions"
context_window = 200000
"""


def _output(response: Json) -> Json:
    """The text that a tool returned to the model."""
    if isinstance(response, dict):
        return next(
            (response[key] for key in ("output_for_prompt", "tool_output_for_prompt") if key in response), response
        )
    return response


def _is_the_end(payload: dict[str, Json]) -> bool:
    """Whether the turn has ended; a second stop, with another reason, comes when the program exits."""
    return payload.get("reason") in ("end_turn", None)


TOOL = taken(tool=("tool_name", "toolName"), input=("tool_input", "toolInput"), call_id=("tool_use_id", "toolUseId"))
AGENT = taken(agent_type="subagentType", agent_name="subagentId")
LAST = taken(last_message="lastAssistantMessage")
ALONE = "no canonical event"

HOST_EVENTS = (
    event("SessionStart", takes=(Taken("source", ("source",), read_new),)),
    event("UserPromptSubmit", "block", {"block": EXIT_2}),
    event("PreToolUse", "block input context", {"block": DENY}, takes=TOOL),
    event(
        "PostToolUse",
        "block context",
        takes=(
            *TOOL,
            Taken("output", ("tool_response", "toolResult"), _output),
            Taken("exit_code", ("tool_response.exit_code", "toolResult.exit_code")),
            Taken("duration_ms", ("durationMs",)),
        ),
    ),
    event("PostToolUseFailure", takes=(*TOOL, *ERROR)),
    event("Notification", takes=taken(message="message", notification_type="notificationType")),
    event("SubagentStart", takes=(*AGENT, Taken("task", ("description",)))),
    event("SubagentStop", "block", takes=(*AGENT, *LAST)),
    event("PreCompact"),
    event("PostCompact"),
    event("Stop", "block", takes=LAST, when=_is_the_end),
    event("SessionEnd"),
    *left_out(ALONE, "PermissionDenied", "StopFailure", "StopCancelled"),
)

LABELS = dict.fromkeys(("run_terminal_command", "spawn_subagent"), ("description",))
HOST = Host(
    name="grok",
    title="Grok Build",
    events=HOST_EVENTS,
    base=taken(session=("session_id", "sessionId"), permission_mode=("permission_mode", "permissionMode")),
    tools={
        "run_terminal_command": HostTool("shell"),
        "read_file": HostTool("read_file", {"path": "target_file"}),
        "write": HostTool("write_file", FILE),
        "search_replace": HostTool("edit_file", EDIT),
        "list_dir": HostTool("list_files"),
        "grep": HostTool("grep"),
        "spawn_subagent": HostTool("delegate_task", TASK),
        "web_fetch": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/hooks/anyhook.json", "project": "{project}/.grok/hooks/anyhook.json"},
        {"config": ("GROK_HOME", "{home}/.grok")},
        grouped(),
        owned=True,
        names_tools=True,
    ),
    project=("workspaceRoot", "cwd"),
    project_variables=("GROK_WORKSPACE_ROOT",),
    reads={"grok": ("user", "project"), "claude": ("user", "project")},
    misreads=("claude",),  # its tools have other names and fields
    program="grok",
    settings=(
        "{config}/disabled-hooks",
        "{config}/managed_config.toml",
        "{config}/requirements.toml",
        "/etc/grok/managed_config.toml",
        "/etc/grok/requirements.toml",
    ),
    switches=(
        OffSwitch((), "/anyhook:"),
        OffSwitch(("allow_managed_hooks_only",)),
        OffSwitch(("allowManagedHooksOnly",)),
    ),
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="A project's hooks run once its folder is trusted (`--trust`); `grok inspect` lists them.",
    gaps=("context at the start of a session or with a prompt", "asking the user", "replaced output"),
    signs=(Sign(("hookEventName", "workspaceRoot")),),
)


def _folder(scene: Scene) -> Json:
    return f"{scene.project}/"


CALL = fields(toolName="tool", toolInput="input", toolUseId="call_id", toolInputTruncated=fixed(False))
STOPPING = Field("stopHookActive", not_in_a_stop_hook)
EVENTS = event_rows(
    HOST,
    cells={"source": said_new},
    extra={
        "PreToolUse": CALL,
        "PostToolUse": (*CALL, Field("toolResult", "output"), Field("toolResultTruncated", fixed(False))),
        "PostToolUseFailure": CALL,
        "Stop": (STOPPING, Field("reason", lambda scene: "end_turn")),
        "SubagentStop": (STOPPING, Field("phase", lambda scene: "gate")),
    },
    bound=8,
)
REFUSALS: Words = (("deny", "block", ()), ("block", "block", ()), ("allow", "none", ()), ("approve", "none", ()))
READ = claude_reply(EVENTS, read=object_or_nothing, text_on=(), also=("suppressOutput",))
REPLY = READ.replace(
    exit_reasons=("stderr",),
    keys=(
        Key(("decision",), "string", "verdict", words=REFUSALS),
        *(
            key.replace(on=tuple(event for event in key.on if event not in ("session_start", "user_prompt_submit")))
            for key in READ.keys
            if key.path != ("decision",)
        ),
    ),
)


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("user", "{config}/hooks/"),
            HookFile("user", "{config}/config.toml", "config"),
            HookFile("project", "{project}/.grok/hooks/"),
        ),
        skipped=("http",),
        limits=Limits(5.0),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY,
    base=(
        Field("hookEventName", event_in_snake_case), Field("sessionId", session), Field("cwd", project),
        Field("workspaceRoot", _folder), Field("timestamp", now), Field("transcriptPath", no_transcript),
        Field("permissionMode", "permission_mode"), Field("hook_event_name", native_name),
        Field("session_id", session), Field("transcript_path", no_transcript), MODE,
    ),
    match=aliased(HOST),
    variables={
        "GROK_HOOK_EVENT": "{snake}", "GROK_SESSION_ID": "{session}", "GROK_WORKSPACE_ROOT": "{project}/",
        "CLAUDE_PROJECT_DIR": "{project}/",
    },
    at_once=None,
    together=False,
    misplaced=misplaced(("{project}/.grok/hooks.json", ".grok/hooks/<name>.json")),
    differences=differences("1.0.41", "xai-org/grok-build docs/user-guide/10-hooks.md; run", "2026-11-16",
        ("GK-1", "Managed files and plugins are not read."),
        ("GK-2", "`http` handlers are reported and not run."),
        ("GK-9", "A tool's result is the text that the model is given, not the product's own object."),
    ),
    mcp_tools="{server}__{tool}",
)  # fmt: skip


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, Drive

    usual = Drive(
        ("-p", "{prompt}", "-m", "{model}", "--disable-web-search", "--always-approve"),
        {
            "GROK_HOME": "{config}",
            "GROK_TELEMETRY_ENABLED": "false",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_FEEDBACK_ENABLED": "false",
        },
        appends={"{config}/config.toml": CONFIG},
        in_folder=lambda drive: drive.with_words("--trust"),
        helper="general-purpose",
        cannot_show={
            "post_tool_failure": "a failed command and a missing file fire PostToolUse",
            "pre_compact": "a short run compacts nothing",
            "post_compact": "a short run compacts nothing",
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--always-approve")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    tool, guard = "run_terminal_command", ".grok/hooks/scripts/guard"
    payload = {
        "hookEventName": "pre_tool_use", "sessionId": "s", "session_id": "s", "hook_event_name": "PreToolUse",
        **called(tool, description="x"),
    }  # fmt: skip
    return guarded(".grok/hooks/guard.json", tool, payload, guard=guard, stdout=decided("deny"))
