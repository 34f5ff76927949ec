"""goose, by Block: plugins with Claude-like groups."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "1.52.0"


def drive() -> Drive:
    from anyhook.tables.drive_rows import KEY, TERMINAL, Drive

    usual = Drive(
        ("run", "--no-session", "--with-builtin", "developer", "-t", "{prompt}"),
        {
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "gpt-4o",
            "OPENAI_HOST": "{url}",
            "OPENAI_BASE_PATH": "v1/chat/completions",
            "OPENAI_API_KEY": KEY,
            "GOOSE_MODE": "auto",
            "GOOSE_DISABLE_KEYRING": "1",
            "GOOSE_TELEMETRY_OFF": "1",
            "GOOSE_TELEMETRY_ENABLED": "false",
        },
        tools={"delegate_task": ("delegate",)},
        cannot_show={"pre_tool allow": "the modes that ask for permission need a terminal"},
    )
    return usual.replace(scenarios={TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import called, decided, grouped, guarded

    entry = grouped("PreToolUse", "shell", '"$PLUGIN_ROOT"/scripts/guard')
    payload = {"session_id": "s", "event": "PreToolUse", **called("shell")}
    path, guard = ".agents/plugins/own/hooks/hooks.json", ".agents/plugins/own/scripts/guard"
    return guarded(path, "shell", payload, entry=entry, guard=guard, stdout=decided("block"))
