"""Hermes, by Nous Research: hooks in the user's YAML config, with its own event names, and no shell. It ignores exit
statuses; only the output counts. Measured with 0.19.0.

As a dialect: lists in the user's YAML config; a command is split into words and started without a shell. Its output
decides, and its exit status is ignored."""

from __future__ import annotations

from anyhook.agents._claude_family import BLOCK
from anyhook.agents._family import HookFile, Layout, family
from anyhook.agents._results import unpacked
from anyhook.programs.commands import words_of
from anyhook.tables.vocabulary import *

VERSION = "0.19.0"

MODEL = """
model:
  default: "{model}"
  provider: custom
  base_url: "{url}/v1"
  api_key: sk-not-a-real-key
  context_length: 200000
approvals:
  mode: "off"
"""


def _output(result: Json) -> Json:
    """A tool's output, which may be JSON in a text."""
    found = unpacked(result)
    return found["output"] if isinstance(found, dict) and "output" in found else found


TOOL = taken(tool="tool_name", input="tool_input", call_id="extra.tool_call_id")
AGENT = taken(agent_type=("extra.agent_type", "extra.agent_name"))
REQUEST = "it fires for every request to the model"

HOST_EVENTS = (
    HostEvent("on_session_start", ("session_start",), fixed={"source": "startup"}),
    HostEvent(
        "pre_llm_call",
        ("user_prompt_submit",),
        taken(prompt="extra.user_message"),
        {"context": Say({"context": "{context}"})},
        why_not="a prompt cannot be refused",
    ),
    HostEvent("pre_tool_call", ("pre_tool",), TOOL, {"block": BLOCK}, limit_s=300),
    HostEvent(
        "post_tool_call",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("extra.result",), _output), Taken("duration_ms", ("extra.duration_ms",))),
        error=("extra.error_message",),
        limit_s=300,
    ),
    HostEvent("subagent_start", ("subagent_start",), AGENT),
    HostEvent("subagent_stop", ("subagent_stop",), AGENT),
    HostEvent(
        "pre_verify",
        ("stop",),
        taken(last_message="extra.final_response"),
        {"block": BLOCK},
        limit_s=300,
        why_not="it fires only if files were changed",
    ),
    HostEvent("on_session_finalize", ("session_end",), taken(reason="extra.reason")),
    HostEvent("on_session_end", installed=False, why_not="it fires at the end of every turn"),
    HostEvent("on_session_reset", installed=False, why_not="no canonical event"),
    *left_out(REQUEST, "post_llm_call", "pre_api_request", "post_api_request", "api_request_error"),
    *left_out(
        "only plugins in Python can change an output",
        "transform_terminal_output",
        "transform_tool_result",
        "transform_llm_output",
    ),
    HostEvent("pre_approval_request", installed=False, why_not="its answer is not read"),
    HostEvent("post_approval_response", installed=False, why_not="no canonical event"),
)

HOST = Host(
    name="hermes",
    title="Hermes",
    events=HOST_EVENTS,
    base=taken(session="session_id", model="extra.model"),
    tools={
        "terminal": HostTool("shell"),
        "read_file": HostTool("read_file"),
        "write_file": HostTool("write_file"),
        "patch": HostTool("edit_file", {"old_text": "old_string", "new_text": "new_string"}),
        "search_files": HostTool("grep"),
        "web_extract": HostTool("web_fetch"),
        "web_search": HostTool("web_search"),
        "delegate_task": HostTool("delegate_task", {"task": "goal"}),
    },
    entry=Entry(
        "list",
        {"user": "{config}/config.yaml"},
        {"config": ("HERMES_HOME", "{home}/.hermes")},
        {"command": "{command}", "timeout": "{seconds}"},
    ),
    reads={"hermes": ("user",)},
    program="hermes",
    without_us="open",  # exit 127 and a missing program were seen to be ignored, 2026-11
    confirm="It asks about each new entry at its next start; without a terminal, `--accept-hooks` consents.",
    confirms=("user",),
    shows_stderr=False,  # seen with 0.19.0, 2026-11
    gaps=("refusing a prompt", "context after a tool", "asking the user", "rewritten input and output"),
)


KEYS = {
    "call_id": "tool_call_id", "prompt": "user_message", "last_message": "final_response", "reason": "reason",
    "model": "model", "duration_ms": "duration_ms", "tool_error": "error_message",
}  # fmt: skip
"""Our field → its key under `extra`."""


