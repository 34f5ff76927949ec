"""`anyhook guards`: every pack, whether it is on and where, and its rules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from anyhook.cli import DONE, render
from anyhook.cli.fire import project_of
from anyhook.cli.options import JsonOptions, ProjectOption, switch
from anyhook.cli.undo import changing
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import FAINT, GOOD, cell, grid, show
from anyhook.engine.catalog import build
from anyhook.install import packages
from anyhook.install.used_packs import rule_file, used_in
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.words import OWN_SCOPES
from anyhook.rules.pack_list import GUARDS, NAMES, Pack, path_of, read_pack
from anyhook.state.plans import Setup

if TYPE_CHECKING:
    from rich.table import Table


class GuardsOptions(JsonOptions, ProjectOption):
    rules: bool = switch("--rules", "Show every rule, with its id and its reason.")


@verb("guards", GuardsOptions, "anyhook guards --rules")
def guards(options: GuardsOptions) -> int:
    """Show the packs of rules: which are on, for whom, and what each refuses.

    `anyhook add NAME` turns one on. A single rule is switched off or relaxed for a path with [[relax]] in hooks.toml,
    and only watched with `anyhook shadow ID`.
    """
    setup = Setup.of(project_of(options.project), dict(os.environ))
    used, pins = _in_use(setup)
    hooks = [hook for hook in build(setup, may_start=False).hooks if hook.dialect == "anyhook"]
    packs = [read_pack(name) for name in NAMES]
    if options.json:
        found = [
            {"name": name, "scope": scope, **_pin(pin), "changed": _changed(scope, name, pin, setup)}
            for scope, name, pin in pins
        ]
        render.json_out({"packs": [_as_dict(pack, used, hooks) for pack in packs], "packages": found}, indent=2)
        return DONE
    states = [(pack, _state(pack, used)) for pack in packs]
    for pack, state in states if options.rules else ():
        show(_pack_rules(pack, hooks, state))
    if not options.rules:
        show(pack_table(states))
    for scope, name, pin in pins:
        _tell_package(name, scope, pin, changed=_changed(scope, name, pin, setup))
    if {*GUARDS}.isdisjoint(name for names in used.values() for name in names):
        render.say("No guard is on. `anyhook add guard` turns them all on.")
    return DONE


def _in_use(setup: Setup) -> tuple[dict[str, list[str]], list[tuple[str, str, dict[str, Json]]]]:
    """The packs that are on, by scope; and the packages, each with its scope and what is pinned of it."""
    files: dict[str, str] = {scope: rule_file(scope, setup.project, os.environ) for scope in OWN_SCOPES}
    with changing("the file"):
        used = {scope: used_in(path) for scope, path in files.items()}
        pins = [(scope, name, pin) for scope, path in files.items() for name, pin in packages.read_lock(path).items()]
    return used, pins


def _state(pack: Pack, used: dict[str, list[str]]) -> str:
    on = [scope for scope in OWN_SCOPES if pack.name in used[scope]]
    return f"on ({', '.join(on)})" if on else "off"


def pack_table(packs: Sequence[tuple[Pack, str]]) -> Table:
    """Packs with their states."""
    table = grid()
    for pack, state in packs:
        about = (cell(pack.name), cell(pack.size), cell(pack.description))
        table.add_row(cell(state, GOOD if state.startswith("on") else FAINT), *about)
    return table


def _pack_rules(pack: Pack, hooks: list[Hook], state: str) -> Table:
    table = grid()
    table.add_row(cell(pack.name), cell(state), cell(""), cell(pack.description))
    for rule in _rules(pack, hooks):
        words = [cell(str(rule[key])) for key in ("state", "then", "severity")]
        table.add_row(*words, cell(f"{rule['name']}: {rule['because']}"))
    return table


def _pin(pin: dict[str, Json]) -> dict[str, Json]:
    return {"source": pin.get("source"), "revision": pin.get("revision")}


def _changed(scope: str, name: str, pin: dict[str, Json], setup: Setup) -> bool:
    """Whether a package's files are no longer the pinned ones."""
    files = packages.current_files(rule_file(scope, setup.project, os.environ), name)
    return packages.Package(name, "", "", files).pins() != pin.get("files")


def _tell_package(name: str, scope: str, pin: Mapping[str, Json], *, changed: bool) -> None:
    at = f"@{str(pin.get('revision'))[:12]}" if pin.get("revision") else ""
    render.out(f"{'CHANGED' if changed else 'on'} ({scope})  {name}  from {pin.get('source')}{at}")
    if changed:
        again = f"anyhook add {pin.get('source')}{at}"
        render.say(f"  Its changed rules are off. To see the change and undo it: {again}")


def _as_dict(pack: Pack, used: dict[str, list[str]], hooks: list[Hook]) -> dict[str, Json]:
    return {
        "name": pack.name,
        "title": pack.title,
        "description": pack.description,
        "guard": pack.guards,
        "on": [scope for scope in OWN_SCOPES if pack.name in used[scope]],
        "file": path_of(pack.name),
        "rules": [*_rules(pack, hooks)],
    }


def _rules(pack: Pack, hooks: list[Hook]) -> list[dict[str, Json]]:
    """The rules of a pack; with the ids and states of those that are on."""
    there = {hook.name: hook for hook in hooks if hook.source == path_of(pack.name)}
    found: list[dict[str, Json]] = []
    for rule in pack.rules:
        hook = there.get(str(rule["name"]))
        then = str(hook.spec["then"]) if hook else str(rule.get("then", "run" if "run" in rule else "deny"))
        found.append(
            {
                "name": str(rule["name"]),
                "id": hook.id if hook else None,
                "state": hook.status if hook else "off",
                "then": then,
                "severity": str(rule.get("severity", "medium")),
                "because": str(rule.get("because", "")),
            }
        )
    return found
