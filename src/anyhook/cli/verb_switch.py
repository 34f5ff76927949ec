"""`anyhook enable` and `anyhook disable`: with the dialect's own switch if it has one, otherwise in our own state."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import catalog_of, setup_of
from anyhook.cli.known_words import HOOK
from anyhook.cli.options import ProjectJsonOptions
from anyhook.cli.person import require_person
from anyhook.cli.undo import tell_undo, undo_for_hooks
from anyhook.cli.verbs import verb
from anyhook.engine.hook_names import hooks_meant, likely
from anyhook.model.hook import DISABLED, Hook
from anyhook.model.json_types import Json
from anyhook.platform.places import NOWHERE
from anyhook.rules.pack_list import NAMES, read_pack
from anyhook.rules.wildcards import names_rule
from anyhook.state.switches import USER, Switches
from anyhook.tables.registry import special


def find_hooks(name: str, hooks: list[Hook]) -> list[Hook]:
    """The hooks with this name; raises BadCall if there are none."""
    found = hooks_meant(name, hooks)
    if found:
        return found
    pack = next((pack for pack in NAMES if name == pack or names_rule(name, _rules_of(pack))), None)
    if pack is not None:
        raise BadCall(f"`{name}` is in the pack `{pack}`, which is off. Turn it on: anyhook add {pack}")
    raise BadCall(f"there is no hook `{name}`.{likely(name, hooks)} `anyhook list` shows them all.")


def _rules_of(pack: str) -> list[str]:
    names = [str(rule["name"]) for rule in read_pack(pack).rules]
    return [*names, *(f"{pack}/{name}" for name in names)]


def find_hook(name: str, hooks: list[Hook]) -> Hook:
    """The one hook with this name."""
    found = find_hooks(name, hooks)
    if len(found) > 1:
        raise BadCall(f"`{name}` means {len(found)} hooks: {', '.join(hook.id for hook in found)}. Give the id.")
    return found[0]


def _turn(name: str, options: ProjectJsonOptions, done: Literal["enable", "disable"]) -> int:
    hooks, on = _meant(name, catalog_of(options).hooks), done == "enable"
    turned = [hook for hook in hooks if (hook.status == DISABLED) == on]
    for hook in turned:
        _turn_one(hook, options, on)
    whole = turned == hooks and len(hooks) > 1
    alike = [(name, hooks)] if whole else [(hook.id, [hook]) for hook in turned]
    undone = [undo_for_hooks(done, called, some, options) for called, some in alike]
    if options.json:
        ids: dict[str, Json] = {"id": hooks[0].id} if len(hooks) == 1 else {"ids": [hook.id for hook in hooks]}
        render.json_out({**ids, "enabled": on, "undo": [*undone]})
        return 0
    for said in named(name, hooks):
        render.out(f"{done}d{'' if turned else ' already'}: {said}")
    tell_undo(undone)
    return 0


def named(name: str, hooks: Sequence[Hook]) -> list[str]:
    """The hooks that were found by a name, for a person: a pack as one."""
    if len(hooks) > 1 and all(hook.group == name for hook in hooks):
        return [f"{name} ({len(hooks)} hooks)"]
    return [hook.id for hook in hooks]


def _meant(name: str, hooks: list[Hook]) -> list[Hook]:
    """The rules of a pack, or one hook; none of them an organisation's."""
    found = find_hooks(name, hooks)
    found = found if all(hook.group == name for hook in found) else [find_hook(name, found)]
    kept = next((hook for hook in found if hook.scope == "managed"), None)
    if kept is not None:
        raise BadCall(f"{kept.id} is the organisation's ({kept.source}); only root can change it.")
    return found


def _turn_one(hook: Hook, options: ProjectJsonOptions, on: bool) -> None:
    if (suffix := special(hook.dialect, "OFF_SUFFIX")) and hook.scope != "builtin":
        _rename(hook, suffix, on)
        return
    setup = setup_of(options)
    project, folder = hook.project or setup.project, setup.own_dir()
    if folder == NOWHERE:
        raise BadCall("the state directory is inside the project. Set XDG_STATE_HOME to a folder outside it.")
    try:
        Switches(folder).turn(project if hook.scope == "project" else USER, hook.id, on=on)
    except OSError as error:
        raise BadCall(f"{folder} cannot be written ({error.strerror}). Check HOME and its permissions.") from None


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


@verb("enable", ProjectJsonOptions, "anyhook enable audit_logger", [click.Argument(["hook"], type=HOOK)])
def enable(hook: str, options: ProjectJsonOptions) -> int:
    """Turn a hook on again. HOOK is its id, its name, or PACK/NAME or PACK for rules of a pack."""
    return _turn(hook, options, "enable")


@verb("disable", ProjectJsonOptions, "anyhook disable git/forced-push", [click.Argument(["hook"], type=HOOK)])
def disable(hook: str, options: ProjectJsonOptions) -> int:
    """Turn a hook off without deleting it. HOOK is its id, its name, or PACK/NAME or PACK for rules of a pack."""
    require_person("disable")
    return _turn(hook, options, "disable")
