"""Mastra Code: flat entries in a file of events."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.32.1"
UNFIRED = ("session_start", "user_prompt_submit", "notification", "subagent_start", "stop", "session_end")
SETTINGS = "{home}/.local/share/mastracode/settings.json"


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, KEY, PROVIDER, TERMINAL, Drive

    provider = PROVIDER.replace("_", "-")  # its own spelling of names
    name = f"{provider}/{{model}}"
    modes: Json = {"build": name, "plan": name, "fast": name}
    settings: Json = {
        "customProviders": [{"name": provider, "url": "{url}/v1", "apiKey": KEY, "models": ["{model}"]}],
        "models": {"modeDefaults": modes, "omModelOverride": name},
        "onboarding": {"completedAt": "2026-01-01T00:00:00.000Z", "version": 99},
    }
    usual = Drive(
        ("--settings", SETTINGS, "--permission-mode", "auto", "-p", "{prompt}"),
        {"MASTRA_TELEMETRY_DISABLED": "1", "MASTRACODE_DISABLE_UPDATE_CHECK": "1"},
        writes={SETTINGS: settings},
        cannot_show={
            "pre_tool allow": "`mastracode -p` asks nobody",
            **dict.fromkeys(UNFIRED, "`mastracode -p` does not fire it"),
        },
    )
    asking = usual.replace(words=("--settings", SETTINGS, "--permission-mode", "deny", "-p", "{prompt}"))
    return usual.replace(scenarios={ASKING: asking, TERMINAL: usual.replace(terminal=True)})


def sample() -> Sample:
    from anyhook.tables.sample_rows import BY_STATUS, called, guarded

    tool = "execute_command"
    handler: Json = {"type": "command", "command": ".mastracode/hooks/guard", "matcher": {"tool_name": f"^{tool}$"}}
    payload = {"session_id": "session-init", "cwd": "/p", "hook_event_name": "PreToolUse", **called(tool)}
    return guarded(".mastracode/hooks.json", tool, payload, entry={"PreToolUse": [handler]}, **BY_STATUS)
