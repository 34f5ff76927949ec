"""The known places of agents' hooks that no dialect reads, so that a hook file there can be named. A place drops out by
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
    HookPlace("Factory Droid", ("{project}/.factory/hooks/hooks.json",)),
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
    HookPlace("Kiro", ("{project}/.kiro/agents/*.json", "{home}/.kiro/agents/*.json"), '"hooks"'),
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
    HookPlace("Code Puppy", ("{project}/.code_puppy/hooks.json",)),
)
