"""Code Puppy: Claude's groups in its own file, with the meanings of exit statuses 1 and 2 swapped. A refusal goes to
stdout, since exit status 2 lets a tool run there; it calls the end of a turn the stop of a sub-agent. Measured with
0.0.946."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, FILE, context, grouped
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Taken, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "0.0.946"

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)))

EVENTS = (
    HostEvent(
        "SessionStart", ("session_start",), (), {"context": context("SessionStart")}, fixed={"source": "startup"}
    ),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        (Taken("prompt", ("tool_input.prompt",)),),
        {"context": context("UserPromptSubmit")},
    ),
    HostEvent("PreToolUse", ("pre_tool",), TOOL, {"block": BLOCK, "context": context("PreToolUse")}, limit_s=600),
    HostEvent(
        "PostToolUse",
        ("post_tool",),
        (*TOOL, Taken("output", ("tool_result",)), Taken("duration_ms", ("tool_duration_ms",))),
        limit_s=600,
    ),
    HostEvent("SubagentStop", ("stop",), limit_s=600, why_not="it also uses this name for the end of a turn"),
    HostEvent("SessionEnd", ("session_end",), fixed={"reason": "other"}),
    *left_out("it is never fired", "Stop", "Notification"),
    HostEvent("PreCompact", installed=False, why_not="no run without a person fired it"),
)

HOST = Host(
    name="codepuppy",
    title="Code Puppy",
    events=EVENTS,
    base=(Taken("session", ("session_id",)), Taken("permission_mode", ("permission_mode",))),
    tools={
        "shell": HostTool("shell"),
        "agent_run_shell_command": HostTool("shell"),
        "read_file": HostTool("read_file", FILE),
        "create_file": HostTool("write_file", FILE),
        "replace_in_file": HostTool("edit_file", FILE),
        "delete_snippet": HostTool("edit_file", {**FILE, "old_text": "snippet"}),
        "list_files": HostTool("list_files", {"path": "directory"}),
        "grep": HostTool("grep", {"pattern": "search_string", "path": "directory"}),
        "invoke_agent": HostTool("delegate_task", {"task": "prompt"}),
    },
    entry=Entry(
        "groups",
        {"user": "{home}/.code_puppy/hooks.json"},
        handler=grouped("{milliseconds}"),
        group={"matcher": "*"},  # it warns about groups without one at every start
    ),
    project_variables=("CLAUDE_PROJECT_DIR",),
    reads={"codepuppy": ("user",)},
    program="code-puppy",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="nothing to confirm: it reads its file when it starts.",
    confirms=(),
    gaps=("refusing a prompt", "keeping a turn going", "everything after a tool", "asking the user", "rewritten input"),
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "", "has no hooks before a tool", "wheels of code-puppy 0.0.420 and 0.0.421", "2026-11-19", before="0.0.421"
        ),
    )


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    settings = "[puppy]\npuppy_name = it\nowner_name = it\nmodel = {model}\nyolo_mode = true\nauto_update = false\n"
    endpoint: Json = {"url": "{url}/v1", "api_key": KEY}
    model: Json = {"type": "custom_openai", "name": "{model}", "custom_endpoint": endpoint, "context_length": 200000}
    folders = ("{home}/.code_puppy", "{home}/.config/code_puppy", "{home}/.local/share/code_puppy")
    return Drive(
        ("-m", "{model}", "--yolo", "true", "-p", "{prompt}"),
        {"NO_VERSION_UPDATE": "1", "CODE_PUPPY_NO_TUI": "1"},
        writes={
            **{f"{folder}/extra_models.json": {"{model}": model} for folder in folders},
            **{f"{folder}/puppy.cfg": settings for folder in folders},
        },
        helper="code-puppy",
        cannot_show={"pre_tool allow": "`--yolo` asks nothing"},
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample, grouped

    refuse = f"echo '{REASON}' >&2; exit 1"
    return Sample(
        event="PreToolUse",
        scope="user",
        files={
            ".code_puppy/hooks.json": grouped("PreToolUse", "shell", "~/.code_puppy/scripts/guard"),
            ".code_puppy/scripts/guard": f"#!/bin/sh\nif grep -q '{COMMAND}'; then {refuse}; fi\n",
        },
        script=refuse,
        tool="shell",
        calls="PreToolUse",
        payload={
            "session_id": "codepuppy-session", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "shell",
            "tool_input": {"command": COMMAND, "cwd": None, "timeout": 60, "background": False},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
