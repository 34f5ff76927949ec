"""Reasonix: flat entries in its settings, and payloads with its own keys. Exit status 2 refuses a tool or a prompt, and
so does a timeout. Output is read only at the start of a session. After a tool, the user sees the text of a refusal.
Measured with 1.38.11.

As a dialect: flat entries with `match` and limits in milliseconds; exit status 2 refuses before something happens,
and so does a timeout."""

from __future__ import annotations

from anyhook.agents._claude_family import BY_EXIT_2, TRIGGER, event
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, family
from anyhook.tables.vocabulary import *

VERSION = "1.38.11"

CONFIG = """
default_model = "anyhook_live/{model}"

[[providers]]
name = "anyhook_live"
kind = "openai"
base_url = "{url}/v1"
models = ["{model}"]
default = "{model}"
api_key_env = "ANYHOOK_LIVE_KEY"
"""

TOOL = taken(tool="toolName", input="toolArgs")


def _succeeded(payload: dict[str, Json]) -> bool:
    return not payload.get("error")


SHOWN = {"message": Say(stderr="{message}", status=2)}
"""After a tool, this status refuses nothing: the user sees stderr, and the model does not."""
ALONE = "no run without a person fired it"

HOST_EVENTS = (
    event("SessionStart", "context"),
    event("UserPromptSubmit", "block", BY_EXIT_2),
    event("PreToolUse", "block", BY_EXIT_2, takes=TOOL),
    event(
        "PostToolUse", "message", SHOWN, takes=(*TOOL, Taken("output", ("toolResult",))),
        when=_succeeded, why_not="it also comes after a failed call, after PostToolUseFailure"
    ),
    event(
        "PostToolUseFailure", "message", SHOWN,
        takes=(*TOOL, Taken("output", ("toolResult",)), Taken("tool_error", ("error",)))
    ),
    event("Stop", takes=taken(last_message="lastAssistantText")),
    event("SessionEnd"),
    HostEvent("PermissionRequest", ("permission_request",), TOOL, installed=False, why_not=ALONE),
    HostEvent("SubagentStart", ("subagent_start",), installed=False, why_not=ALONE),
    HostEvent("SubagentStop", ("subagent_stop",), installed=False, why_not=ALONE),
    HostEvent("PreCompact", ("pre_compact",), TRIGGER, installed=False, why_not=ALONE),
    HostEvent("PostCompact", ("post_compact",), TRIGGER, installed=False, why_not=ALONE),
    HostEvent("Notification", ("notification",), installed=False, why_not=ALONE),
    *left_out("no canonical event", "StopFailure"),
    *left_out("it fires for every request to the model", "PostLLMCall"),
)  # fmt: skip

HOST = Host(
    name="reasonix",
    title="Reasonix",
    events=HOST_EVENTS,
    base=taken(session="sessionId"),
    tools={
        "bash": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "write_file": HostTool("write_file"),
        "edit_file": HostTool("edit_file", {"old_text": "old_string", "new_text": "new_string"}),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep": HostTool("grep"),
    },
    entry=Entry(
        "list",
        {"user": "{config}/settings.json", "project": "{project}/.reasonix/settings.json"},
        {"config": ("REASONIX_HOME", "{home}/.reasonix")},
        {"command": "{command}", "timeout": "{milliseconds}"},
    ),
    reads={"reasonix": ("user", "project")},
    program="reasonix",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads its settings when it starts.",
    confirms=(),
    gaps=("context, except at the start", "keeping a turn going", "asking the user", "rewritten input and output"),
)


def _shown(run: Run) -> Run:
    """After a tool, exit status 2 does not refuse: it shows stderr to the user."""
    return run.replace(stdout=run.stderr if run.exit_code == 2 else b"")


def _text(stdout: bytes) -> Printed:
    text = stdout.decode("utf-8", "replace").strip()
    return ("text", text) if text else ("nothing", None)


REPLY = Reply(
    read=object_or_nothing,
    exits={0: "pass", 2: "block"},
    keys=(Key(("hookSpecificOutput", "additionalContext"), "string", "context", on=("session_start",)),),
)
AFTER = Reply(read=_text, keys=(), exits={0: "pass", 2: "pass"}, text_does="messages", streams=_shown)
TURN = fields(turn=fixed(1))
EVENTS = event_rows(HOST, extra={"UserPromptSubmit": TURN, "Stop": TURN})

DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/settings.json"), HookFile("project", "{project}/.reasonix/settings.json")),
        style="list",
        matcher_key="match",
        keys=("name", "description"),
        needs_type=False,
        limits=Limits(60.0, unit_s=0.001),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY.replace(on_event=dict.fromkeys(("post_tool", "post_tool_failure"), AFTER)),
    base=fields(event=native_name, sessionId=session, cwd=project),
    match=whole_value,
    **ONE_BY_ONE,
    failing=Failing(gates_only=("timed_out",)),
    differences=differences(
        "1.38.11",
        "npm @reasonix/cli-linux-x64 1.38.11; run",
        "2026-11-16",
        ("RX-3", "The product documents no default time limit; 60 s apply."),
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    return Drive(
        ("run", "--permission-mode", "danger-full-access", "--model", "anyhook_live/{model}", "{prompt}"),
        {"ANYHOOK_LIVE_KEY": KEY, "REASONIX_HOME": "{config}"},
        writes={"{config}/config.toml": CONFIG},
        cannot_show={"pre_tool allow": "it asks nothing in this mode", "sub-agents": "its model has no such tool"},
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, COMMAND, entered, guarded

    entry = entered("PreToolUse", ".reasonix/hooks/guard", match="bash")
    payload: dict[str, Json] = {
        "event": "PreToolUse", "sessionId": "s", "cwd": "/p", "toolName": "bash", "toolArgs": {"command": COMMAND},
    }  # fmt: skip
    return guarded(".reasonix/settings.json", "bash", payload, entry=entry, **BY_STATUS)
