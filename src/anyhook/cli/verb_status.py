"""`anyhook status`: whether the guards of a project work, on one screen."""

from __future__ import annotations

import os
import shutil
import sys
from time import time_ns
from typing import TYPE_CHECKING

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import BAD, FAINT, GOOD, WARN, cell, drawn, grid, wants_colour
from anyhook.documents.files import Files
from anyhook.engine.catalog import build, with_interpreters
from anyhook.engine.routes import from_plan
from anyhook.gates.agents import agent_status, calling_agents, entry_files, gates_here, unheard
from anyhook.gates.gate import ITSELF, KEEP_WORKING, OFF_STATES, SAFE_STATES, protected, summary
from anyhook.gates.status import gates, grouped, owner
from anyhook.platform.places import state_dir, upward
from anyhook.replay.past import past_line
from anyhook.state.installs import Installs
from anyhook.state.kept_status import keep_status
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.registry import HOSTS, INSTALLABLE, dialect, host, past
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.engine.routes import Catalog
    from anyhook.gates.agents import AgentStatus
    from anyhook.gates.gate import GateStatus
    from anyhook.model.json_types import Json

STYLES = {"armed": GOOD, "native": GOOD, "unmatched": FAINT, "disabled": FAINT, "shadow": WARN, "uncovered": WARN}


class StatusOptions(JsonOptions):
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    short: bool = switch("--short", "Print one line, as for a shell prompt.")


