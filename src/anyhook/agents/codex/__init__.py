"""Codex CLI, by OpenAI: Claude's shapes with every key checked."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample

VERSION = "0.166.0"


def drive() -> Drive:
    from anyhook.tables.drive_rows import ASKING, DELEGATING, FULL, KEY, PROVIDER, Drive

    settings = (
        'model="gpt-5.5"',  # a model that it knows: it offers others no tool that writes files
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
    unasking = (*settings, 'approval_policy="never"', 'sandbox_mode="danger-full-access"')
    usual = Drive(
        _words(unasking),
        {"ANYHOOK_LIVE_KEY": KEY, "CODEX_HOME": "{config}"},
        carries=("{config}/config.toml",),
        trusting=("--dangerously-bypass-hook-trust",),
        tools={
            "shell": ("exec_command", "shell_command", "shell"),
            "write_file": ("apply_patch",),
            "delegate_task": ("spawn_agent", "collaboration.spawn_agent"),
        },
        helper="anyhook_sub",
    )
    return usual.replace(
        scenarios={
            ASKING: usual.replace(words=_words(settings, "--approve-for-me")),
            FULL: usual.replace(words=_words((*unasking, "model_auto_compact_token_limit=100000"))),
            DELEGATING: usual.replace(words=_words((*unasking, "features.multi_agent_v2=true"))),
        }
    )


def _words(settings: tuple[str, ...], *more: str) -> tuple[str, ...]:
    given = [word for setting in settings for word in ("-c", setting)]
    return ("exec", "--json", *given, *more, "--skip-git-repo-check", "{prompt}")


def sample() -> Sample:
    from anyhook.tables.sample_rows import guarded

    return guarded(".codex/hooks.json", "Bash")
