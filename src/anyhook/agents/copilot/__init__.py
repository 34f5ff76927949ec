"""Copilot CLI, by GitHub."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive

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
