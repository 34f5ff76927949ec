"""`anyhook status`: whether the guards of a project work, on one screen."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from time import time_ns

import click

from anyhook.cli import DONE, FINDINGS, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, ProjectOption, switch
from anyhook.cli.standing import ProjectStatus, status_of
from anyhook.cli.verbs import check_agents, verb
from anyhook.cli.view.console import BAD, FAINT, GOOD, WARN, cell, drawn, grid, prefixed, wants_colour
from anyhook.documents.files import Files
from anyhook.engine.catalog import build, with_interpreters
from anyhook.engine.match import Catalog
from anyhook.engine.routes import from_plan
from anyhook.gates.agents import AgentStatus, agent_status, entry_files, unheard
from anyhook.gates.gate import KEEP_WORKING, OFF_STATES, SAFE_STATES, GateStatus, together
from anyhook.gates.status import gates, grouped, owner
from anyhook.model.json_types import JsonView
from anyhook.platform.places import upward
from anyhook.state.kept_status import keep_status
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.registry import INSTALLABLE, dialect, host, hosts, past

STYLES = {"armed": GOOD, "native": GOOD, "unmatched": FAINT, "disabled": FAINT, "shadow": WARN, "uncovered": WARN}


class StatusOptions(JsonOptions, ProjectOption):
    short: bool = switch("--short", "Print one line, as for a shell prompt.")


@verb("status", StatusOptions, "anyhook status claude", [click.Argument(["agents"], nargs=-1, type=AGENT)])
def status(agents: tuple[str, ...], options: StatusOptions) -> int:
    """Show whether the guards of this project are on: hooks that can keep something from happening.

    With agents named, it shows whether each guard works in each of them. Starts nothing but `AGENT --version`, once for
    each agent with our entry whose package does not name its version.

    \b
    Exit status: 0 protected, 1 not, 3 bad call.
    """
    check_agents(agents)
    begun_ns = time_ns()
    setup = Setup.of(project_of(options.project), dict(os.environ))
    catalog = _catalog(setup)
    here = _named(agents, setup, catalog) if agents else status_of(setup, catalog, may_start=True)
    status = DONE if here.held else FINDINGS
    told, aside = _told(here, options)
    for line in aside:  # before the rest, whose last line is the verdict
        render.say(line)
    for line in told:
        render.exact_out(line)
    files = _depends_on(setup, catalog, here.gates) if _may_be_kept(here, options) else None
    if files is not None:
        printed = ("".join(f"{line}\n" for line in told), "".join(f"{line}\n" for line in aside), status)
        words = [word for word, given in (("--json", options.json), ("--short", options.short)) if given]
        keep_status(setup, words, files.stamps, files.contents, printed, begun_ns)
    return status


def _named(names: tuple[str, ...], setup: Setup, catalog: Catalog) -> ProjectStatus:
    here = ProjectStatus(setup, catalog, [], {}, named=True)
    for table in map(host, dict.fromkeys(names)):
        alone = gates(setup, catalog, table)
        here.agents[table.name], some = agent_status(table, setup, catalog, alone, may_start=True)
        here.gates.extend(some)
    return here


def _told(here: ProjectStatus, options: StatusOptions) -> tuple[list[str], list[str]]:
    """The lines for stdout, and those for stderr."""
    setup, problems = here.setup, here.catalog.problems
    if options.json:
        told: dict[str, JsonView] = {
            "protected": here.held,
            "project": setup.project,
            "root": repository_root(setup.project),
            "gates": [gate.as_dict() for gate in here.gates],
            "agents": {name: agent.as_dict() for name, agent in here.agents.items()},
            "problems": [problem.as_dict() for problem in problems],
        }
        return [render.json_text(told, 2)], []
    if options.short:
        return [render.plain(f"anyhook: {here.told}")], []
    return _screen(here), render.problem_lines(problems)


def _may_be_kept(here: ProjectStatus, options: StatusOptions) -> bool:
    """Whether this output can be cached for the next call: not for named agents, for a terminal, with what transcripts
    say, or if an entry fixes other places."""
    if here.named or not here.catalog.complete or any(agent.entry for agent in here.calling):
        return False
    told = any(agent.installed and past(name) is not None for name, agent in here.agents.items())
    return options.json or options.short or not (told or sys.stdout.isatty())


def _depends_on(setup: Setup, catalog: Catalog, found: list[GateStatus]) -> Files | None:
    """Everything that the state of the gates depends on; None if that is unknown."""
    if any(gate.state == "broken" for gate in found) or any(hook.handler == "python" for hook in catalog.hooks):
        return None  # a missing program may appear anywhere
    files = Files()
    files.stamps.update(catalog.stamps)
    files.contents.update(catalog.contents)
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
        files.watch(path)
    for table in map(host, INSTALLABLE):
        if program := shutil.which(table.program, path=setup.env.get("PATH")):
            files.look(os.path.realpath(program))
    return files


def _catalog(setup: Setup) -> Catalog:
    """From its plan if that is still valid, otherwise from the files, without running any executable."""
    return from_plan(read_plan(setup)) or build(setup, may_start=False).with_lines()


def repository_root(project: str) -> str | None:
    """The repository's root: the nearest folder upwards that has a `.git`."""
    folder = project
    while not os.path.lexists(f"{folder}/.git"):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return folder


