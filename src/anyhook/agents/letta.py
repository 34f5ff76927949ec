"""Letta Code: groups in its settings, limits in milliseconds. Only exit status 2 refuses; a rewrite and, after a tool,
context go to stdout. Measured with 0.34.12, which fires four events without a person; the others are from its
source.

As a dialect: Claude's groups in three settings files, limits in milliseconds; exit status 2 refuses; output can
rewrite or add, but not refuse."""

from __future__ import annotations

from anyhook.agents._claude_family import (
    BY_EXIT_2,
    EDIT,
    FILE,
    TASK,
    event,
    grouped,
)
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, family
from anyhook.tables.vocabulary import *

VERSION = "0.34.12"
UNFIRED = (
    "session_start", "user_prompt_submit", "permission_request", "notification", "pre_compact", "stop", "session_end",
)  # fmt: skip


def _source(is_new: Json) -> Json:
    return is_new if isinstance(is_new, str) else "startup" if is_new else "resume"


def _succeeded(payload: dict[str, Json]) -> bool:
    result = payload.get("tool_result")
    return not isinstance(result, dict) or result.get("status") != "error"


TOOL = taken(tool="tool_name", input="tool_input", call_id="tool_call_id")
ERROR = taken(tool_error="error_message", output="error_message")
AGENT = taken(agent_type="subagent_type", agent_name="subagent_id")
UNSEEN = "`letta -p` does not fire it"

HOST_EVENTS = (
    event("SessionStart", takes=(Taken("source", ("is_new_session",), _source),), why_not=UNSEEN),
    event("UserPromptSubmit", "block", BY_EXIT_2, why_not=UNSEEN),
    event("PreToolUse", "block input", BY_EXIT_2, takes=TOOL),
    event("PermissionRequest", "block", BY_EXIT_2, takes=TOOL, why_not=UNSEEN),
    event(
        "PostToolUse",
        "block context",
        BY_EXIT_2,
        takes=(*TOOL, Taken("output", ("tool_result.output", "tool_result"))),
        when=_succeeded,
        why_not="it also comes after a failed call, before PostToolUseFailure",
    ),
    event("PostToolUseFailure", "block context", BY_EXIT_2, takes=(*TOOL, *ERROR)),
    event("Notification", why_not=UNSEEN),
    event("SubagentStop", takes=AGENT, why_not="a refusal does not send it back"),
    event("PreCompact", why_not=UNSEEN),
    event("Stop", "block", BY_EXIT_2, takes=taken(last_message="assistant_message"), why_not=UNSEEN),
    event("SessionEnd", takes=(), fixed={"reason": "other"}, why_not=UNSEEN),
)

HOST = Host(
    name="letta",
    title="Letta Code",
    events=HOST_EVENTS,
    base=taken(session=("agent_id", "conversation_id")),  # tools come only with the first
    tools={
        "Bash": HostTool("shell"),
        "Read": HostTool("read_file", FILE),
        "Write": HostTool("write_file", FILE),
        "Edit": HostTool("edit_file", EDIT),
        "Glob": HostTool("list_files", {"glob": "pattern"}),
        "Grep": HostTool("grep"),
        "Task": HostTool("delegate_task", TASK),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.letta/settings.json", "project": "{project}/.letta/settings.json"},
        handler=grouped("{milliseconds}"),
        group={"matcher": "*"},
        names_tools=True,
    ),
    project=("working_directory",),
    project_variables=("LETTA_WORKING_DIR",),
    reads={"letta": ("user", "project")},
    program="letta",
    settings=(
        "{home}/.letta/settings.json",
        "{project}/.letta/settings.json",
        "{project}/.letta/settings.local.json",
    ),
    switches=(OffSwitch(("hooks", "disabled")),),
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="nothing to confirm. `letta -p` prints what hooks do on its own stdout.",
    confirms=(),
    gaps=("asking the user", "replaced output", "context with a prompt"),
)


def _result(scene: Scene) -> Json:
    return {"status": "success", "output": scene.event.get("output")}


def _is_new(scene: Scene) -> Json:
    return scene.event.get("source") != "resume"


EVENTS = event_rows(
    HOST,
    cells={"tool_result": _result, "is_new_session": _is_new},
    extra={"PostToolUseFailure": fields(error_type=fixed("tool_error"))},
)
AFTER = ("post_tool", "post_tool_failure", "session_start")


DIALECT = family(
    HOST,
    Layout(
        (
            HookFile("project", "{project}/.letta/settings.local.json", "local"),
            HookFile("project", "{project}/.letta/settings.json"),
            HookFile("user", "{home}/.letta/settings.json"),
        ),
        skipped=("prompt",),
        limits=Limits(60.0, unit_s=0.001),
        off=(("hooks", "disabled"), True),
    ),
    EVENTS,
    Reply(
        read=object_or_prose,
        exits={0: "pass", 2: "block"},
        text_on=("session_start", "user_prompt_submit"),
        keys=(
            Key((SPECIFIC, "updatedInput"), "object", "tool_input", on=("pre_tool",)),
            Key(("updatedInput",), "object", "tool_input", on=("pre_tool",)),
            Key((SPECIFIC, "additionalContext"), "string", "context", on=AFTER),
            Key(("additionalContext",), "string", "context", on=AFTER),
        ),
    ),
    base=fields(event_type=native_name, working_directory=project, agent_id=session),
    match=whole_value,
    variables={
        "LETTA_HOOK_EVENT": "{event}",
        "LETTA_WORKING_DIR": "{project}",
        "LETTA_AGENT_ID": "{session}",
        "AGENT_ID": "{session}",
    },
    together=False,
    **ONE_BY_ONE,
    differences=differences(
        "0.34.12",
        "PyPI letta 0.34.12; run",
        "2026-11-16",
        ("LE-2", "`prompt` handlers are reported and not run."),
        ("LE-6", "If several hooks rewrite, the last one wins; in the product, the first."),
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    kind, then = "openai-compatible", "2026-01-01T00:00:00.000Z"
    provider: Json = {
        "id": f"local-provider-{kind}", "name": kind, "provider_type": kind, "provider_category": "byok",
        "auth": {"type": "api", "key": KEY}, "base_url": "{url}/v1", "created_at": then, "updated_at": then,
    }  # fmt: skip
    usual = Drive(
        ("-p", "{prompt}", "--backend", "local", "--new-agent", "-m", f"{kind}/{{model}}", "--yolo"),
        {
            "LETTA_CODE_TELEM": "0",
            "DISABLE_AUTOUPDATER": "1",
            "LETTA_TELEMETRY_DISABLED": "1",
            "LETTA_BACKEND": "local",
        },
        writes={
            "{home}/.letta/lc-local-backend/providers/auth.json": {"version": 1, "providers": {kind: provider}},
        },
        tools={"delegate_task": ("Agent",)},
        helper="general-purpose",
        cannot_show={
            "pre_tool allow": "`letta -p` asks nobody",
            **dict.fromkeys(UNFIRED, "`letta -p` does not fire it"),
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--yolo")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    payload = {"event_type": "PreToolUse", "working_directory": "/p", "agent_id": "s", **called("Bash")}
    return guarded(".letta/settings.json", "Bash", payload, **BY_STATUS)
