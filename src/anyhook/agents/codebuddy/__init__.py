"""CodeBuddy Code, by Tencent: Claude's table with its own files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "2.163.0"


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, PROVIDER, Drive

    model: Json = {
        "id": "{model}", "name": "{model}", "vendor": PROVIDER, "apiKey": KEY, "url": "{url}/v1/chat/completions",
        "maxInputTokens": 200000, "maxOutputTokens": 8000, "supportsToolCall": True,
    }  # fmt: skip
    usual = Drive(
        ("-p", "--model", "{model}", "--output-format", "text", "-y", "{prompt}"),
        {
            "CODEBUDDY_API_KEY": KEY,
            "CODEBUDDY_BASE_URL": "{url}",
            "DISABLE_TELEMETRY": "1",
            "CODEBUDDY_CODE_ENABLE_TELEMETRY": "0",
            "DISABLE_AUTOUPDATER": "1",
            "CODEBUDDY_SKIP_BUILTIN_MARKETPLACE": "1",
        },
        writes={"{home}/.codebuddy/models.json": {"models": [model], "availableModels": ["{model}"]}},
        helper="general-purpose",
        cannot_show={
            "permission_request": "`codebuddy -p` refuses without asking",
            "post_tool_failure": "a failed command and a missing file fire PostToolUse",
            "session_end": "`codebuddy -p` does not fire it",
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("-y")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, guarded

    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", **called("Bash"), "client": "CLI"}
    return guarded(".codebuddy/settings.json", "Bash", payload)
