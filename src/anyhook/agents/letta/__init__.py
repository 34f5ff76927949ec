"""Letta Code: groups in its settings, limits in milliseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.34.12"
UNFIRED = (
    "session_start", "user_prompt_submit", "permission_request", "notification", "pre_compact", "stop", "session_end",
)  # fmt: skip


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    kind, then = "openai-compatible", "2026-01-01T00:00:00.000Z"
    provider: Json = {
        "id": f"local-provider-{kind}", "name": kind, "provider_type": kind, "provider_category": "byok",
        "auth": {"type": "api", "key": KEY}, "base_url": "{url}/v1", "created_at": then, "updated_at": then,
    }  # fmt: skip
    usual = Drive(
        ("-p", "{prompt}", "--backend", "local", "--new-agent", "-m", f"{kind}/{{model}}", "--yolo"),
        {
            "LETTA_CODE_TELEM": "0",
            "DISABLE_AUTOUPDATER": "1",
            "LETTA_TELEMETRY_DISABLED": "1",
            "LETTA_BACKEND": "local",
        },
        writes={
            "{home}/.letta/lc-local-backend/providers/auth.json": {"version": 1, "providers": {kind: provider}},
        },
        tools={"delegate_task": ("Agent",)},
        helper="general-purpose",
        cannot_show={
            "pre_tool allow": "`letta -p` asks nobody",
            **dict.fromkeys(UNFIRED, "`letta -p` does not fire it"),
        },
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--yolo")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    payload = {"event_type": "PreToolUse", "working_directory": "/p", "agent_id": "s", **called("Bash")}
    return guarded(".letta/settings.json", "Bash", payload, **BY_STATUS)
