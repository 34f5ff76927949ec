"""Mistral Vibe: `[[hooks]]` in separate files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

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
        folder_words=("--trust",),
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
