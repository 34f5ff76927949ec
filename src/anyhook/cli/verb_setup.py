"""`anyhook setup`: from nothing to a refused command, in one step. It finds the agents on this machine, turns the
guards on, installs, proves that a refusal works, and says how to undo it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, ProjectOption, switch
from anyhook.cli.person import may_change
from anyhook.cli.undo import changing, tell_undo, undo
from anyhook.cli.verb_add import remember
from anyhook.cli.verb_install import InstallOptions, apply
from anyhook.cli.verbs import check_agents, verb
from anyhook.cli.view.console import prefixed
from anyhook.engine.engine import Engine
from anyhook.gates.agents import unheard
from anyhook.gates.diagnosis import ARMED, INERT, NOT_INSTALLED, diagnose
from anyhook.gates.versions import version
from anyhook.install.used_packs import change_used, rule_file, used_in
from anyhook.journal.search import PROOF
from anyhook.model.event import Event
from anyhook.model.json_types import Json, JsonView
from anyhook.model.record import Record
from anyhook.platform.places import home_of
from anyhook.rules.pack_list import GUARD, GUARDS, read_pack
from anyhook.satellites import needed
from anyhook.tables.host_rows import Host
from anyhook.tables.registry import INSTALLABLE, host

TRIED = "git push --force origin main"
"""The command for the proof. It is judged, but never run."""
STANDING = {ARMED: "a refusal held", INERT: "OFF, does NOT work"}
"""What is known for certain about an agent."""
PROVEN = {"block": "refused", "ask": "asks you"}
LIMIT_S = 60.0


class SetupOptions(JsonOptions, ProjectOption):
    yes: bool = switch("--yes", "Do it without asking.")
    dry_run: bool = switch("--dry-run", "Show what would be done, and do nothing.")
    live: bool = switch("--live", "Also run each agent once, offline, and check that a refusal works.")


class AgentSetup(Record):
    """One agent, before and after."""

    name: str
    title: str
    found: bool
    installed: bool
    status: str = ""
    reason: str = ""
    approved: bool = False
    """Whether the agent's own record approves our entry."""

    def as_dict(self) -> dict[str, Json]:
        known: dict[str, Json] = {"agent": self.name, "found": self.found, "installed": self.installed}
        return {**known, "status": self.status, "reason": self.reason}


@verb("setup", SetupOptions, "anyhook setup --dry-run", [click.Argument(["agents"], nargs=-1, type=AGENT)])
def setup(agents: tuple[str, ...], options: SetupOptions) -> int:
    """Find your agents, turn the guards on, make the agents call anyhook, and prove that a refusal works.

    Without names it takes every agent that it finds on this machine. It changes your own files only: the rules in
    ~/.config/anyhook and one entry in each agent's config, whose old file is kept. It says how to undo all of it.

    \b
    Exit status: 0 done, 1 nothing done or a proof failed, 3 bad call.
    """
    check_agents(agents)
    if options.live:
        needed("live.check")  # if it is missing, nothing is changed
    project = os.path.realpath(project_of(options.project))
    path = rule_file("user", project, os.environ)
    with changing(path):
        fresh = [name for name in GUARDS if name not in used_in(path)]
        chosen = _chosen(agents, project, may_start=not options.dry_run)
        if not options.json:
            _plan(path, fresh, chosen)
        if options.dry_run:
            return _done(options, path, fresh, chosen, {}, [])
        wanted = fresh or not all(agent.installed for agent in chosen)
        if wanted and not may_change("Do this?", yes=options.yes, as_json=options.json):
            return FINDINGS
        change_used(path, add=fresh)
        remember(path, GUARDS)
    return _install(options, path, fresh, chosen, project)


def _install(options: SetupOptions, path: str, fresh: list[str], chosen: list[AgentSetup], project: str) -> int:
    """Add our entries, prove that a refusal works, and say what stands now."""
    wanted = [agent.name for agent in chosen if not agent.installed]
    failed = {name: reason for name in wanted if (reason := _entered(name, options))}
    proof = _prove(project)
    after = [_checked(agent, project, options.live, failed.get(agent.name, "")) for agent in chosen]
    undone = [undo("install", [name]) for name in wanted if name not in failed]
    undone += [undo("add", [GUARD] if len(fresh) == len(GUARDS) else fresh)] if fresh else []
    if not options.json:
        _tell(after, proof, undone, live=options.live)
    return _done(options, path, fresh, after, proof, undone)


