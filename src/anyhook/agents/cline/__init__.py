"""Cline, the command line and the editor extension: one executable per event; exit statuses are ignored, a refusal ends
the whole run, and one call may hold several commands or files. Measured with 3.0.65."""

from __future__ import annotations

from anyhook.agents._patches import (
    rejoin_commands,
    rejoin_editor,
    split_commands,
    split_editor,
    split_files,
    split_patch,
)
from anyhook.agents._results import unpacked
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "3.0.65"


def _parameters(value: Json) -> Json:
    """Every value of this map is a text; some hold JSON."""
    if not isinstance(value, dict):
        return value
    return {
        key: unpacked(item) if isinstance(item, str) and item[:1] in ("[", "{") else item for key, item in value.items()
    }


CANCEL = Say({"cancel": True, "errorMessage": "{reason}"})
CONTEXT = Say({"contextModification": "{context}"})
TOOL = (
    Taken("tool", ("tool_call.name", "tool_result.name", "preToolUse.toolName", "postToolUse.toolName")),
    Taken(
        "input",
        ("tool_call.input", "tool_result.input", "preToolUse.parameters", "postToolUse.parameters"),
        _parameters,
    ),
    Taken("call_id", ("tool_call.id", "tool_result.id")),
)
DETACHED = "the agent does not wait for it"

EVENTS = (
    HostEvent("TaskStart", ("session_start",), fixed={"source": "startup"}, why_not=DETACHED),
    HostEvent("TaskResume", ("session_start",), fixed={"source": "resume"}, why_not=DETACHED),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        (Taken("prompt", ("userPromptSubmit.prompt", "prompt_submit.prompt", "prompt")),),
        why_not=DETACHED,
    ),
    HostEvent(
        "PreToolUse",
        ("pre_tool",),
        TOOL,
        {"block": CANCEL, "end_turn": CANCEL, "input": Say({"overrideInput": "{input}"}), "context": CONTEXT},
        limit_s=120,
    ),
    HostEvent(
        "PostToolUse",
        ("post_tool", "post_tool_failure"),
        (
            *TOOL,
            Taken("output", ("postToolUse.result", "tool_result.output")),
            Taken("duration_ms", ("tool_result.durationMs", "postToolUse.executionTimeMs")),
        ),
        {"end_turn": CANCEL, "context": CONTEXT},
        error=("tool_result.error",),
        limit_s=120,
    ),
    HostEvent("TaskComplete", ("stop",), (Taken("last_message", ("turn.outputText",)),), why_not=DETACHED),
    HostEvent("SessionShutdown", ("session_end",), fixed={"reason": "other"}, why_not=DETACHED),
    *left_out("no canonical event", "TaskCancel", "TaskError"),
)

HOST = Host(
    name="cline",
    title="Cline CLI",
    events=EVENTS,
    base=(Taken("session", ("taskId",)),),
    tools={
        "run_commands": HostTool("shell", split=split_commands, rejoin=rejoin_commands),
        "execute_command": HostTool("shell"),
        "read_files": HostTool("read_file", split=split_files),
        "read_file": HostTool("read_file"),
        "write_to_file": HostTool("write_file"),
        "editor": HostTool("edit_file", split=split_editor, rejoin=rejoin_editor),
        "replace_in_file": HostTool("edit_file", {"new_text": "diff"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "search_codebase": HostTool("grep"),
        "web_fetch": HostTool("web_fetch"),
        "fetch_web_content": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
    },
    entry=Entry(
        "scripts",
        {"user": "{config}/hooks", "project": "{project}/.cline/hooks"},
        {"config": ("CLINE_DIR", "{home}/.cline")},
        owned=True,
    ),
    project=("workspaceRoots.0", "workspaceInfo.rootPath", "cwd"),
    reads={"cline": ("user", "project")},
    program="cline",
    marks=("CLINE_ACTIVE",),
    confirms=(),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    off_words=("--yolo",),
    # The runtime that it is built with reads these in the folder where it starts; seen with 3.0.65, 2026-11.
    variable_files=("{project}/.env", "{project}/.env.local", "{project}/.env.development"),
    moving_variables=("CLINE_DIR",),
    confirm="nothing to confirm, but it runs no hooks with `--yolo`.",
    gaps=("a reason for the model: a refusal ends the run", "runs with --yolo"),
    max_context=50_000,
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    provider = "openai-compatible"
    settings: Json = {"provider": provider, "apiKey": KEY, "model": "{model}", "baseUrl": "{url}/v1"}
    known: Json = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    words = ("--json", "-P", provider, "-m", "{model}", "-k", KEY, "--auto-approve", "true", "-t", "60", "{prompt}")
    usual = Drive(
        words,
        {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"},
        writes={
            "{config}/data/settings/providers.json": {
                "version": 1,
                "lastUsedProvider": provider,
                "providers": {provider: known},
            }
        },
        tools={"write_file": ("editor",), "delegate_task": ("spawn_agent",)},
        cannot_show={
            "user_prompt_submit": "`cline` with a prompt does not fire it",
            "post_tool_failure": "a tool's failure is an ordinary result; seen only for calls that nobody approved",
            "session_end": "it starts this hook as it exits itself, so the hook is rarely seen to run",
        },
    )
    asked = tuple("false" if word == "true" else word for word in words)
    return usual.replace(scenarios={ASKING: usual.replace(words=asked)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"cancel": true, "errorMessage": "{REASON}"}}'
    return Sample(
        event="PreToolUse",
        files={".cline/hooks/PreToolUse": f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; fi\n"},
        script=f"echo '{deny}'",
        tool="execute_command",
        calls="PreToolUse",
        payload={"taskId": "s", "tool_call": {"name": "run_commands", "input": {"commands": [COMMAND]}}},
        stdout={"cancel": True, "errorMessage": f"{COMMAND}: {REASON}"},
    )