def _screen(here: ProjectStatus) -> list[str]:
    """The agents, then the gates, and the verdict last."""
    lines = [*_agent_lines(here), *([] if here.named else _other_agents(here.setup, here.agents))]
    table = grid()
    table.add_column(min_width=10, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for some in grouped(here.gates):
        gate = some[0]
        style = STYLES.get(gate.state, BAD if gate.state in OFF_STATES else "")
        called = owner(gate) if len(some) > 1 else gate.id
        table.add_row(cell(gate.state, style), cell(called), cell(_about(some, here.agents)))
    if here.gates:
        lines += map(render.legible, drawn(table, render.columns(), colour=wants_colour(os.environ)))
    return [*lines, *_wrapped(f"{here.word}: {here.told}")]


def _wrapped(text: str, first: str = "") -> list[str]:
    return [render.plain(line) for line in prefixed(text, first, f"{first}  ")]


def _about(some: list[GateStatus], agents: Mapping[str, AgentStatus]) -> str:
    """Where the gates of a line are asked, and what is wrong with them."""
    gate, events = together(some), dict.fromkeys(each.event or "any event" for each in some)
    place = (f"{gate.agent}: " if gate.agent else "") + ", ".join(events)
    if len(some) > 1:
        place += f": {len(some)} {'hooks' if set(events) <= set(KEEP_WORKING) else 'guards'}"
    agent = agents.get(gate.agent or "")
    told_above = agent is not None and agent.why == gate.why
    why = f"  ({gate.why})" if gate.why and not told_above else ""
    fix = f"  → {gate.fix}" if gate.fix and gate.state not in SAFE_STATES else ""
    return f"{place}{why}{fix}"


def _other_agents(setup: Setup, calling: Mapping[str, AgentStatus]) -> list[str]:
    """Agents on this machine without our entry, and how many others there could be."""
    path = setup.env.get("PATH")
    others = [name for name in INSTALLABLE if name not in calling]
    here = [table.name for table in hosts(others) if shutil.which(table.program, path=path)]
    lines = [f"{name}: here, but without our entry. Run: anyhook install {name}" for name in here]
    if calling or here:
        lines.append(f"{len(others) - len(here)} others not found; `anyhook doctor --all` shows them.")
    return lines


def _agent_lines(here: ProjectStatus) -> list[str]:
    """What there is to know about each agent."""
    lines: list[str] = []
    transcripts = here.transcripts()
    for name, each in here.agents.items():
        lines += _wrapped(f"{name}: {each.state}" + (f" ({each.why})" if each.why else ""))
        told = transcripts.get(name) if each.installed else None
        lines += _wrapped(f"transcripts: {told.said}", "  ") if told else []
        lines += filter(None, [unheard(host(name))])
    return lines
