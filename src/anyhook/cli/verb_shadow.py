"""`anyhook shadow` and `anyhook enforce`: try a hook or a rule before it counts. Both change the user's settings."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import catalog_of
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import ProjectJsonOptions, option
from anyhook.cli.person import require_person
from anyhook.cli.undo import tell_undo, undo_for_hooks
from anyhook.cli.verb_switch import find_hooks, named
from anyhook.cli.verbs import verb
from anyhook.cli.view.record_text import when
from anyhook.journal.timespec import seconds_of
from anyhook.state.hook_settings import CannotSet, set_for_hooks

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
    kept = next((hook for hook in found if hook.scope == "managed"), None)
    if kept is not None:
        raise BadCall(f"{kept.id} is the organisation's ({kept.source}); it always counts. Only root can change it.")
    until = _iso(until_s) if until_s is not None else None
    hooks = [hook.id for hook in found]
    # Where all hooks count anyway, nothing has to say so.
    said = mode if mode == "shadow" or catalog.config.mode == "shadow" else None
    fresh = mode == "shadow" and catalog.config.hook_mode.keys().isdisjoint(hooks)
    undone = [undo_for_hooks("shadow", name, found, options)] if fresh else []
    try:
        path = set_for_hooks(os.environ, hooks, {"mode": said, "until": until})
    except CannotSet as error:
        raise BadCall(str(error)) from None
    if options.json:
        render.json_out({"hooks": [*hooks], "mode": mode, "until": until, "file": path, "undo": [*undone]})
        return 0
    ends = f", until {when(until_s * 10**9)}" if until_s else ""
    for said in named(name, found):
        render.out(f"{mode}: {said}{ends}")
    if mode == "shadow":
        _tell_watched(name, len(found))
        tell_undo(undone)
    return 0


def _iso(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")


def _tell_watched(name: str, count: int) -> None:
    runs = "It runs, and stops" if count == 1 else "They run, and stop"
    render.say(f"{runs} nothing. What would have been stopped: anyhook report '{name}'")
