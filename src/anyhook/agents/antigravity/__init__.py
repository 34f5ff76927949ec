"""Antigravity, by Google: `agy` and the editor, which replaced Gemini CLI for individuals. Its table is from the guide
and the descriptors in its SDK's package, and from payloads that others captured."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.sample_rows import Sample

VERSION = "1.2.7"


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    deny = f'{{"decision": "deny", "reason": "{REASON}"}}'
    guard = f"#!/bin/sh\nif grep -q '{COMMAND}'; then echo '{deny}'; else echo '{{\"decision\": \"allow\"}}'; fi\n"
    handler: dict[str, Json] = {"type": "command", "command": "scripts/guard", "timeout": 10}
    call: dict[str, Json] = {
        "name": "run_command",
        "args": {"CommandLine": COMMAND, "Cwd": "/p", "SafeToAutoRun": True},
    }
    return Sample(
        event="PreToolUse",
        files={
            ".agents/hooks.json": {"mine": {"PreToolUse": [{"matcher": "run_command", "hooks": [handler]}]}},
            ".agents/scripts/guard": guard,
        },
        script=f"echo '{deny}'",
        tool="run_command",
        input={"CommandLine": COMMAND},
        calls="PreToolUse",
        payload={"conversationId": "s", "workspacePaths": ["/p"], "toolCall": call, "stepIdx": 3},
        stdout={"decision": "deny", "reason": REASON},
    )
