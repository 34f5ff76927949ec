"""Gemini CLI, by Google."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.61.0"
QUIET: Mapping[str, Json] = {
    "general.disableAutoUpdate": True,
    "general.enableAutoUpdate": False,
    "privacy.usageStatisticsEnabled": False,
    "telemetry.enabled": False,
}
"""Settings that turn off its telemetry."""
NO_ASKING = "without a person, it does not offer its model tools that need permission"


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, Drive

    return Drive(
        ("-p", "{prompt}", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-o", "json"),
        {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        carries=("{home}/.gemini/settings.json", "{home}/.gemini/trustedFolders.json"),
        sets={"{home}/.gemini/settings.json": {"security.auth.selectedType": "gemini-api-key", **QUIET}},
        tools={"delegate_task": ("invoke_agent",)},
        helper="generalist",
        folder_env={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        cannot_show={
            "pre_tool allow": NO_ASKING,
            "notification": "it sends notifications only for questions, and asks none without a person",
        },
    )


def sample() -> Sample:
    from anyhook.tables.sample_rows import decided, guarded

    return guarded(".gemini/settings.json", "run_shell_command", event="BeforeTool", stdout=decided("deny"))
