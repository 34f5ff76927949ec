"""`anyhook enable` and `anyhook disable`: by the dialect's own means if it has one, otherwise by our own note."""

from __future__ import annotations

import os

import click

from anyhook.cli.catalog_input import catalog_of, setup_of
from anyhook.cli.failure import BadCall
from anyhook.cli.options import ProjectJsonOptions
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.documents.places import NOWHERE
from anyhook.model.hook import DISABLED, Hook
from anyhook.state.switches import USER, Switches
from anyhook.tables.registry import dialect
from anyhook.tables.shapes import guess


def find_hook(name: str, hooks: list[Hook]) -> Hook:
    """The hook of this id, or the only one of this name."""
    found = [hook for hook in hooks if hook.id == name] or [hook for hook in hooks if hook.name == name]
    if not found:
        raise BadCall(
            f"there is no hook `{name}`.{guess(name, [hook.id for hook in hooks])} `anyhook list` shows them all."
        )
    if len(found) > 1:
        raise BadCall(f"`{name}` names {len(found)} hooks: {', '.join(hook.id for hook in found)}. Give the id.")
    return found[0]


def _turn(name: str, options: ProjectJsonOptions, on: bool) -> int:
    hook = find_hook(name, catalog_of(options).hooks)
    word = "enabled" if on else "disabled"
    if hook.scope == "managed":
        raise BadCall(f"{hook.id} is the organisation's ({hook.source}); only root can change it.")
    if (hook.status == DISABLED) != on:
        render.say(f"{hook.id} is {word} already.")
    elif dialect(hook.dialect).off_suffix and hook.scope != "builtin":
        _rename(hook, dialect(hook.dialect).off_suffix, on)
    else:
        setup = setup_of(options)
        project, folder = hook.project or setup.project, setup.own_dir()
        if folder == NOWHERE:
            raise BadCall("the state directory is inside the project. Set XDG_STATE_HOME to a folder outside it.")
        try:
            Switches(folder).turn(project if hook.scope == "project" else USER, hook.id, on)
        except OSError as error:
            raise BadCall(f"{folder} cannot be written ({error.strerror}). Check HOME and its permissions.") from None
    if options.json:
        render.json_out({"id": hook.id, "enabled": on})
    else:
        render.out(f"{word}: {hook.id}")
    return 0


def _rename(hook: Hook, suffix: str, on: bool) -> None:
    target = hook.source.removesuffix(suffix) if on else hook.source + suffix
    if os.path.lexists(target):
        raise BadCall(f"{target} is there already, so {hook.source} cannot be renamed to it. Remove one of the two.")
    try:
        os.rename(hook.source, target)
    except OSError as error:
        raise BadCall(
            f"{hook.source} cannot be renamed ({error.strerror}). Check the permissions of its folder."
        ) from None


@verb("enable", ProjectJsonOptions, "anyhook enable kodelet:project:audit_logger", [click.Argument(["hook"])])
def enable(hook: str, options: ProjectJsonOptions) -> int:
    """Turn a hook on again. HOOK is its id, or its name if no other hook has it."""
    return _turn(hook, options, on=True)


@verb("disable", ProjectJsonOptions, "anyhook disable kodelet:project:audit_logger", [click.Argument(["hook"])])
def disable(hook: str, options: ProjectJsonOptions) -> int:
    """Turn a hook off without deleting it. HOOK is its id, or its name if no other hook has it."""
    return _turn(hook, options, on=False)
