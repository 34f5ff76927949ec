"""`anyhook ci`: fails a job if a required gate is off."""

from __future__ import annotations

import os
from collections.abc import Sequence

from anyhook.cli import DONE, FINDINGS, render
from anyhook.cli.fire import project_of
from anyhook.cli.options import HookOptions, JsonOptions, TrustOption, repeated
from anyhook.cli.standing import ProjectStatus, status_of
from anyhook.cli.verbs import verb
from anyhook.engine.catalog import build
from anyhook.engine.hook_names import hooks_meant
from anyhook.gates.gate import GateStatus, protected, together
from anyhook.gates.status import grouped, owner
from anyhook.model.hook import Hook
from anyhook.state.plans import Setup
from anyhook.tables.shapes import guess


class CiOptions(JsonOptions, HookOptions, TrustOption):
    require: tuple[str, ...] = repeated(
        "--require", "A gate that must be on, as PACK/NAME or by its id; may be repeated.", "NAME"
    )


@verb("ci", CiOptions, "anyhook ci --require git/forced-push")
def ci(options: CiOptions) -> int:
    """Fail if a required gate is off, or an agent here that calls anyhook does not ask it; for use in CI.

    The required gates are those that --require names and those of `require` in the settings. If neither names any,
    every gate must be on, and there must be at least one. A fresh checkout has no approvals: run `anyhook trust --yes`
    before, or pass `--trust all`. Starts nothing.

    \b
    Exit status: 0 every required gate is on, 1 one is not, 3 bad call.
    """
    project = project_of(options.project, options.plugin_dir)
    setup = Setup.of(project, dict(os.environ), options.dialect, options.trust or "ask", options.plugin_dir)
    catalog = build(setup, may_start=False).with_lines()
    here = status_of(setup, catalog)
    found = here.gates
    named = dict.fromkeys((*options.require, *catalog.config.require))
    required = tuple(dict.fromkeys(each for name in named for each in _ids(name, catalog.hooks)))
    off = [] if required or protected(found) else [gate for gate in found if gate.state not in ("armed", "unmatched")]
    missing = [*(_missing(found, required) if required else _not_on(found, off)), *_not_asked(here)]
    if options.json:
        listed = [gate.as_dict() for gate in found]
        render.json_out({"passed": not missing, "missing": missing, "gates": listed}, indent=2)
    else:
        _tell(missing, off, len(required), sum(gate.guards for gate in found))
    return FINDINGS if missing else DONE


def _ids(name: str, hooks: Sequence[Hook]) -> list[str]:
    """The ids of the gates that a person names; the name itself if there is none."""
    return [hook.id for hook in hooks_meant(name, hooks)] or [name]


def _tell(missing: list[str], off: list[GateStatus], required: int, on: int) -> None:
    """What is wrong, and the verdict last."""
    for line in map(_together, grouped(off)) if off else missing:
        render.say(f"anyhook ci: {line}")
    if off:
        render.say(f"anyhook ci: {_counted(len(off))} off, {on} on")
    elif not missing:
        render.out(f"{_counted(required or on)} on")


def _missing(found: list[GateStatus], required: tuple[str, ...]) -> list[str]:
    """A sentence for each required gate that is not armed. Gates that share an id must all be."""
    lines = []
    known = [gate.id for gate in found]
    for name in required:
        meant = [gate for gate in found if gate.id == name]
        if not meant:
            lines.append(f"`{name}` is not a gate of this project.{guess(name, known)}")
        lines += [gate.not_on for gate in meant if gate.state != "armed"]
    return lines


def _not_asked(here: ProjectStatus) -> list[str]:
    """A sentence for each agent that has our entry and does not ask the gates that are on."""
    silent = {table: agent for table, agent in here.agents.items() if agent.installed and agent.state == "off"}
    return [
        f"{name} does not ask the gates: {agent.why}"
        for name, agent in silent.items()
        if protected(here.gates) and agent.cause != "only_own_hooks"
    ]


def _not_on(found: list[GateStatus], off: list[GateStatus]) -> list[str]:
    if protected(found):
        return []
    return [gate.not_on for gate in off] or [
        "no gate is on that is asked before an action" if found else "this project has no gates"
    ]


def _together(some: list[GateStatus]) -> str:
    """A sentence about one gate that is not on, or about several of one pack for the same reason."""
    gate = together(some)
    if len(some) == 1:
        return gate.not_on
    return f"{_counted(len(some))} of `{owner(some[0])}` are {gate.not_on.removeprefix(f'`{gate.id}` is ')}"


def _counted(count: int) -> str:
    return f"{count} required gate{'' if count == 1 else 's'}"
