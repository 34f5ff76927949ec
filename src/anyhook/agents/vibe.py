"""Mistral Vibe: `[[hooks]]` in separate files, three events, dotted tool names, and every exit status but 0 is a
failure that lets the tool run. Measured with 3.0.2.

As a dialect: `[[hooks]]` in separate files, wildcards for dotted tool names; every exit status but 0 is a failure,
which refuses if `strict` is set."""

from __future__ import annotations

from anyhook.agents._claude_family import DENY, EDIT, FILE, inside
from anyhook.agents._family import ONE_BY_ONE, HookFile, Layout, family
from anyhook.tables.vocabulary import *

VERSION = "3.0.2"


MODEL = """

[[providers]]
name = "anyhook_live"
api_base = "{url}/v1"
api_key_env_var = "ANYHOOK_LIVE_KEY"

[[models]]
name = "{model}"
provider = "anyhook_live"
alias = "anyhook_live"
temperature = 0.2
input_price = 0.0
output_price = 0.0
thinking = "off"
"""

TOOL = taken(tool="tool_name", input="tool_input", call_id="tool_call_id")
TELL = Say({"system_message": "{message}"})

HOST_EVENTS = (
    HostEvent(
        "pre_tool",
        ("pre_tool",),
        TOOL,
        {"block": DENY, "input": Say({"hook_specific_output": {"tool_input": "{input}"}}), "message": TELL},
        limit_s=600,
    ),
    HostEvent(
        "post_tool",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("tool_output_text", "tool_output")), Taken("duration_ms", ("duration_ms",))),
        {
            "block": DENY,
            "context": Say({"hook_specific_output": {"additional_context": "{context}"}}),
            "message": TELL,
        },
        error=("tool_error",),
        limit_s=600,
    ),
    HostEvent("post_agent", ("stop",), (), {"block": DENY, "message": TELL}, limit_s=600),
)
NAMES = {
    "bash": HostTool("shell"),
    "read_file": HostTool("read_file", FILE),
    "write_file": HostTool("write_file", FILE),
    "edit": HostTool("edit_file", EDIT),
    "search_replace": HostTool("edit_file", EDIT),
    "grep": HostTool("grep"),
}


HOST = Host(
    name="vibe",
    title="Mistral Vibe",
    events=HOST_EVENTS,
    base=(
        Taken("session", ("session_id",)),
        Taken("invoked_by", ("parent_session_id",), inside),
    ),
    tools={**{f"file_system.{name}": tool for name, tool in NAMES.items()}, **NAMES},
    entry=Entry(
        "tables",
        {"user": "{config}/hooks.toml", "project": "{project}/.vibe/hooks.toml"},
        {"config": ("VIBE_HOME", "{home}/.vibe")},
        {"name": "{own}-{event}", "type": "{event}", "command": "{command}", "timeout": "{seconds}"},
        closed={"strict": True},
    ),
    reads={"vibe": ("user", "project")},
    program="vibe",
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    confirm="Project hooks run once the folder is trusted (`--trust`).",
    gaps=("sessions", "prompts", "asking the user"),
)


def _status(scene: Scene) -> Json:
    return "error" if scene.event.get("tool_error") else "success"


def _error(scene: Scene) -> Json:
    return scene.event.get("tool_error") or None


def _parent(scene: Scene) -> Json:
    return scene.event.get("parent_session") or None


EVENTS = event_rows(
    HOST,
    cells={"tool_output_text": output_text},
    extra={
        "post_tool": fields(tool_status=_status, tool_output="output", tool_error=_error),
        "post_agent": fields(agent_name="agent_name"),
    },
)  # fmt: skip
SPECIFIC = "hook_specific_output"
REPLY = Reply(
    read=whole_object,
    json_reasons=("reason",),
    keys=(
        Key(("decision",), "string", "verdict", words=(("deny", "block", ()), ("allow", "none", ()))),
        Key(("reason",), "string", "reason"),
        Key(("system_message",), "string", "messages"),
        Key((SPECIFIC, "tool_input"), "object", "tool_input", on=("pre_tool",)),
        Key((SPECIFIC, "additional_context"), "string", "context", on=("post_tool", "post_tool_failure")),
    ),
)


