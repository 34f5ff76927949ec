"""`anyhook shadow` and `anyhook enforce`: try a hook or a rule before it counts. Both are settings of the user's."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

import click

from anyhook.cli.catalog_input import catalog_of
from anyhook.cli.failure import BadCall
from anyhook.cli.options import ProjectJsonOptions, option
from anyhook.cli.verb_switch import find_hook
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.journal.timespec import seconds_of
from anyhook.rules.wildcards import is_plain, like
from anyhook.state.hook_settings import CannotSet, set_for_hooks

EXAMPLE = "anyhook shadow anyhook:user:pre_tool:no-force-push --for 7d"


class ShadowOptions(ProjectJsonOptions):
    for_: str | None = option("--for", "Only for this long, then it counts again: 12h, 7d, 2w.", "TIME")


@verb("shadow", ShadowOptions, EXAMPLE, [click.Argument(["hook"])])
def shadow(hook: str, options: ShadowOptions) -> int:
    """Let a hook or a rule run without its decisions counting. HOOK is its id, its name if no other hook has it, or a
    pattern of ids such as 'anyhook:user:git:*'. `anyhook report` shows what it would have stopped."""
    until, span = None, options.for_
    if span is not None:
        try:
            seconds = seconds_of(span)
        except ValueError as error:
            raise BadCall(f"--for: {error}") from None
        until = datetime.fromtimestamp(int(time.time()) + seconds, UTC).isoformat().replace("+00:00", "Z")
    return _set(hook, options, "shadow", until)


@verb("enforce", ProjectJsonOptions, "anyhook enforce anyhook:user:pre_tool:no-force-push", [click.Argument(["hook"])])
def enforce(hook: str, options: ProjectJsonOptions) -> int:
    """Let the decisions of a hook or a rule count, also where `mode` is `shadow` for all others."""
    return _set(hook, options, "enforce", None)


def _set(name: str, options: ProjectJsonOptions, mode: str, until: str | None) -> int:
    hooks = catalog_of(options).hooks
    found = [hook for hook in hooks if like(name, hook.id)] if not is_plain(name) else [find_hook(name, hooks)]
    kept = [hook for hook in found if hook.scope == "managed"]
    if kept:
        raise BadCall(
            f"{kept[0].id} is the organisation's ({kept[0].source}); it always counts. Only root can change it."
        )
    if not found:
        raise BadCall(f"no hook has an id like `{name}`. `anyhook list` shows them all.")
    try:
        path = set_for_hooks(os.environ, [hook.id for hook in found], {"mode": mode, "until": until})
    except CannotSet as error:
        raise BadCall(str(error)) from None
    if options.json:
        render.json_out({"hooks": [hook.id for hook in found], "mode": mode, "until": until, "file": path})
        return 0
    for hook in found:
        render.out(f"{mode}: {hook.id}" + (f", until {until}" if until else ""))
    if mode == "shadow":
        render.say(f"It runs, and stops nothing. What it would have stopped: anyhook report {found[0].id}")
    return 0
