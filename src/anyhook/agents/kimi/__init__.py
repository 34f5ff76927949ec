"""Kimi Code, and Kimi CLI before it, by Moonshot: `[[hooks]]` in the user's config."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "2.1.0"


MODEL = """

[providers.anyhook_live]
type = "openai"
base_url = "{url}/v1"
api_key = "sk-not-a-real-key"

[models.anyhook_live]
provider = "anyhook_live"
model = "{model}"
max_context_size = 200000
"""


def drive() -> Drive:
    from anyhook.tables.drive_rows import PROVIDER, TERMINAL, Drive

    never_asks, not_fired = "`kimi -p` never asks", "`kimi -p` does not fire it"
    usual = Drive(
        ("-p", "{prompt}"),
        {"KIMI_CODE_HOME": "{config}", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"},
        heads={"{config}/config.toml": {"default_model": f'"{PROVIDER}"', "telemetry": "false"}},
        appends={"{config}/config.toml": MODEL},
        helper="coder",
        cannot_show={
            "pre_tool allow": never_asks,
            "permission_request": never_asks,
            "notification": not_fired,
            "session_end": not_fired,
        },
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    row = 'event = "PreToolUse"\nmatcher = "Bash"\ncommand = "~/.kimi-code/scripts/guard"\n'
    path, guard = ".kimi-code/config.toml", ".kimi-code/scripts/guard"
    return guarded(path, "Bash", entry=f"[[hooks]]\n{row}", guard=guard, scope="user")
