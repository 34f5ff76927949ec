"""Code Puppy: Claude's groups in its own file, with the meanings of exit statuses 1 and 2 swapped. A refusal goes to
stdout, since exit status 2 lets a tool run there; it calls the end of a turn the stop of a sub-agent. Measured with
0.0.946.

As a dialect: Claude's groups; exit status 1 refuses and 2 does not. A refusal on stdout and a timeout also refuse."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK, FILE, context, grouped
from anyhook.agents._family import MODE, HookFile, Layout, aliased, family
from anyhook.tables.vocabulary import *

VERSION = "0.0.946"

TOOL = taken(tool="tool_name", input="tool_input")

HOST_EVENTS = (
    HostEvent(
        "SessionStart", ("session_start",), (), {"context": context("SessionStart")}, fixed={"source": "startup"}
    ),
    HostEvent(
        "UserPromptSubmit",
        ("user_prompt_submit",),
        taken(prompt="tool_input.prompt"),
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
    events=HOST_EVENTS,
    base=taken(session="session_id", permission_mode="permission_mode"),
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


def _prompt(scene: Scene) -> Json:
    return {"prompt": scene.event.get("prompt")}


def _called(name: str) -> Field:
    return Field("tool_name", lambda _scene: name)


NO_INPUT = Field("tool_input", fixed({}))
PAYLOADS = {
    "SessionStart": (_called("session"), NO_INPUT),
    "UserPromptSubmit": (_called("user_prompt"), Field("tool_input", _prompt)),
    "SubagentStop": (_called("code-puppy"), NO_INPUT),
    "SessionEnd": (_called("session"), NO_INPUT),
}
"""The payloads of events that are not about a tool; they still name one."""
EVENTS = tuple(row.replace(payload=PAYLOADS.get(row.native, row.payload)) for row in event_rows(HOST))
BEFORE = ("session_start", "user_prompt_submit", "pre_tool")


def _refused(draft: Draft, event: str) -> Draft:
    """`result: block` and `continue: false` refuse as well."""
    if event == "pre_tool" and (draft.get("result") == "block" or draft.get("continue") is False):
        return {**draft, "verdict": "block", "reason": draft.get("reason") or draft.get("stopReason")}
    return draft


REPLY = Reply(
    read=object_or_prose,
    exits={0: "pass", 1: "block"},
    text_on=BEFORE,
    json_reasons=("reason", "stderr"),
    keys=(
        Key(("decision",), "string", "verdict", on=("pre_tool",), words=(("block", "block", ()),)),
        Key(("result",), "string", "note", on=("pre_tool",), words=(("block", "block", ()),)),
        Key(("reason",), "string", "reason", on=("pre_tool",)),
        Key(("continue",), "bool", "note"),
        Key(("stopReason",), "string", "note"),
        Key((SPECIFIC, "permissionDecision"), "string", "verdict", on=("pre_tool",),
            words=(("deny", "block", ()), ("allow", "none", ()), ("ask", "none", ()))),
        Key((SPECIFIC, "permissionDecisionReason"), "string", "reason", on=("pre_tool",)),
        Key((SPECIFIC, "additionalContext"), "string", "context", on=BEFORE),
    ),
    finish=_refused,
)  # fmt: skip


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{home}/.code_puppy/hooks.json"),),
        limits=Limits(5.0, unit_s=0.001),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY,
    base=(Field("session_id", session), Field("hook_event_name", native_name), Field("cwd", project), MODE),
    match=aliased(HOST),
    dense=False,
    variables={"CLAUDE_HOOK_EVENT": "{event}", "CLAUDE_PROJECT_DIR": "{project}", "CLAUDE_CODE_HOOK": "1"},
    failing=Failing(gates_only=("timed_out",)),
    differences=differences(
        "0.0.946",
        "PyPI code-puppy 0.0.946; run",
        "2026-11-16",
        ("PU-5", "After a tool, a hook's output has no effect."),
    ),
)


CHANGES = (until("0.0.421", "has no hooks before a tool", "wheels of code-puppy 0.0.420 and 0.0.421", "2026-11-19"),)


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
