"""`anyhook status`: whether the guards of a project work, on one screen."""

from __future__ import annotations

import os
import sys
from time import time_ns
from typing import TYPE_CHECKING

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import cell, drawn, grid
from anyhook.cli.view.styles import BAD, FAINT, GOOD, WARN, wants_colour
from anyhook.documents.files import Files
from anyhook.documents.places import upward
from anyhook.state.kept_status import keep_status
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.registry import HOSTS, dialect, host
from anyhook.tables.shapes import guess
from anyhook.walk.agent_status import agent_status, calling_agents, entry_files, unheard
from anyhook.walk.build import build
from anyhook.walk.routes import from_plan
from anyhook.walk.status import OFF_STATES, SAFE_STATES, gates, not_holding, protected
from anyhook.walk.trust import with_interpreters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.documents.places import Stamp
    from anyhook.model.json_types import Json
    from anyhook.walk.agent_status import AgentStatus
    from anyhook.walk.routes import Catalog
    from anyhook.walk.status import GateStatus

STYLES = {"armed": GOOD, "native": GOOD, "unmatched": FAINT, "disabled": FAINT, "shadow": WARN, "uncovered": WARN}


class StatusOptions(JsonOptions):
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    short: bool = switch("--short", "Print one line, as for a shell prompt.")


@verb("status", StatusOptions, "anyhook status claude", [click.Argument(["agents"], nargs=-1, type=AGENT)])
def status(agents: tuple[str, ...], options: StatusOptions) -> int:
    """Show whether the guards of this project are on: hooks that can keep something from happening.

    With agents named, it shows whether each guard works in each of them. Starts nothing.

    \b
    Exit status: 0 protected, 1 not, 3 bad call.
    """
    for name in agents:
        if name not in HOSTS:
            raise BadCall(f"there is no agent `{name}`.{guess(name, HOSTS)} Agents: {', '.join(HOSTS)}.")
    begun_ns = time_ns()
    setup = Setup.of(project_of(options.project), dict(os.environ))
    catalog = _catalog(setup)
    tables = [host(name) for name in dict.fromkeys(agents)]
    found = [] if tables else gates(setup, catalog)
    hosts = {} if tables else calling_agents(setup, catalog)
    for table in tables:
        hosts[table.name], some = agent_status(table, setup, catalog, gates(setup, catalog, table))
        found += some
    held = protected(found)
    status = DONE if held else FINDINGS
    told, aside = _told(setup, catalog, found, held, hosts, options)
    for line in told:
        render.exact_out(line)
    for line in aside:
        render.say(line)
    if _may_be_kept(agents, options):
        printed = ("".join(f"{line}\n" for line in told), "".join(f"{line}\n" for line in aside), status)
        words = [word for word, given in (("--json", options.json), ("--short", options.short)) if given]
        stamps = _depends_on(setup, catalog, found) if catalog.complete else {}
        if stamps:
            keep_status(setup, words, stamps, printed, begun_ns)
    return status


def _told(
    setup: Setup,
    catalog: Catalog,
    found: list[GateStatus],
    held: bool,
    hosts: dict[str, AgentStatus],
    options: StatusOptions,
) -> tuple[list[str], list[str]]:
    """The lines for stdout, and those for stderr."""
    if options.json:
        listed: list[Json] = [gate.as_dict() for gate in found]
        problems: list[Json] = [dict(problem.as_dict()) for problem in catalog.problems]
        root = _root(setup.project)
        told: dict[str, Json] = {"protected": held, "project": setup.project, "root": root, "gates": listed}
        agents: dict[str, Json] = {name: agent.as_dict() for name, agent in hosts.items()}
        return [render.json_text({**told, "agents": agents, "problems": problems}, 2)], []
    if options.short:
        return [render.plain(f"anyhook: {summary(found)}{unasked(held, hosts)}")], []
    return _screen(found, held, hosts), render.problem_lines(catalog.problems)


def _may_be_kept(agents: tuple[str, ...], options: StatusOptions) -> bool:
    """Whether this output can be cached for the next call: not for named agents, and not for a terminal."""
    plain = options.json or options.short or not sys.stdout.isatty()
    return not agents and plain