@verb("status", StatusOptions, "anyhook status claude", [click.Argument(["agents"], nargs=-1, type=AGENT)])
def status(agents: tuple[str, ...], options: StatusOptions) -> int:
    """Show whether the guards of this project are on: hooks that can keep something from happening.

    With agents named, it shows whether each guard works in each of them. Starts nothing but `AGENT --version`, once for
    each agent with our entry whose package does not name its version.

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
    hosts = {} if tables else calling_agents(setup, catalog, may_start=True)
    seen, found = (catalog, []) if tables else gates_here(setup, catalog, hosts)
    for table in tables:
        alone = gates(setup, catalog, table)
        hosts[table.name], some = agent_status(table, setup, catalog, alone, may_start=True)
        found += some
    calling = [agent for agent in hosts.values() if agent.installed]
    blind = any(agent.sees_too_little for agent in calling)
    held = protected(found) and not blind and not (len(calling) == 1 and calling[0].changed)
    status = DONE if held else FINDINGS
    told, aside = _told(setup, seen, found, held, hosts, options, agents)
    for line in aside:  # before the rest, whose last line is the verdict
        render.say(line)
    for line in told:
        render.exact_out(line)
    if _may_be_kept(agents, options, hosts):
        printed = ("".join(f"{line}\n" for line in told), "".join(f"{line}\n" for line in aside), status)
        words = [word for word, given in (("--json", options.json), ("--short", options.short)) if given]
        elsewhere = any(agent.entry for agent in calling)
        files = _depends_on(setup, catalog, found) if catalog.complete and not elsewhere else None
        if files is not None:
            keep_status(setup, words, files.stamps, files.contents, printed, begun_ns)
    return status


def _told(
    setup: Setup,
    catalog: Catalog,
    found: list[GateStatus],
    held: bool,
    hosts: dict[str, AgentStatus],
    options: StatusOptions,
    named: tuple[str, ...],
) -> tuple[list[str], list[str]]:
    """The lines for stdout, and those for stderr."""
    if options.json:
        listed: list[Json] = [gate.as_dict() for gate in found]
        problems: list[Json] = [dict(problem.as_dict()) for problem in catalog.problems]
        root = repository_root(setup.project)
        told: dict[str, Json] = {"protected": held, "project": setup.project, "root": root, "gates": listed}
        agents: dict[str, Json] = {name: agent.as_dict() for name, agent in hosts.items()}
        return [render.json_text({**told, "agents": agents, "problems": problems}, 2)], []
    if options.short:
        return [render.plain(f"anyhook: {summary(found)}{unasked(hosts, held=protected(found))}")], []
    return _screen(setup, found, held, hosts, named=bool(named)), render.problem_lines(catalog.problems)


def _may_be_kept(agents: tuple[str, ...], options: StatusOptions, hosts: Mapping[str, AgentStatus]) -> bool:
    """Whether this output can be cached for the next call: not for named agents, for a terminal, or with what
    transcripts say."""
    told = any(agent.installed and past(name) is not None for name, agent in hosts.items())
    return not agents and (options.json or options.short or not (told or sys.stdout.isatty()))


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


def unasked(agents: Mapping[str, AgentStatus], *, held: bool) -> str:
    """What to add if guards are on, but some or all agents do not ask them, or ""."""
    if not held:
        return ""
    if not agents:
        return ", but no agent calls anyhook. Run: anyhook setup"
    off = {name: agent.why for name, agent in agents.items() if agent.state == "off"}
    if not off:
        return ""
    if all(agents[name].cause == "only_own_hooks" for name in off):
        return f", but not through anyhook in {', '.join(off)}: {ITSELF}"
    verb = "does" if len(off) == 1 else "do"
    return f", but {', '.join(off)} {verb} not ask them: {next(iter(off.values()))}"


def _screen(
    setup: Setup, found: list[GateStatus], held: bool, hosts: Mapping[str, AgentStatus], *, named: bool
) -> list[str]:
    """The agents, then the gates, and the verdict last."""
    lines = [*_agent_lines(setup, hosts), *([] if named else _other_agents(setup, hosts))]
    table = grid()
    table.add_column(min_width=10, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for gate, alike in grouped(found):
        event = gate.event or "any event"
        place = f"{gate.agent}: {event}" if gate.agent else event
        if alike > 1:
            place = f"{place}: {alike} {'hooks' if gate.event in KEEP_WORKING else 'guards'}"
        agent = hosts.get(gate.agent or "")
        told_above = agent is not None and agent.why == gate.why
        why = f"  ({gate.why})" if gate.why and not told_above else ""
        fix = f"  → {gate.fix}" if gate.fix and gate.state not in SAFE_STATES else ""
        style = STYLES.get(gate.state, BAD if gate.state in OFF_STATES else "")
        called = owner(gate) if alike > 1 else gate.id
        table.add_row(cell(gate.state, style), cell(called), cell(f"{place}{why}{fix}"))
    if found:
        lines += map(render.legible, drawn(table, render.columns(), colour=wants_colour(os.environ)))
    return [*lines, _verdict(found, held, hosts)]


def _verdict(found: list[GateStatus], held: bool, hosts: Mapping[str, AgentStatus]) -> str:
    alone = unasked(hosts, held=protected(found))
    word = "NOT PROTECTED" if not held else "GUARDS ON" if alone else "PROTECTED"
    return render.plain(f"{word}: {summary(found)}{alone}")


def _other_agents(setup: Setup, hosts: Mapping[str, AgentStatus]) -> list[str]:
    """Agents on this machine without our entry, and how many others there could be."""
    path = setup.env.get("PATH")
    others = [name for name in INSTALLABLE if name not in hosts]
    here = [name for name in others if shutil.which(host(name).program, path=path)]
    lines = [f"{name}: here, but without our entry. Run: anyhook install {name}" for name in here]
    if hosts or here:
        lines.append(f"{len(others) - len(here)} others not found; `anyhook doctor --all` shows them.")
    return lines


def _agent_lines(setup: Setup, hosts: Mapping[str, AgentStatus]) -> list[str]:
    """What there is to know about each agent."""
    lines: list[str] = []
    state, roots = state_dir(setup.env), setup.roots(())
    known = Installs(state).known
    for name, each in hosts.items():
        lines.append(render.plain(f"{name}: {each.state}" + (f" ({each.why})" if each.why else "")))
        told = past_line(state, name, past(name) if each.installed else None, roots, known)
        lines += filter(None, [render.plain(f"  transcripts: {told}") if told else "", unheard(host(name))])
    return lines
