"""Copilot CLI, by GitHub."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "1.0.102"


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, Drive

    usual = Drive(
        ("-p", "{prompt}", "--allow-all-tools", "--no-auto-update"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "{model}",
            "COPILOT_HOME": "{config}",
            "COPILOT_AUTO_UPDATE": "false",
        },
        carries=("{config}/settings.json", "{config}/config.json"),
        folder_words=("--trust-folder",),
        helper="general-purpose",
    )
    return usual.replace(scenarios={ASKING: usual.without_words("--allow-all-tools")})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, guarded

    path, guard = ".github/hooks/hooks.json", ".github/hooks/scripts/guard"
    entry: Json = {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": guard}]}}
    payload: dict[str, Json] = {"sessionId": "s", "toolName": "bash", "toolArgs": {"command": COMMAND}}
    told = {"permissionDecision": "deny", "permissionDecisionReason": REASON}
    return guarded(path, "bash", payload, entry=entry, guard=guard, event="preToolUse", stdout=told)