def _depends_on(setup: Setup, catalog: Catalog, found: list[GateStatus]) -> dict[str, Stamp | None]:
    """Everything that the state of the gates depends on; {} if that is unknown."""
    if any(gate.state == "broken" for gate in found) or any(hook.handler == "python" for hook in catalog.hooks):
        return {}  # a missing program may appear anywhere
    files = Files()
    files.stamps.update(catalog.stamps)
    for folder in setup.env.get("PATH", "").split(":"):
        files.look(folder or setup.project)
    home = setup.env.get("HOME", "")
    for hook in catalog.hooks:
        if hook.handler == "command":
            named = dialect(hook.dialect).names(hook, files, hook.project or setup.project, home)
            with_interpreters([*named], setup.roots(()), files)
    for folder in upward(setup.project, "/"):
        files.look(f"{folder}/.git")
    for path in entry_files(setup):
        files.look(path)
    return files.stamps


def _catalog(setup: Setup) -> Catalog:
    """From its plan if that is still valid, otherwise from the files, without running any executable."""
    return from_plan(read_plan(setup)) or build(setup, may_start=False).with_lines()


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
    off = not_holding(found)
    said = f"{on} guard{'' if on == 1 else 's'} on"
    if not off:
        return said if on else "no guard is on"
    first = off[0]
    more = f" and {len(off) - 1} more" if len(off) > 1 else ""
    help_ = f". Run: {first.fix}" if first.fix.startswith("anyhook") else ""
    return f"{said}; {len(off)} OFF: {first.name} ({first.state}){more}{help_}"


MIN_ALIKE = 4
"""If a file has at least this many guards that are on, they share a line; `anyhook list` shows each."""


def _grouped(found: list[GateStatus]) -> list[tuple[GateStatus, int]]:
    """The gates in order, each with the number of gates on its line: those of one file that are on share a line."""
    together: dict[object, list[GateStatus]] = {}
    for place, gate in enumerate(found):
        key = (gate.agent, gate.event, gate.source.rpartition(":")[0], _owner(gate)) if gate.state == "armed" else place
        together.setdefault(key, []).append(gate)
    rows: list[tuple[GateStatus, int]] = []
    for some in together.values():
        rows += [(some[0], len(some))] if len(some) >= MIN_ALIKE else [(gate, 1) for gate in some]
    return rows


def _owner(gate: GateStatus) -> str:
    """The part of an id that the gates of one file share."""
    return gate.id.partition(f":{gate.event}:")[0]


def unasked(held: bool, agents: Mapping[str, AgentStatus]) -> str:
    """What to add if guards are on, but some or all agents do not ask them, or ""."""
    if not held:
        return ""
    if not agents:
        return ", but no agent calls anyhook. Run: anyhook setup"
    off = {name: agent.why for name, agent in agents.items() if agent.state == "off"}
    if not off:
        return ""
    verb = "does" if len(off) == 1 else "do"
    return f", but {', '.join(off)} {verb} not ask them: {next(iter(off.values()))}"


def _screen(found: list[GateStatus], held: bool, hosts: Mapping[str, AgentStatus]) -> list[str]:
    alone = unasked(held, hosts)
    word = "GUARDS ON" if alone else "PROTECTED" if held else "NOT PROTECTED"
    lines = [render.plain(f"{word}: {summary(found)}{alone}")]
    table = grid()
    table.add_column(min_width=10, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for gate, alike in _grouped(found):
        event = gate.event or "any event"
        place = f"{gate.agent}: {event}" if gate.agent else event
        if alike > 1:
            table.add_row(
                cell(gate.state, STYLES.get(gate.state, "")), cell(_owner(gate)), cell(f"{place}: {alike} guards")
            )
            continue
        why = f"  ({gate.why})" if gate.why else ""
        fix = f"  → {gate.fix}" if gate.fix and gate.state not in SAFE_STATES else ""
        style = STYLES.get(gate.state, BAD if gate.state in OFF_STATES else "")
        table.add_row(cell(gate.state, style), cell(gate.id), cell(f"{place}{why}{fix}"))
    if found:
        lines += map(render.legible, drawn(table, render.columns(), wants_colour(os.environ)))
    for name, agent in hosts.items():
        lines.append(render.plain(f"{name}: {agent.state}" + (f" ({agent.why})" if agent.why else "")))
        lines += filter(None, [unheard(host(name))])
    return lines
