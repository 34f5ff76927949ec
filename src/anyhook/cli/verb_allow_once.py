"""`anyhook allow-once`: a person lets one refused call pass. It works only at a terminal."""

from __future__ import annotations

import os

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import catalog_of, setup_of
from anyhook.cli.options import ProjectOptions
from anyhook.cli.person import require_person, require_terminal
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import prefixed
from anyhook.cli.view.text import visible
from anyhook.journal.read import JournalLine, about
from anyhook.journal.search import PROOF, Wanted, newest, record_of
from anyhook.model.outcome import ASK, BLOCK
from anyhook.platform.places import NOWHERE, state_dir
from anyhook.state.approvals import HOLDS_S, allow, key_of

MAX_EVENTS = 500
"""How many of the last records are searched for a refused call."""
MAX_WIDTH = 300


@verb("allow-once", ProjectOptions, "anyhook allow-once 412", [click.Argument(["record"], required=False)])
def allow_once(record: str | None, options: ProjectOptions) -> int:
    """Let one refused call pass, once, within ten minutes. RECORD is its number in `anyhook log`; without it, the last
    call of this project that was refused. Only a person at a terminal can do this. Every other hook is still asked."""
    require_terminal("only a person can let a call pass.")
    require_person("allow-once")
    setup = setup_of(options)
    line = _refused(setup.project, record)
    hook, decision = _refusing(line), line.decision
    if line.project != setup.project:
        raise BadCall(f"record {line.number} is about {line.project}. Run this there.")
    known = next((each for each in catalog_of(options).hooks if each.id == hook), None)
    if known is None:
        raise BadCall(f"{hook} refused it, but is off now. Let the agent try it again.")
    if known.scope == "managed":
        raise BadCall(f"{hook} is the organisation's ({known.source}), and cannot be overruled here.")
    folder = setup.own_dir()
    if folder == NOWHERE:
        raise BadCall("the state directory is inside the project. Set XDG_STATE_HOME to a folder outside it.")
    render.out(f"record {line.number}: {visible(line.tool or '')}: {visible(about(line.data))[:MAX_WIDTH]}")
    render.out(f"  refused by {hook}")
    if decision is not None and decision.reason:
        for part in prefixed(visible(decision.reason), "  ", "  "):
            render.out(part)
    if not click.confirm("Let exactly this call pass, once, within ten minutes?", default=False):
        render.say("Nothing is changed.")
        return 1
    allow(folder, key_of(hook, setup.project, str(line.event), line.data), line.n)
    render.out(f"Allowed once, for {HOLDS_S // 60} minutes. Let the agent try it again.")
    return 0


def _refused(project: str, record: str | None) -> JournalLine:
    folder = state_dir(os.environ)
    if record is not None:
        if record != "last" and not record.isdecimal():
            raise BadCall(f"{record} is not the number of a record. `anyhook log` shows them.")
        found = record_of(folder, record)
    else:
        lines = newest(folder, Wanted(project=project, event="pre_tool"), MAX_EVENTS)
        found = next((line for line in reversed(lines) if line.host != PROOF and _refusing(line)), None)
    if found is None or not _refusing(found):
        raise BadCall("there is no such refused call. `anyhook log --verdict block` shows those that were refused.")
    if not (found.has_data and found.has_bodies):
        raise BadCall(f"record {found.number} does not contain the call itself, so it cannot be allowed.")
    return found


def _refusing(line: JournalLine) -> str:
    """The hook that refused a call, or ""."""
    decision = line.own_decision
    if decision is None or line.event != "pre_tool" or decision.verdict not in (BLOCK, ASK):
        return ""
    return decision.hook or next((each.id for each in decision.hooks if each.verdict == decision.verdict), "")
