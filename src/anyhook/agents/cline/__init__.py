"""Cline, the command line and the editor extension: one executable per event."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "3.0.65"


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
