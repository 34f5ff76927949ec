"""Grok Build, by xAI: Claude's groups in a folder of files; payloads that hold every field in two spellings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "1.0.41"

CONFIG = """
[models]
default = "{model}"

[model.{model}]
model = "{model}"
base_url = "{url}/v1"
name = "{model}"
api_key = "sk-not-a-real-key"
api_backend = "chat_completions"
context_window = 200000
"""


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, Drive

    usual = Drive(
        ("-p", "{prompt}", "-m", "{model}", "--disable-web-search", "--always-approve"),
        {
            "GROK_HOME": "{config}",
            "GROK_TELEMETRY_ENABLED": "false",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_FEEDBACK_ENABLED": "false",
        },
        appends={"{config}/config.toml": CONFIG},
        folder_words=("--trust",),
        helper="general-purpose",
        cannot_show={
            "post_tool_failure": "a failed command and a missing file fire PostToolUse",
            "pre_compact": "a short run compacts nothing",
            "post_compact": "a short run compacts nothing",
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--always-approve")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, guarded

    tool, guard = "run_terminal_command", ".grok/hooks/scripts/guard"
    payload = {
        "hookEventName": "pre_tool_use", "sessionId": "s", "session_id": "s", "hook_event_name": "PreToolUse",
        **called(tool, description="x"),
    }  # fmt: skip
    return guarded(".grok/hooks/guard.json", tool, payload, guard=guard, stdout=decided("deny"))
