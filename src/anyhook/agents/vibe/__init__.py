"""Mistral Vibe: `[[hooks]]` in separate files, three events, dotted tool names, and every exit status but 0 is a
failure that lets the tool run. Measured with 3.0.2."""

from __future__ import annotations

from anyhook.agents._claude_family import DENY, EDIT, FILE
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, Say, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

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

TOOL = (Taken("tool", ("tool_name",)), Taken("input", ("tool_input",)), Taken("call_id", ("tool_call_id",)))
TELL = Say({"system_message": "{message}"})

EVENTS = (
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


def _inside(_value: object) -> str:
    return "subagent"


HOST = Host(
    name="vibe",
    title="Mistral Vibe",
    events=EVENTS,
    base=(
        Taken("session", ("session_id",)),
        Taken("parent_session", ("parent_session_id",)),
        Taken("invoked_by", ("parent_session_id",), _inside),
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


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "has no hooks before a tool under the names that our entry uses",
            "wheels of mistral-vibe 2.20.0 and 2.21",
            "2026-07",
            before="2.21",
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
