"""Layer: joins what the sources of one dialect hold into one list, by that dialect's rule. An untrusted entry of a
project never replaces or shadows a user's entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.hook import DISABLED, Hook
from anyhook.model.problem import WARNING
from anyhook.model.words import never

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.documents.files import Files
    from anyhook.model.hook import Layer
    from anyhook.tables.rows import Dialect


def layer(dialect: Dialect, layers: Sequence[Layer], files: Files) -> list[Hook]:
    """One list of hooks, in the order in which they run."""
    match dialect.layering:
        case "concatenate":
            hooks = [hook for each in layers for hook in each.hooks]
        case "replace_lists":
            hooks = _replace_lists(layers, files)
        case "later_name_wins":
            hooks = _one_per_name(layers, reversed(layers), files)
        case "earlier_name_wins":
            hooks = _one_per_name(layers, layers, files)
        case _:
            never(dialect.layering)
    off = _switched_off(layers)
    if off:
        hooks = [hook.replace(status=DISABLED, why=f"{off} turns all hooks off") for hook in hooks]
    return sorted(hooks, key=dialect.sort) if dialect.sort else hooks


def _switched_off(layers: Sequence[Layer]) -> str:
    """The last source that turns all hooks of the dialect on or off, if it turns them off."""
    said = [each for each in layers if each.all_off is not None]
    return said[-1].source.path if said and said[-1].all_off else ""


def _replace_lists(layers: Sequence[Layer], files: Files) -> list[Hook]:
    kept: list[Hook] = []
    for each in layers:
        gone = [hook for hook in kept if hook.native_event in each.replaces]
        for hook in gone:
            _say_overridden(hook, each.source.path, files)
        kept = [hook for hook in kept if hook.native_event not in each.replaces]
        kept.extend(each.hooks)
    return kept


def _one_per_name(layers: Sequence[Layer], strongest_first: Iterable[Layer], files: Files) -> list[Hook]:
    winners: dict[str, Hook] = {}
    for each in strongest_first:
        for hook in each.hooks:
            if hook.trusted and hook.status != DISABLED:
                winners.setdefault(hook.name, hook)
    kept: list[Hook] = []
    for each in layers:
        for hook in each.hooks:
            winner = winners.get(hook.name)
            if winner is None or winner.scope == hook.scope or not hook.trusted or hook.status == DISABLED:
                kept.append(hook)
            else:
                _say_overridden(hook, winner.source, files)
    return kept


def _say_overridden(hook: Hook, by: str, files: Files) -> None:
    files.problem(
        "overridden",
        f"hook `{hook.name}` of the {hook.scope} does not run",
        hook.source,
        f"{by} overrides it",
        "Rename one of them if you want both to run.",
        WARNING,
    )