def match(hook: Hook, event: Event, row: EventRow) -> str | None:
    """Wildcards, or a pattern after `re:`, for the dotted name, its last part, or the name with underscores."""
    matcher = hook.matcher
    if not isinstance(matcher, str) or matcher in MATCH_ALL or row.target != "tool":
        return None
    import fnmatch

    tool = str(event.get("tool")).lower()
    names = (tool, tool.rpartition(".")[2], tool.replace(".", "_"))
    if matcher.startswith("re:"):
        try:
            compiled = compile_pattern(f"(?i){matcher[3:]}")
        except BadPattern as error:
            return f"match {matcher!r} is not a valid pattern ({error.what}), so it never matches"
        fits = any(compiled.fullmatch(name) for name in names)
    else:
        fits = any(fnmatch.fnmatchcase(name, matcher.lower()) for name in names)
    return None if fits else f"match {matcher!r} does not match tool {tool!r}"


def _made(hook: Hook) -> Hook:
    name = hook.spec.get("name")
    # A hook without a name, which the product rejects, hides no other.
    return hook.replace(name=name if isinstance(name, str) and name else f"{hook.name} ({hook.scope})")


DIALECT = family(
    HOST,
    Layout(
        (HookFile("user", "{config}/hooks.toml"), HookFile("project", "{project}/.vibe/hooks.toml")),
        style="rows",
        event_key="type",
        matcher_key="match",
        keys=("name", "strict", "description"),
        needs_type=False,
        patterns=False,
        made=_made,
    ),
    EVENTS,
    REPLY,
    base=fields(
        session_id=session,
        transcript_path=no_transcript,
        cwd=project,
        parent_session_id=_parent,
        hook_event_name=native_name,
    ),
    match=match,
    dense=False,
    layering="earlier_name_wins",
    **ONE_BY_ONE,
    failing=Failing(strict=("strict", False, True)),
    differences=differences(
        "3.0.2",
        "PyPI mistral-vibe 3.0.3, vibe/core/hooks; run",
        "2026-11-15",
        ("VB-1", "Plugins, and other agents' hooks in them, are not read."),
        ("VB-7", "A hook without a name is accepted; the product requires one."),
    ),
)


CHANGES = (
    until(
        "2.21",
        "has no hooks before a tool under the names that our entry uses",
        "wheels of mistral-vibe 2.20.0 and 2.21",
        "2026-07",
    ),
)


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, PROVIDER, Drive

    usual = Drive(
        ("-p", "{prompt}", "--auto-approve", "--output", "json"),
        {
            "ANYHOOK_LIVE_KEY": KEY,
            "MISTRAL_API_KEY": KEY,
            "VIBE_HOME": "{config}",
            "VIBE_ACTIVE_MODEL": PROVIDER,
            "VIBE_ENABLE_TELEMETRY": "false",
            "VIBE_ENABLE_UPDATE_CHECKS": "false",
            "VIBE_ENABLE_CONNECTORS": "false",
        },
        carries=("{config}/config.toml", "{config}/trusted_folders.toml"),
        appends={"{config}/config.toml": MODEL},
        in_folder=lambda drive: drive.with_words("--trust"),
        cannot_show={"sub-agents": "its model has no such tool"},
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--auto-approve")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"decision": "deny", "reason": "{REASON}"}}'
    row = 'type = "pre_tool"\nname = "guard"\nmatch = "bash"\ncommand = ".vibe/hooks/guard"\n'
    return Sample(
        event="pre_tool",
        files={
            ".vibe/hooks.toml": f"[[hooks]]\n{row}",
            ".vibe/hooks/guard": f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; fi\n",
        },
        script=f"echo '{deny}'",
        tool="bash",
        calls="pre_tool",
        payload={"session_id": "s", "tool_name": "bash", "tool_input": {"command": COMMAND}},
        stdout={"decision": "deny", "reason": REASON},
    )
