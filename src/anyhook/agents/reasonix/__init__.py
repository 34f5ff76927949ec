"""Reasonix: flat entries in its settings, and payloads with its own keys."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
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
        cannot_show={"pre_tool allow": "it asks nothing in this mode", "sub-agents": "its model has no such tool"},
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, COMMAND, entered, guarded

    entry = entered("PreToolUse", ".reasonix/hooks/guard", match="bash")
    payload: dict[str, Json] = {
        "event": "PreToolUse", "sessionId": "s", "cwd": "/p", "toolName": "bash", "toolArgs": {"command": COMMAND},
    }  # fmt: skip
    return guarded(".reasonix/settings.json", "bash", payload, entry=entry, **BY_STATUS)
