"""How each agent is driven without a person and without a network: its words, its variables, and the files that lead it
to a scripted model. The tables say it, and nothing here is started."""

from __future__ import annotations

import json

from anyhook.tables.drive_rows import Drive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

KEY = "sk-not-a-real-key"
PROVIDER = "anyhook_live"

PROBE_HOOK = "{home}/Documents/Kodik/Hooks/hooks.json"
"""Where the live check's own hook stands: a user's file of a dialect that no agent reads by itself."""


def probe_hook(command: str) -> str:
    """A hook before every tool call."""
    handler = {"type": "command", "command": command}
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})


QUIET: Mapping[str, Json] = {
    "general.disableAutoUpdate": True,
    "general.enableAutoUpdate": False,
    "privacy.usageStatisticsEnabled": False,
    "telemetry.enabled": False,
}
NO_MEMORY: Mapping[str, Json] = {"memory.enableManagedAutoMemory": False, "memory.enableManagedAutoDream": False}
TOML_MODEL = """

[providers.anyhook_live]
type = "openai"
base_url = "{url}/v1"
api_key = "sk-not-a-real-key"

[models.anyhook_live]
provider = "anyhook_live"
model = "{model}"
max_context_size = 200000
"""
TOML_LISTED_MODEL = """

[[providers]]
name = "anyhook_live"
api_base = "{url}/v1"
api_key_env_var = "ANYHOOK_LIVE_KEY"

[[models]]
name = "{model}"
provider = "anyhook_live"
alias = "anyhook_live"
temperature = 0.2
input_price = 0.0
output_price = 0.0
thinking = "off"
"""
CLAUDE_ENV = {
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_API_KEY": KEY,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}


CLAUDE_STATE = {"hasCompletedOnboarding": True, "projects": {"{project}": {"hasTrustDialogAccepted": True}}}
CLINE_SETTINGS = {"provider": "openai-compatible", "apiKey": KEY, "model": "{model}", "baseUrl": "{url}/v1"}
CLINE_PROVIDER = {"settings": CLINE_SETTINGS, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
CLINE_PROVIDERS = {
    "version": 1,
    "lastUsedProvider": "openai-compatible",
    "providers": {"openai-compatible": CLINE_PROVIDER},
}
OPENCODE_MODEL = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
OPENCODE_PROVIDER = {
    "npm": "@ai-sdk/openai-compatible",
    "name": PROVIDER,
    "options": {"baseURL": "{url}/v1", "apiKey": KEY},
    "models": {"{model}": OPENCODE_MODEL},
}
OPENCODE_CONFIG = {
    "autoupdate": False,
    "share": "disabled",
    "model": f"{PROVIDER}/{{model}}",
    "small_model": f"{PROVIDER}/{{model}}",
    "enabled_providers": [PROVIDER],
    "provider": {PROVIDER: OPENCODE_PROVIDER},
}
# Beside plugins it wants a package, which it would fetch and wait for. Ours needs none, so it may believe it has it.
OPENCODE_LOCK = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
OPENCODE_PACKAGES = {
    f"{folder}/{name}": text
    for folder in ("{config}/opencode", "{project}/.opencode")
    for name, text in (("package-lock.json", json.dumps(OPENCODE_LOCK)), ("node_modules/.keep", ""))
}
CODEX_SETTINGS = (
    'model="gpt-5.5"',  # one that it knows: for others it offers no tool that writes files
    f'model_provider="{PROVIDER}"',
    f'model_providers.{PROVIDER}.name="{PROVIDER}"',
    f'model_providers.{PROVIDER}.base_url="{{url}}/v1"',
    f'model_providers.{PROVIDER}.env_key="ANYHOOK_LIVE_KEY"',
    f'model_providers.{PROVIDER}.wire_api="responses"',
    f"model_providers.{PROVIDER}.request_max_retries=0",
    f"model_providers.{PROVIDER}.stream_max_retries=0",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "feedback.enabled=false",
)
CODEX_UNASKING = ('approval_policy="never"', 'sandbox_mode="danger-full-access"')


def codex_words(settings: tuple[str, ...], *more: str) -> tuple[str, ...]:
    given = [word for setting in settings for word in ("-c", setting)]
    return ("exec", "--json", *given, *more, "--skip-git-repo-check", "{prompt}")


DRIVES: Mapping[str, Drive] = {
    "claude": Drive(
        ("-p", "{prompt}", "--output-format", "json", "--allowedTools", "Bash", "Write", "Read", "Agent"),
        CLAUDE_ENV,
        # The user's own file of this name holds credentials beside trust, so it is not copied; without a person no
        # trust is asked for.
        writes={"{home}/.claude.json": json.dumps(CLAUDE_STATE)},
        carries=("{project}/.claude/settings.local.json",),
        helper="general-purpose",
    ),
    "codex": Drive(
        codex_words((*CODEX_SETTINGS, *CODEX_UNASKING)),
        {"ANYHOOK_LIVE_KEY": KEY, "CODEX_HOME": "{config}"},
        carries=("{config}/config.toml",),
        trusting=("--dangerously-bypass-hook-trust",),
        tools={
            "shell": ("exec_command", "shell_command", "shell"),
            "write_file": ("apply_patch",),
            "delegate_task": ("spawn_agent", "collaboration.spawn_agent"),
        },
        helper="anyhook_sub",
    ),
    "gemini": Drive(
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
    ),
    "qwen": Drive(
        ("-p", "{prompt}", "--approval-mode", "yolo"),
        {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_MODEL": "{model}",
        },
        carries=("{home}/.qwen/settings.json", "{home}/.qwen/trustedFolders.json"),
        sets={"{home}/.qwen/settings.json": {"security.auth.selectedType": "openai", **QUIET, **NO_MEMORY}},
        helper="general-purpose",
    ),
    "copilot": Drive(
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
    ),
    "goose": Drive(
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
    ),
    "kimi": Drive(
        ("-p", "{prompt}"),
        {"KIMI_CODE_HOME": "{config}", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"},
        heads={"{config}/config.toml": {"default_model": f'"{PROVIDER}"', "telemetry": "false"}},
        appends={"{config}/config.toml": TOML_MODEL},
        helper="coder",
    ),
    "vibe": Drive(
        ("-p", "{prompt}", "--auto-approve", "--output", "json"),
        {
            "ANYHOOK_LIVE_KEY": KEY,
            "MISTRAL_API_KEY": KEY,
            "VIBE_HOME": "{config}",
            "VIBE_ACTIVE_MODEL": PROVIDER,
            "VIBE_ENABLE_TELEMETRY": "false",
            "VIBE_ENABLE_UPDATE_CHECKS": "false",
            "VIBE_ENABLE_CONNECTORS": "false",
        },
        carries=("{config}/config.toml", "{config}/trusted_folders.toml"),
        appends={"{config}/config.toml": TOML_LISTED_MODEL},
        folder_words=("--trust",),
    ),
    "cline": Drive(
        (
            "--json",
            "-P",
            "openai-compatible",
            "-m",
            "{model}",
            "-k",
            KEY,
            "--auto-approve",
            "true",
            "-t",
            "60",
            "{prompt}",
        ),
        {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"},
        writes={"{home}/.cline/data/settings/providers.json": json.dumps(CLINE_PROVIDERS)},
        tools={"write_file": ("editor",), "delegate_task": ("spawn_agent",)},
    ),
    "opencode": Drive(
        ("run", "--auto", "{prompt}"),
        {
            "OPENCODE_CONFIG": "{home}/live-config.json",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        },
        writes={"{home}/live-config.json": json.dumps(OPENCODE_CONFIG), **OPENCODE_PACKAGES},
        helper="general",
    ),
}