def _done(
    options: SetupOptions,
    path: str,
    fresh: list[str],
    agents: list[AgentSetup],
    proof: dict[str, str],
    undone: list[str],
) -> int:
    if options.json:
        listed = [agent.as_dict() for agent in agents]
        said: dict[str, JsonView] = {"dry_run": options.dry_run, "file": path, "guards": fresh, "agents": listed}
        render.json_out({**said, "proof": proof, "undo": undone}, indent=2)
    if options.dry_run or (proof["verdict"] in PROVEN and not any(agent.status == INERT for agent in agents)):
        return DONE
    return FINDINGS


def _chosen(names: tuple[str, ...], project: str, *, may_start: bool) -> list[AgentSetup]:
    """The agents that were named, or all that are here."""
    seen = [_look(host(name), project, may_start=may_start) for name in names or INSTALLABLE]
    return [agent for agent in seen if agent.found or agent.name in names]


def _entered(agent: str, options: SetupOptions) -> str:
    """Add our entry to an agent's config; returns why that could not be done. The other agents still get theirs."""
    try:
        apply(agent, InstallOptions(project=options.project), install=True)
    except BadCall as why:
        return str(why)
    return ""


def _look(table: Host, project: str, *, may_start: bool) -> AgentSetup:
    seen = diagnose(table, home_of(os.environ), project, os.environ)
    found, installed = shutil.which(table.program) is not None, seen.status != NOT_INSTALLED
    status, reason = seen.status, seen.reason
    if found:
        known = version(table, project, os.environ, may_start=may_start)
        status, reason = (INERT, known.why) if known.contract == "changed" else (status, reason)
    return AgentSetup(table.name, table.title, found, installed, status, reason, seen.approved)


def _checked(agent: AgentSetup, project: str, live: bool, failed: str) -> AgentSetup:
    """The current state; drives the agent if `live`. `failed` says why it has no entry now, or ""."""
    if failed:
        return agent.replace(status=INERT, reason=failed)
    table = host(agent.name)
    now = _look(table, project, may_start=True)
    program = shutil.which(table.program)
    if not live or program is None or now.status == INERT:
        return now
    verdict = needed("live.check").check(table, program, project, os.environ, LIMIT_S)
    return now.replace(status=verdict.status, reason=verdict.reason)


def _prove(project: str) -> dict[str, str]:
    """Ask the engine about one dangerous call, exactly as an agent would, and check the answer."""
    engine = Engine.open(project, dialects=("anyhook",), host=PROOF)
    decision = engine.fire_sync(Event("pre_tool", {"tool": "Bash", "input": {"command": TRIED}}))
    return {"command": TRIED, "verdict": decision.verdict or "pass", "reason": decision.reason or ""}


def _plan(path: str, fresh: Sequence[str], chosen: Sequence[AgentSetup]) -> None:
    rules = sum(len(read_pack(name).rules) for name in GUARDS)
    if fresh:
        _say("Guards", f"turn on {', '.join(fresh)} ({rules} rules) in {render.short_path(path)}")
    else:
        _say("Guards", f"on already ({rules} rules)")
    for agent in chosen:
        state = f"; OFF: {agent.reason}" if agent.status == INERT else ""
        has_entry = "calls anyhook already" if not state else "has our entry"
        _say(agent.title, f"{'add our entry to its config' if not agent.installed else has_entry}{state}")
    if not chosen:
        _say("Agents", f"none found on the PATH. `anyhook setup AGENT` takes one of {', '.join(INSTALLABLE)}.")


def _say(about: str, text: str) -> None:
    for line in prefixed(f"{about}: {text}", "", "  "):
        render.out(line)


def _tell(agents: Sequence[AgentSetup], proof: dict[str, str], undone: Sequence[str], *, live: bool) -> None:
    render.out("")
    answer = PROVEN.get(proof["verdict"], "NOT refused")
    _say("Proof", f"`{TRIED}` → {answer}" + (f": {proof['reason']}" if proof["reason"] else ""))
    for agent in agents:
        table = host(agent.name)
        waits = "user" in table.confirms and agent.installed and not agent.approved
        if waits and agent.status != ARMED and (live or agent.status not in STANDING):
            _say(agent.title, f"calls anyhook once you have approved it: {table.confirm}")
            if live:
                render.say(f"Then prove it there too:  anyhook doctor {agent.name} --live")
        elif agent.status in STANDING:
            _say(agent.title, f"{STANDING[agent.status]} ({agent.reason})")
        else:
            _say(agent.title, f"calls anyhook ({agent.reason})")
        if note := unheard(table):
            render.say(note)
    if not live and agents:
        render.say("Prove it in the agents themselves:  anyhook doctor --live")
    tell_undo(undone)
