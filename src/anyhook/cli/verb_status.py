"""`anyhook status`: whether the guards of a project hold, on one screen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from anyhook.cli.failure import DONE, FINDINGS, BadCall
from anyhook.cli.fire import project_of
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.cli.view.console import cell, grid, show
from anyhook.cli.view.styles import BAD, FAINT, GOOD, WARN
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.registry import HOSTS, host
from anyhook.tables.shapes import guess
from anyhook.walk.agent_status import agent_status
from anyhook.walk.build import build
from anyhook.walk.routes import from_plan
from anyhook.walk.status import OFF_STATES, SAFE_STATES, gates, protected

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.walk.routes import Catalog
    from anyhook.walk.status import GateStatus

STYLES = {"armed": GOOD, "native": GOOD, "unmatched": FAINT, "disabled": FAINT, "shadow": WARN, "uncovered": WARN}


class StatusOptions(JsonOptions):
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    short: bool = switch("--short", "Print one line, as for a shell prompt.")


@verb("status", StatusOptions, "anyhook status claude", [click.Argument(["agents"], nargs=-1)])
def status(agents: tuple[str, ...], options: StatusOptions) -> int:
    """Show whether the guards of this project are on: hooks that can keep something from happening.

    With agents named, it shows whether each guard holds in each of them. Starts nothing.

    \b
    Exit status: 0 protected, 1 not, 3 bad call.
    """
    for name in agents:
        if name not in HOSTS:
            raise BadCall(f"there is no agent `{name}`.{guess(name, HOSTS)} Agents: {', '.join(HOSTS)}.")
    setup = Setup.of(project_of(options.project), dict(os.environ))
    catalog = _catalog(setup)
    tables = [host(name) for name in dict.fromkeys(agents)]
    each = [gates(setup, catalog, table) for table in tables] if tables else [gates(setup, catalog)]
    found = [gate for some in each for gate in some]
    held = protected(found)
    hosts = {table.name: agent_status(table, setup, some).as_dict() for table, some in zip(tables, each, strict=False)}
    if options.json:
        listed: list[Json] = [gate.as_dict() for gate in found]
        problems: list[Json] = [dict(problem.as_dict()) for problem in catalog.problems]
        root = _root(setup.project)
        told: dict[str, Json] = {"protected": held, "project": setup.project, "root": root, "gates": listed}
        render.json_out({**told, "agents": {**hosts}, "problems": problems}, indent=2)
    elif options.short:
        render.out(f"anyhook: {summary(found)}")
    else:
        _screen(found, held, hosts)
        for line in render.problem_lines(catalog.problems):
            render.say(line)
    return DONE if held else FINDINGS


def _catalog(setup: Setup) -> Catalog:
    """From its plan where that still holds; else from the files, without asking any executable for its event."""
    plan = read_plan(setup)
    return (from_plan(plan) if plan is not None else None) or build(setup, may_start=False).with_lines()


def _root(project: str) -> str | None:
    """The repository's root: the nearest folder upwards that has a `.git`."""
    folder = project
    while not os.path.lexists(f"{folder}/.git"):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return folder


def summary(found: list[GateStatus]) -> str:
    """All guards in one line."""
    on = sum(gate.state == "armed" for gate in found)
    off = [gate for gate in found if gate.state not in SAFE_STATES and not gate.excused]
    said = f"{on} guard{'' if on == 1 else 's'} on"
    if not off:
        return said if on else "no guard is on"
    first = off[0]
    more = f" and {len(off) - 1} more" if len(off) > 1 else ""
    help_ = f". Run: {first.fix}" if first.fix.startswith("anyhook") else ""
    return f"{said}; {len(off)} OFF: {first.name} ({first.state}){more}{help_}"


def _screen(found: list[GateStatus], held: bool, hosts: dict[str, dict[str, Json]]) -> None:
    render.out(f"{'PROTECTED' if held else 'NOT PROTECTED'}: {summary(found)}")
    table = grid()
    table.add_column(min_width=10, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for gate in found:
        event = gate.event or "any event"
        place = f"{gate.agent}: {event}" if gate.agent else event
        why = f"  ({gate.why})" if gate.why else ""
        fix = f"  → {gate.fix}" if gate.fix and gate.state not in SAFE_STATES else ""
        style = STYLES.get(gate.state, BAD if gate.state in OFF_STATES else "")
        table.add_row(cell(gate.state, style), cell(gate.id), cell(f"{place}{why}{fix}"))
    if found:
        show(table)
    for name, agent in hosts.items():
        render.out(f"{name}: {agent['state']}" + (f" ({agent['why']})" if agent["why"] else ""))
