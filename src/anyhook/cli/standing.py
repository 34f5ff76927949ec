"""How a project stands: the guards that hold there, and the agents that ask them. `status`, the line above the journal,
the page and the greeting read one value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from anyhook.cli.render import short_path
from anyhook.engine.catalog import build
from anyhook.engine.match import Catalog
from anyhook.gates.agents import AgentStatus, calling_agents, gates_here
from anyhook.gates.gate import ITSELF, GateStatus, not_holding, off_line, protected, summary
from anyhook.gates.tell import guards_not_holding
from anyhook.model.record import Record
from anyhook.platform.places import state_dir
from anyhook.replay.past import PastLine, past_line
from anyhook.state.installs import Installs
from anyhook.state.plans import Setup
from anyhook.tables.registry import past


class ProjectStatus(Record):
    """The guards of a project, and the agents that ask them."""

    setup: Setup
    catalog: Catalog
    gates: list[GateStatus]
    agents: dict[str, AgentStatus]
    named: bool = False
    """Whether the caller named the agents."""

    @property
    def calling(self) -> list[AgentStatus]:
        return [agent for agent in self.agents.values() if agent.installed]

    @property
    def held(self) -> bool:
        calling = self.calling
        blind = any(agent.sees_too_little for agent in calling)
        return protected(self.gates) and not blind and not (len(calling) == 1 and calling[0].changed)

    @property
    def told(self) -> str:
        """How many guards are on, and what is wrong with the agents."""
        return f"{summary(self.gates)}{self.unasked}"

    @property
    def unasked(self) -> str:
        """What to add if guards are on, but some or all agents do not ask them, or ""."""
        if not protected(self.gates):
            return ""
        if not self.agents:
            return ", but no agent calls anyhook. Run: anyhook setup"
        off = {name: agent.why for name, agent in self.agents.items() if agent.state == "off"}
        if not off:
            return ""
        if all(self.agents[name].cause == "only_own_hooks" for name in off):
            return f", but not through anyhook in {', '.join(off)}: {ITSELF}"
        verb = "does" if len(off) == 1 else "do"
        return f", but {', '.join(off)} {verb} not ask them: {next(iter(off.values()))}"

    @property
    def word(self) -> str:
        """The verdict."""
        return "NOT PROTECTED" if not self.held else "GUARDS ON" if self.unasked else "PROTECTED"

    def transcripts(self) -> dict[str, PastLine]:
        """What the last comparison with each agent's transcripts has shown, where there was one."""
        state, roots = state_dir(self.setup.env), self.setup.roots(())
        known = Installs(state).known
        said = {name: past_line(state, name, past(name), roots, known) for name in self.agents}
        return {name: line for name, line in said.items() if line is not None}


def status_of(setup: Setup, catalog: Catalog | None = None, *, may_start: bool = False) -> ProjectStatus:
    """As the agents see it that have our entry. With `may_start` they are asked for their versions."""
    catalog = catalog or build(setup, may_start=False)
    agents = calling_agents(setup, catalog, may_start=may_start)
    return ProjectStatus(setup, *gates_here(setup, catalog, agents), agents)


def banner_of(project: str, env: Mapping[str, str]) -> Callable[[], str]:
    """A function that returns the current line: which guards are off, or which agent does not ask them. "" if neither
    is so or the folder does not exist."""

    def line() -> str:
        try:
            setup = Setup.of(project, dict(env))
        except OSError:
            return ""
        catalog = build(setup, may_start=False)
        if off := guards_not_holding(setup, catalog):
            return f"{short_path(project)}: {off_line(off).removeprefix('anyhook: ')}"
        here = status_of(setup, catalog)
        return f"{short_path(project)}: {here.told}" if here.agents and here.unasked else ""

    return line


def standing_of(project: str, env: Mapping[str, str]) -> Callable[[], tuple[bool, str]]:
    """The same for a view that also shows success: whether all is well, which it is not where transcripts of the last
    day show a call that was not guarded; and the line."""
    off = banner_of(project, env)
    home = env.get("HOME") or "/"
    folder = f"~/{os.path.relpath(project, home)}" if project.startswith(f"{home}/") else project

    def standing() -> tuple[bool, str]:
        here = status_of(Setup.of(project, dict(env)))
        if not protected(here.gates):
            told = off() or f"{folder}: {summary(here.gates)}"
            return False, f"Not protected. {told}" + ("" if not_holding(here.gates) else ". Run: anyhook setup")
        if here.unasked:
            return False, f"{here.word.capitalize()}. {folder}: {here.told}"
        past = here.transcripts()
        word = "Protected" if (well := all(line.is_clean for line in past.values())) else "On now, but not always"
        lines = [f"{name}: {line.said}" for name, line in past.items()]
        return well, ". ".join((word, f"{folder}: {summary(here.gates)}", *lines))

    return standing


def here() -> Callable[[], str]:
    """For the current folder."""
    return banner_of(os.getcwd(), os.environ)
