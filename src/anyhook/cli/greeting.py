"""What `anyhook` without arguments shows: whether this project is protected, in which agents, and the next step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from anyhook import __version__
from anyhook.cli import DONE, render
from anyhook.cli.standing import status_of
from anyhook.cli.view.console import prefixed
from anyhook.gates.agents import AgentStatus
from anyhook.gates.gate import OWN_COMMAND, not_holding, summary, together
from anyhook.install.changes import CannotChange
from anyhook.install.used_packs import rule_file, used_in
from anyhook.rules.pack_list import GUARDS
from anyhook.state.plans import Setup
from anyhook.tables.registry import INSTALLABLE, hosts

STUCK = {
    "dead": "the entry does not work",
    "blocked": "the entry cannot be added",
    "waits": "waits for your approval there",
}


def greet() -> int:
    """Three lines and one step. Starts nothing."""
    setup = Setup.of(os.getcwd(), dict(os.environ))
    here = status_of(setup)
    render.out(f"anyhook {__version__}: one runtime for the hooks of coding agents")
    render.out(f"  guards  {summary(here.gates)}")
    line, stuck, calling, found = _standing(here.agents)
    for each in prefixed(line, "  agents  ", " " * 10):
        render.out(each)
    off = not_holding(here.gates)
    ours = [gate.fix for gate in (together(off), *off) if gate.fix.startswith(OWN_COMMAND)] if off else []
    render.out(f"  next    {ours[0] if ours else _next(setup, calling, found, stuck)}")
    render.say("`anyhook --help` lists all verbs.")
    return DONE


def _standing(agents: Mapping[str, AgentStatus]) -> tuple[str, list[str], list[str], list[str]]:
    """How the agents stand, in one line; those that are stuck, those that call us, and those without an entry."""
    stand: dict[str, list[str]] = {word: [] for word in (*STUCK, "calls")}
    for name, agent in agents.items():
        stand[_word(agent)].append(name)
    calling, stuck = stand["calls"], {word: stand[word] for word in STUCK if stand[word]}
    found = [table.name for table in hosts(INSTALLABLE) if table.name not in agents and shutil.which(table.program)]
    calls = f"{', '.join(calling)} call{'s' if len(calling) == 1 else ''} anyhook" if calling else "none calls anyhook"
    parts = [calls, *(f"{', '.join(names)}: {STUCK[word]}" for word, names in stuck.items())]
    parts += [f"found without it: {', '.join(found)}"] if found else []
    return "; ".join(parts), [name for names in stuck.values() for name in names], calling, found


def _word(agent: AgentStatus) -> str:
    if not agent.installed:
        return "blocked"
    return "dead" if agent.dead else "waits" if agent.waits else "calls"


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
