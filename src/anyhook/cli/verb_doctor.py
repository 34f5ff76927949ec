"""`anyhook doctor`: which agents there are, where our entry is in them, and what would keep it from working."""

from __future__ import annotations

import os
import shutil
import signal
import sys

import click

from anyhook.cli.event_input import project_of
from anyhook.cli.failure import DONE, FINDINGS, BadCall
from anyhook.cli.options import JSON, WHERE, Option
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.install.diagnosis import INERT, diagnose, version_of
from anyhook.model.xdg import home_of
from anyhook.tables.host_rows import EFFECTS
from anyhook.tables.registry import HOSTS, INSTALLABLE, host
from anyhook.tables.shapes import guess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from anyhook.cli.options import Values
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host

OPTIONS = (
    WHERE[0],
    Option("--live", "Drive the agents themselves, offline, and see whether a refusal holds."),
    Option("--limit", "How long one agent may take with --live (default 120).", "SECONDS"),
    JSON,
)
EXAMPLE = "anyhook doctor claude"
LIMIT_S, LONGEST_S = 120.0, 3600.0
MARKS = {"INERT": "✗", "UNKNOWN": "?", "NOT_INSTALLED": "-", "ARMED": "✓"}


@verb("doctor", OPTIONS, EXAMPLE, [click.Argument(["agents"], nargs=-1)])
def doctor(agents: tuple[str, ...], values: Values) -> int:
    """Look at agents: which are there, where anyhook is installed, and what keeps it from working.

    Nothing is changed, and no hook of yours is started. Without names, all agents are looked at.

    With --live every agent that has our entry is started once in a throw-away home and project, with copies of your
    entry and of the settings and approvals that decide about it, without a network where the system allows that,
    against a model that we play. It is asked to run a harmless command that a hook refuses. ARMED: it called the entry
    and obeyed. INERT: it did not. UNKNOWN: it could not be told, and why.

    \b
    Exit status: 0 nothing wrong, 1 an entry that cannot work (INERT), 3 bad call.
    """
    for name in agents:
        if name not in HOSTS:
            raise BadCall(f"there is no agent `{name}`.{guess(name, HOSTS)} Agents: {', '.join(HOSTS)}.")
    project = os.path.realpath(project_of({**values, "plugin_dir": None}))
    names = agents or INSTALLABLE
    limit_s = _limit_s(values) if values["live"] else None
    hooks = _hooks(project)
    found: dict[str, Json] = {name: _look(host(name), project, hooks, limit_s) for name in names}
    if values["json"]:
        render.json_out(found)
    else:
        for name, row in found.items():
            _tell(host(name), row)
    return FINDINGS if any(isinstance(row, dict) and row["status"] == INERT for row in found.values()) else DONE


def _hooks(project: str) -> list[Hook]:
    from anyhook.walk.build import build
    from anyhook.walk.catalog import Setup

    return build(Setup.of(project, dict(os.environ)), may_start=False).hooks


def _limit_s(values: Values) -> float:
    given = values["limit"]
    try:
        limit_s = float(str(given)) if given is not None else LIMIT_S
    except ValueError:
        limit_s = 0.0
    if not 0 < limit_s <= LONGEST_S:
        raise BadCall(f"--limit {given}: it must be a number of seconds, at most {LONGEST_S:g}.")
    return limit_s


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _look(table: Host, project: str, hooks: list[Hook], live_limit_s: float | None) -> dict[str, Json]:
    """All that is known of one agent; with a limit it is driven, too."""
    program = shutil.which(table.program)
    seen = diagnose(table, home_of(os.environ), project, os.environ)
    status, reason = seen.status, seen.reason
    live: dict[str, Json] = {}
    if seen.installed and seen.status != INERT and program is None:
        reason = f"`{table.program}` is not on the PATH"
    elif seen.installed and seen.status != INERT and live_limit_s is not None and program is not None:
        from anyhook.live.check import check

        signal.signal(signal.SIGTERM, _leave)  # so that the throw-away folders go, too
        verdict = check(table, program, project, os.environ, live_limit_s)
        status, reason = verdict.status, verdict.reason
        live = {"network": verdict.network or "off", "copied": [*verdict.copied]}
    covers: dict[str, Json] = {}
    for row in table.events:
        for event in row.canonical if row.installed else ():
            covers[event] = [effect for effect in EFFECTS if effect in row.says]
    gaps = [*table.gaps, *(f"{row.native}: {row.why_not}" for row in table.events if row.why_not)]
    never = [
        hook.id for hook in hooks if hook.scope != "builtin" and hook.events and not set(hook.events) & set(covers)
    ]
    return {
        "found": program is not None,
        "program": program,
        "version": version_of(program) if program else None,
        "installed": [*seen.installed],
        "status": status,
        "reason": reason,
        **({"live": live} if live else {}),
        "covers": covers,
        "gaps": [*gaps],
        "never": [*never],
    }


def _tell(table: Host, row: Json) -> None:
    if not isinstance(row, dict):
        return
    there = f"{row['version'] or 'version unknown'}" if row["found"] else "not found"
    render.out(f"{MARKS[str(row['status'])]} {table.title}: {row['status']} ({there})")
    render.out(f"    {row['reason']}")
    if not row["installed"]:
        return
    live = row.get("live")
    if isinstance(live, dict) and live["network"] != "off":
        render.out(f"    note   it was driven with the network on: {live['network']}")
    for path in row["installed"]:  # type: ignore[union-attr]
        render.out(f"    entry  {render.short_path(str(path))}")
    for gap in row["gaps"]:  # type: ignore[union-attr]
        render.out(f"    gap    {gap}")
    for hook in row["never"]:  # type: ignore[union-attr]
        render.out(f"    never  {hook}: none of its events happens here")
