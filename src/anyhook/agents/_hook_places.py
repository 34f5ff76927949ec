"""The known places of agents' hooks, so that a hook file that is not read here can be named. A place drops out by
itself once a dialect reads it."""

from __future__ import annotations

from anyhook.model.record import Record

# `{project}`, `{home}` and `{config}` stand for folders; a star is any name in one folder.


class HookPlace(Record):
    """Files in which one agent declares hooks."""

    title: str
    """The agent."""
    paths: tuple[str, ...]
    word: str = ""
    """A text that the file must contain, if it also holds other things."""
    idle: str = ""
    """Why nothing runs these hooks; "" if something does."""
    code: bool = False
    """Whether they are plug-ins in code."""
    beside: bool = False
    """Whether it is in a folder that a dialect reads, and that dialect does not take it for a hook."""


NO_HOOKS = "which runs no hooks"


HOOK_PLACES = (
    HookPlace("Cursor", ("{project}/.cursor/hooks.json", "{home}/.cursor/hooks.json")),
    HookPlace(
        "Windsurf Cascade",
        ("{project}/.windsurf/hooks.json", "{home}/.codeium/windsurf/hooks.json"),
        idle="which is gone; Devin took its place and reads .devin/hooks.v1.json",
    ),
    # zed-industries/zed#52729 had `agent.hooks` in the settings; it was closed.
    HookPlace("Zed", ("{project}/.zed/settings.json", "{config}/zed/settings.json"), '"hooks"', NO_HOOKS),
    # RooCodeInc/Roo-Code#10785 had this file; it was never merged, and the product ended in May 2026.
    HookPlace("Roo Code", ("{project}/.roo/hooks.json",), idle=NO_HOOKS),
    # warpdotdev/warp#7834 asks for this; #9957, which kept hooks in profiles, was closed.
    HookPlace("Warp", ("{project}/.warp/hooks.yaml", "{home}/.warp/hooks.yaml"), idle=NO_HOOKS),
    HookPlace("Devin", ("{project}/.devin/hooks.v1.json",)),
    HookPlace("Devin", ("{project}/.devin/config.json", "{config}/devin/config.json"), '"hooks"'),
    HookPlace(
        "Cline",
        (
            "{project}/.clinerules/hooks/*",
            "{project}/.cline/hooks/*",
            "{home}/.cline/hooks/*",
            "{home}/Documents/Cline/Hooks/*",
        ),
    ),
    HookPlace(
        "Factory Droid",
        ("{project}/.factory/hooks.json", "{project}/.factory/hooks/hooks.json", "{home}/.factory/hooks.json"),
    ),
    HookPlace(
        "Factory Droid",
        ("{project}/.factory/settings.json", "{project}/.factory/settings.local.json", "{home}/.factory/settings.json"),
        '"hooks"',
    ),
    HookPlace("kimi-cli", ("{home}/.kimi/config.toml",), "[[hooks]]"),
    HookPlace("Kimi Code", ("{home}/.kimi-code/config.toml",), "[[hooks]]"),
    HookPlace("OpenHands", ("{project}/.openhands/hooks.json", "{home}/.openhands/hooks.json")),
    HookPlace("Crush", ("{project}/crush.json", "{project}/.crush.json", "{config}/crush/crush.json"), '"hooks"'),
    HookPlace(
        "opencode",
        (
            "{project}/.opencode/plugins/*",
            "{project}/.opencode/plugin/*",
            "{config}/opencode/plugins/*",
            "{config}/opencode/plugin/*",
        ),
        code=True,
    ),
    HookPlace("Kilo", ("{project}/.kilo/plugins/*", "{config}/kilo/plugins/*"), code=True),
    HookPlace("Amp", ("{project}/.amp/plugins/*", "{config}/amp/plugins/*"), code=True),
    HookPlace("Kiro", ("{project}/.kiro/hooks/*", "{home}/.kiro/hooks/*")),
    HookPlace("Kiro", ("{project}/.kiro/agents/*.json", "{home}/.kiro/agents/*.json"), '"hooks"'),
    HookPlace(
        "Auggie",
        ("{project}/.augment/settings.json", "{project}/.augment/settings.local.json", "{home}/.augment/settings.json"),
        '"hooks"',
    ),
    HookPlace("Grok Build", ("{project}/.grok/hooks/*.json", "{home}/.grok/hooks/*.json")),
    HookPlace("Grok Build", ("{home}/.grok/config.toml",), "[[hooks."),
    HookPlace("Mistral Vibe", ("{project}/.vibe/hooks.toml", "{home}/.vibe/hooks.toml")),
    HookPlace("deepagents", ("{project}/.deepagents/hooks.json", "{home}/.deepagents/hooks.json")),
    HookPlace("Hermes", ("{home}/.hermes/config.yaml",), "hooks:"),
    HookPlace(
        "Letta Code",
        ("{project}/.letta/settings.json", "{project}/.letta/settings.local.json", "{home}/.letta/settings.json"),
        '"hooks"',
    ),
    HookPlace("Junie", ("{home}/.junie/config.json",), '"hooks"'),
    HookPlace("Reasonix", ("{project}/.reasonix/settings.json", "{home}/.reasonix/settings.json"), '"hooks"'),
    HookPlace(
        "CodeBuddy Code",
        ("{project}/.codebuddy/settings.json", "{home}/.codebuddy/settings.json"),
        '"hooks"',
    ),
    HookPlace("Qoder", ("{project}/.qoder/settings.json", "{home}/.qoder/settings.json"), '"hooks"'),
    HookPlace(
        "Continue",
        ("{project}/.continue/settings.json", "{home}/.continue/settings.json"),
        '"hooks"',
        "which reads it and never runs a hook",
    ),
    HookPlace("IBM Bob", ("{project}/.bob/settings.json", "{home}/.bob/settings/settings.json"), '"hooks"'),
    HookPlace("Cortex Code", ("{project}/.cortex/settings.json", "{home}/.snowflake/cortex/hooks.json"), '"hooks"'),
    HookPlace("Command Code", ("{project}/.commandcode/settings.json", "{home}/.commandcode/settings.json"), '"hooks"'),
    HookPlace("Tabnine", ("{project}/.tabnine/agent/settings.json", "{home}/.tabnine/agent/settings.json"), '"hooks"'),
    HookPlace("Poolside", ("{project}/.poolside/settings.yaml", "{config}/poolside/settings.yaml"), "hooks:"),
    HookPlace("Pi", ("{project}/.pi/extensions/*", "{home}/.pi/agent/extensions/*"), code=True),
    HookPlace(
        "Cline on Windows",
        ("{project}/.clinerules/hooks/*.ps1", "{project}/.cline/hooks/*.ps1", "{home}/Documents/Cline/Hooks/*.ps1"),
        beside=True,
    ),
    HookPlace(
        "rulesync",
        ("{project}/.clinerules/hooks/rulesync-hooks.json", "{home}/Documents/Cline/Hooks/rulesync-hooks.json"),
        "generatedBy",
        "which keeps it as a list of the files it wrote",
        beside=True,
    ),
    HookPlace(
        "rulesync",
        ("{project}/.rulesync/hooks.json", "{project}/.rulesync/hooks.jsonc"),
        '"hooks"',
        "which writes hook files from it; `anyhook convert --from rulesync` reads it",
    ),
    HookPlace("Mastra Code", ("{project}/.mastracode/hooks.json", "{home}/.mastracode/hooks.json")),
    HookPlace("Code Puppy", ("{project}/.code_puppy/hooks.json", "{home}/.code_puppy/hooks.json")),
    HookPlace(
        "Copilot CLI",
        (
            "{project}/.github/copilot/settings.json",
            "{project}/.github/copilot/settings.local.json",
            "{home}/.copilot/settings.json",
        ),
        '"hooks"',
    ),
    HookPlace("Codex CLI", ("{project}/.codex/config.toml", "{home}/.codex/config.toml"), "[[hooks."),
)
