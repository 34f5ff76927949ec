"""What `anyhook` without arguments shows: whether this project is protected, in which agents, and the next step."""

from __future__ import annotations

import os
import shutil

from anyhook import __version__
from anyhook.cli import DONE, render
from anyhook.cli.view.console import wrapped
from anyhook.engine.catalog import build
from anyhook.gates.agents import calling_agents, gates_here
from anyhook.gates.gate import OWN_COMMAND, not_holding, summary
from anyhook.install.changes import CannotChange
from anyhook.install.used_packs import rule_file, used_in
from anyhook.rules.pack_list import GUARDS
from anyhook.state.plans import Setup
from anyhook.tables.registry import INSTALLABLE, host


def greet() -> int:
    """Three lines and one step. Starts nothing."""
    setup = Setup.of(os.getcwd(), dict(os.environ))
    catalog = build(setup, may_start=False)
    render.out(f"anyhook {__version__}: one runtime for the hooks of coding agents")
    agents = calling_agents(setup, catalog)
    _, found_gates = gates_here(setup, catalog, agents)
    render.out(f"  guards  {summary(found_gates)}")
    calling = [name for name, agent in agents.items() if agent.installed and not agent.dead and not agent.waits]
    dead = [name for name, agent in agents.items() if agent.dead]
    blocked = [name for name, agent in agents.items() if not agent.installed]
    waiting = [name for name, agent in agents.items() if agent.waits and not agent.dead]
    found = [name for name in INSTALLABLE if name not in agents and shutil.which(host(name).program)]
    parts = [
        f"{', '.join(calling)} call{'s' if len(calling) == 1 else ''} anyhook" if calling else "none calls anyhook"
    ]
    parts += [f"{', '.join(dead)}: the entry does not work"] if dead else []
    parts += [f"{', '.join(blocked)}: the entry cannot be added"] if blocked else []
    parts += [f"{', '.join(waiting)}: waits for your approval there"] if waiting else []
    parts += [f"found without it: {', '.join(found)}"] if found else []
    for line in wrapped("; ".join(parts), "  agents  ", " " * 10):
        render.out(line)
    ours = [gate.fix for gate in not_holding(found_gates) if gate.fix.startswith(OWN_COMMAND)]
    render.out(f"  next    {ours[0] if ours else _next(setup, calling, found, [*dead, *blocked, *waiting])}")
    render.say("`anyhook --help` lists all verbs.")
    return DONE


def _next(setup: Setup, calling: list[str], found: list[str], dead: list[str]) -> str:
    try:
        used = [name for scope in ("user", "project") for name in used_in(rule_file(scope, setup.project, setup.env))]
    except CannotChange as why:
        return f"anyhook check   ({why})"
    if dead:
        return f"anyhook doctor {dead[0]}"
    if not set(used) & set(GUARDS):
        return "anyhook setup" if found or not calling else "anyhook add guard"
    if len(found) > 1:
        return "anyhook setup"
    if found or not calling:
        return f"anyhook install {found[0] if found else 'AGENT'}"
    return "anyhook doctor --live   (runs your agents once, and checks that a refusal works)"
