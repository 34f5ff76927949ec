"""`anyhook shadow` and `anyhook enforce`: try a hook or a rule before it counts. Both change the user's settings."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import catalog_of
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import ProjectJsonOptions, option
from anyhook.cli.person import require_person
from anyhook.cli.undo import tell_undo, undo
from anyhook.cli.verb_switch import find_hooks
from anyhook.cli.verbs import verb
from anyhook.cli.view.record_text import when
from anyhook.journal.timespec import seconds_of
from anyhook.state.hook_settings import CannotSet, set_for_hooks

if TYPE_CHECKING:
    from anyhook.model.json_types import Json

EXAMPLE = "anyhook shadow git/forced-push --for 7d"


class ShadowOptions(ProjectJsonOptions):
    for_: str | None = option("--for", "Only for this long, then it counts again: 12h, 7d, 2w.", "TIME")


@verb("shadow", ShadowOptions, EXAMPLE, [click.Argument(["hook"], type=HOOK)])
def shadow(hook: str, options: ShadowOptions) -> int:
    """Let a hook or a rule run without its decisions counting. HOOK is its id, its name, PACK/NAME or
    PACK for rules of a pack, or a pattern such as 'git/*'. `anyhook report` shows what it would have stopped."""
    require_person("shadow")
    until: int | None = None
    span = options.for_
    if span is not None:
        try:
            seconds = seconds_of(span)
        except ValueError as error:
            raise BadCall(f"--for: {error}") from None
        until = int(time.time()) + seconds
    return _set(hook, options, "shadow", until)


@verb("enforce", ProjectJsonOptions, "anyhook enforce git/forced-push", [click.Argument(["hook"], type=HOOK)])
def enforce(hook: str, options: ProjectJsonOptions) -> int:
    """Let the decisions of a hook or a rule count, even if `mode` is `shadow` for all others."""
    return _set(hook, options, "enforce", None)


def _set(name: str, options: ProjectJsonOptions, mode: str, until_s: int | None) -> int:
    catalog = catalog_of(options)
    found = find_hooks(name, catalog.hooks)
    kept = [hook for hook in found if hook.scope == "managed"]
    if kept:
        raise BadCall(
            f"{kept[0].id} is the organisation's ({kept[0].source}); it always counts. Only root can change it."
        )
    until = None if until_s is None else datetime.fromtimestamp(until_s, UTC).isoformat().replace("+00:00", "Z")
    # Where all hooks count anyway, nothing has to say so.
    said = mode if mode == "shadow" or catalog.config.mode == "shadow" else None
    fresh = mode == "shadow" and not any(hook.id in catalog.config.hook_mode for hook in found)
    undone = [undo("shadow", [name], project=options.project)] if fresh else []
    try:
        path = set_for_hooks(os.environ, [hook.id for hook in found], {"mode": said, "until": until})
    except CannotSet as error:
        raise BadCall(str(error)) from None
    if options.json:
        hooks: list[Json] = [hook.id for hook in found]
        render.json_out({"hooks": hooks, "mode": mode, "until": until, "file": path, "undo": [*undone]})
        return 0
    for hook in found:
        render.out(f"{mode}: {hook.id}" + (f", until {when(until_s * 10**9)}" if until_s else ""))
    if mode == "shadow":
        runs = "It runs, and stops" if len(found) == 1 else "They run, and stop"
        render.say(f"{runs} nothing. What would have been stopped: anyhook report '{name}'")
        tell_undo(undone)
    return 0
