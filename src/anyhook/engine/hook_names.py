"""Hook names: which hooks a person means. A hook can be named by its id or by the name in its file, and a rule of a
pack by PACK/NAME, as in `[[relax]]`."""

from __future__ import annotations

from collections.abc import Iterable

from anyhook.model.hook import Hook
from anyhook.rules.wildcards import is_plain, names_rule, spelled
from anyhook.tables.shapes import guess


def hooks_meant(name: str, hooks: Iterable[Hook]) -> list[Hook]:
    """The hooks with this id; else with this name; else all hooks of this pack; else those whose names match this
    pattern."""
    hooks = list(hooks)
    by_id = [hook for hook in hooks if hook.id == name]
    return (
        by_id
        or [hook for hook in hooks if spelled(name) in map(spelled, _names(hook))]
        or [hook for hook in hooks if name == hook.group]
        or ([] if is_plain(name) else [hook for hook in hooks if names_rule(name, _names(hook))])
    )


def likely(name: str, hooks: Iterable[Hook]) -> str:
    """` Did you mean …?` if a name is similar to one of them, by the name that is shown everywhere."""
    shown = [each for hook in hooks for each in (hook.short_name if hook.group else hook.name, hook.id)]
    return guess(name, dict.fromkeys(shown))


def _names(hook: Hook) -> tuple[str, ...]:
    group, slug = hook.group, hook.id.rpartition(":")[2]
    return (hook.id, hook.name, slug, *([f"{group}/{hook.name}", f"{group}/{slug}"] if group else ()))