def _extra(scene: Scene) -> Json:
    made: dict[str, Json] = {key: scene.event.get(field) for field, key in KEYS.items() if scene.event.get(field)}
    if scene.native == "post_tool_call":
        error = scene.event.get("tool_error")
        made["result"] = text_of({"output": scene.event.get("output"), "error": error or None})
        made["status"] = "error" if error else "ok"
    return made


EVENTS = tuple(
    row.replace(
        payload=fields(
            tool_name="tool" if row.target == "tool" else fixed(None),
            tool_input="input" if row.target == "tool" else fixed(None),
            extra=_extra,
        ),
        target=row.target if row.target == "tool" else None,
    )
    for row in event_rows(HOST)
)


def _blocked(draft: Draft, _event: str) -> Draft:
    """Either spelling of a refusal."""
    if draft.get("action") != "block":
        return draft
    return {**draft, "verdict": "block", "reason": draft.get("reason") or draft.get("message")}


WORDS: Words = (("block", "block", ()),)
REPLY = Reply(
    read=object_or_nothing,
    otherwise="pass",
    json_reasons=("reason",),
    keys=(
        Key(("decision",), "string", "verdict", on=("pre_tool", "stop"), words=WORDS),
        Key(("action",), "string", "note", on=("pre_tool", "stop"), words=WORDS),
        Key(("reason",), "string", "reason", on=("pre_tool", "stop")),
        Key(("message",), "string", "note", on=("pre_tool", "stop")),
        Key(("context",), "string", "context", on=("user_prompt_submit",)),
    ),
    finish=_blocked,
)


def _words(hook: Hook, home: str) -> list[str]:
    try:
        words = words_of(str(hook.spec["command"]))
    except ValueError:
        words = str(hook.spec["command"]).split()
    return [f"{home}{word[1:]}" if word.startswith("~/") else word for word in words]


def launch(hook: Hook, scene: Scene) -> Launch:
    env = {**scene.env, "HERMES_SESSION_ID": scene.session, "TERMINAL_CWD": scene.project}
    return Launch(tuple(_words(hook, scene.env.get("HOME", ""))), env, scene.project)


def names(hook: Hook, files: Files, project_dir: str, home: str) -> tuple[str, ...]:
    return named_files(words_read(str(hook.spec["command"])), project_dir, home, {}, files)


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/config.yaml"),),
        style="list",
        keys=("fail_closed",),
        needs_type=False,
        limits=Limits(60.0, max_s=300.0),
        elsewhere=alone(HOST),
    ),
    EVENTS,
    REPLY,
    base=fields(hook_event_name=native_name, session_id=session, cwd=project),
    match=whole_value,
    dense=False,
    launch=launch,
    names=names,
    at_once=None,
    failing=Failing(strict=("fail_closed", False, True)),
    differences=differences(
        "0.19.0",
        "PyPI hermes-agent 0.19.0, agent/shell_hooks.py; run",
        "2026-11-16",
        ("HE-1", "Profiles and plugins in Python are not read."),
        ("HE-5", "Newer versions read exit status 2 and rewrites; version 0.19 and anyhook do not."),
        ("HE-8", "It does not wait for Hermes' own consent: what the user's config declares runs."),
    ),
)


CHANGES = (until("0.11", "has no hooks of our kind", "phnx-labs/agi-cli, apps/cli/src/lib/agents.ts", "2026-08"),)


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("chat", "-Q", "-q", "{prompt}", "--yolo"),
        {"HERMES_HOME": "{config}", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "{url}/v1"},
        appends={"{config}/config.yaml": MODEL},
        trusting=lambda drive: drive.with_words("--accept-hooks"),
        carries=("{config}/shell-hooks-allowlist.json",),
        cannot_show={
            "pre_tool allow": "`--yolo` asks nothing",
            "session_end": "its process may exit before that",
            "stop": "it fires only if its own tools changed files",
        },
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"decision": "block", "reason": "{REASON}"}}'
    return Sample(
        event="pre_tool_call",
        scope="user",
        files={
            ".hermes/config.yaml": "hooks:\n  pre_tool_call:\n    - command: ~/.hermes/scripts/guard\n"
            "      matcher: terminal\n",
            ".hermes/scripts/guard": f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; fi\n",
        },
        script=f"echo '{deny}'",
        tool="terminal",
        calls="pre_tool_call",
        payload={
            "hook_event_name": "pre_tool_call", "session_id": "s", "cwd": "/p", "tool_name": "terminal",
            "tool_input": {"command": COMMAND}, "extra": {},
        },
        stdout={"decision": "block", "reason": REASON},
    )  # fmt: skip
