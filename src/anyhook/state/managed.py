"""The organisation's settings over the user's. Neither users nor projects can turn its hooks off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anyhook.documents.files import Files
from anyhook.documents.managed import SCOPE, believed, managed_dir
from anyhook.model.hook import Hook
from anyhook.state.settings import STRICTEST, Settings, read_settings


def with_managed(settings: Settings, env: Mapping[str, str], files: Files, home: str) -> Settings:
    """The user's settings, overridden by the organisation's if there are any."""
    path = f"{managed_dir(env)}/config.toml"
    if not believed(path, files):
        return settings
    theirs = read_settings(path, files, home, SCOPE)
    document = type(files)().document(path, "toml")  # its problems are reported already
    said = document if isinstance(document, dict) else STRICTEST
    whole = {key: getattr(theirs, key) for key in ("on_failure", "mode", "off", "protect", "require") if key in said}
    merged = {
        key: {**getattr(settings, key), **getattr(theirs, key)}
        for key in ("dialects", "hooks", "hook_off", "hook_mode", "models", "providers", "journal")
    }
    return settings.replace(plugins=(*settings.plugins, *theirs.plugins), **whole, **merged)


def required(settings: Settings, hooks: Iterable[Hook]) -> Settings:
    """The settings that keep the organisation's hooks on, and make them refuse if they break."""
    own = [hook.id for hook in hooks if hook.scope == SCOPE]
    if not own:
        return settings
    return settings.replace(
        hook_mode={**settings.hook_mode, **dict.fromkeys(own, "enforce")},
        hooks={**settings.hooks, **dict.fromkeys(own, "deny")},
        hook_off={**settings.hook_off, **dict.fromkeys(own, "deny")},
    )
