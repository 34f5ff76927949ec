"""Codex CLI, by OpenAI: Claude's shapes with every key checked, and an answer that fails the check does not refuse. So
answers have only keys of its schemas. Edits come as patches. Measured with 0.166.0."""

from __future__ import annotations

from anyhook.agents._claude_family import BASE, HALT, TASK, event, grouped, specific
from anyhook.agents._patches import rejoin_shell, split_patch, split_shell
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.drive_rows import Drive
    from anyhook.tables.sample_rows import Sample
    from anyhook.tables.version_rows import ProductChange

VERSION = "0.166.0"

REWRITE = specific("PreToolUse", permissionDecision="allow", updatedInput="{input}")
"""Without `allow`, Codex rejects a rewrite and runs the tool unchanged; with it, approvals still apply."""

EVENTS = (
    event("SessionStart", "context message"),
    event("UserPromptSubmit", "block end_turn context message"),
    event("PreToolUse", "block input context message", {"input": REWRITE}),
    event("PermissionRequest", "block allow message"),
    # `continue: false` is accepted here, but does not end the turn.
    event("PostToolUse", "block context message"),
    event("SubagentStart", "context message"),
    event("SubagentStop", "block message"),
    event("PreCompact", "block message", {"block": HALT}),
    event("PostCompact"),
    event("Stop", "block message"),
    event("SessionEnd", limit_s=3, why_not="a hook has 3 s when a session ends"),
    HostEvent("Interrupt", installed=False, why_not="no canonical event"),
)

LAYERS = (
    "{config}/config.toml",
    "{project}/.codex/config.toml",
    "/etc/codex/managed_config.toml",
    "/etc/codex/requirements.toml",
)
"""Every file that can turn its hooks off."""


HOST = Host(
    name="codex",
    title="Codex CLI",
    events=EVENTS,
    base=BASE,
    tools={
        # A shell call that only applies a patch arrives as `apply_patch`; one that does more does not.
        "Bash": HostTool("shell", split=split_shell, rejoin=rejoin_shell),
        "write_stdin": HostTool("shell", {"command": "chars"}),
        "apply_patch": HostTool("edit_file", split=split_patch),
        "spawn_agent": HostTool("delegate_task", {"task": "message"}),
        "Agent": HostTool("delegate_task", TASK),
    },
    entry=Entry(
        "groups",
        {"user": "{config}/hooks.json", "project": "{project}/.codex/hooks.json"},
        {"config": ("CODEX_HOME", "{home}/.codex")},
        grouped(),
        names_tools=True,
    ),
    reads={"codex": ("user", "project", "plugin")},
    program="codex",
    marks=("CODEX_SANDBOX", "CODEX_THREAD_ID"),
    confirms=("user", "project"),
    without_us="open",  # exit 127 was seen to be ignored, 2026-11
    settings=LAYERS,
    managed=("{etc}/codex/requirements.toml", "{etc}/codex/managed_config.toml"),
    switches=(
        OffSwitch(("features", "hooks"), False),
        OffSwitch(("allow_managed_hooks_only",)),
    ),
    confirm="a new or changed hook waits until you have approved it there: start `codex` and open `/hooks`.",
    gaps=("hosted web search", "a rewritten part of a patch", "input written into a running shell (`write_stdin`)"),
    max_context=10_000,  # about 2,500 tokens
)


def changes() -> tuple[ProductChange, ...]:
    from anyhook.tables.version_rows import ProductChange

    return (
        ProductChange(
            "",
            "runs hooks only if an experimental switch is on",
            "openai/codex#15211 (PreToolUse, 0.117), #19012 (on by default, 0.124)",
            "2026-04-23",
            before="0.124",
        ),
    )


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
        trusting=lambda drive: drive.with_words("--dangerously-bypass-hook-trust"),
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
