"""Reasonix: flat entries in its settings, and payloads with keys of its own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

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


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    return Drive(
        ("run", "--permission-mode", "danger-full-access", "--model", "anyhook_live/{model}", "{prompt}"),
        {"ANYHOOK_LIVE_KEY": KEY, "REASONIX_HOME": "{config}"},
        writes={"{config}/config.toml": CONFIG},
        cannot_show={"pre_tool allow": "it asks nothing in this mode", "sub-agents": "its model is offered none"},
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, GUARD, REASON, Sample, entered

    return Sample(
        event="PreToolUse",
        files={
            ".reasonix/settings.json": entered("PreToolUse", ".reasonix/hooks/guard", match="bash"),
            ".reasonix/hooks/guard": GUARD,
        },
        tool="bash",
        calls="PreToolUse",
        payload={"event": "PreToolUse", "sessionId": "s", "cwd": "/p", "toolName": "bash",
                 "toolArgs": {"command": COMMAND}},
        stderr=REASON,
        status=2,
    )  # fmt: skip
