"""The line above the journal: whether the folder in which a view was opened is protected."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.cli.render import short_path
from anyhook.cli.verb_status import unasked
from anyhook.engine.catalog import build
from anyhook.gates.agents import calling_agents, gates_here
from anyhook.gates.gate import not_holding, off_line, protected, summary
from anyhook.gates.tell import guards_not_holding
from anyhook.platform.places import state_dir
from anyhook.replay.past import past_line
from anyhook.state.installs import Installs
from anyhook.state.plans import Setup
from anyhook.tables.registry import past

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
        agents = calling_agents(setup, catalog)
        _, found = gates_here(setup, catalog, agents)
        alone = unasked(agents, held=protected(found)) if agents else ""
        return f"{short_path(project)}: {summary(found)}{alone}" if alone else ""

    return line


def standing_of(project: str, env: Mapping[str, str]) -> Callable[[], tuple[bool, str]]:
    """The same for a view that also shows success: whether the folder is protected, and the line."""
    off = banner_of(project, env)
    home = env.get("HOME") or "/"
    folder = f"~/{os.path.relpath(project, home)}" if project.startswith(f"{home}/") else project

    def standing() -> tuple[bool, str]:
        setup = Setup.of(project, dict(env))
        catalog = build(setup, may_start=False)
        agents = calling_agents(setup, catalog)
        _, found = gates_here(setup, catalog, agents)
        if not protected(found):
            told = off() or f"{folder}: {summary(found)}"
            return False, f"Not protected. {told}" + ("" if not_holding(found) else ". Run: anyhook setup")
        if alone := unasked(agents, held=True):
            return False, f"Not protected. {folder}: {summary(found)}{alone}"
        state, roots = state_dir(env), setup.roots(())
        known = Installs(state).known
        said = {name: past_line(state, name, past(name), roots, known) for name in agents}
        lines = [f"{name}: {line}" for name, line in said.items() if line]
        return True, ". ".join(("Protected", f"{folder}: {summary(found)}", *lines))

    return standing


def here() -> Callable[[], str]:
    """For the current folder."""
    return banner_of(os.getcwd(), os.environ)
