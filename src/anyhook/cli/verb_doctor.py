"""`anyhook doctor`: which agents there are, where our entry is in them, and what would keep it from working."""

from __future__ import annotations

import os
import shutil

import click

from anyhook.cli import render
from anyhook.cli.event_input import project_of
from anyhook.cli.failure import DONE, FINDINGS, BadCall
from anyhook.cli.options import JSON, WHERE, Option
from anyhook.cli.verbs import verb
from anyhook.grammar.host_rows import EFFECTS
from anyhook.grammar.shapes import guess
from anyhook.grammar.xdg import home_of
from anyhook.hosts import HOSTS, host
from anyhook.install.diagnosis import INERT, diagnose, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import Values
    from anyhook.grammar.host_rows import Host
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json

OPTIONS = (
    WHERE[0],
    Option("--live", "Drive the agent itself, offline. Not built yet: the status stays UNKNOWN, and says so."),
    JSON,
)
EXAMPLE = "anyhook doctor claude"
MARKS = {"INERT": "✗", "UNKNOWN": "?", "NOT_INSTALLED": "-", "ARMED": "✓"}


@verb("doctor", OPTIONS, EXAMPLE, [click.Argument(["agents"], nargs=-1)])
def doctor(agents: tuple[str, ...], values: Values) -> int:
    """Look at agents: which are there, where anyhook is installed, and what keeps it from working.

    Nothing is changed, and no hook is started. Without names, all agents are looked at.

    \b
    Exit status: 0 nothing wrong, 1 an entry that cannot work (INERT), 3 bad call.
    """
    for name in agents:
        if name not in HOSTS:
            raise BadCall(f"there is no agent `{name}`.{guess(name, HOSTS)} Agents: {', '.join(HOSTS)}.")
    project = os.path.realpath(project_of({**values, "plugin_dir": None}))
    names = agents or tuple(name for name in HOSTS if host(name).entry is not None)
    hooks = _hooks(project)
    found: dict[str, Json] = {name: _look(host(name), project, hooks, bool(values["live"])) for name in names}
    if values["json"]:
        render.json_out(found)
    else:
        for name, row in found.items():
            _tell(host(name), row)
    return FINDINGS if any(isinstance(row, dict) and row["status"] == INERT for row in found.values()) else DONE


def _hooks(project: str) -> list[Hook]:
    from anyhook.catalog import build
    from anyhook.model.catalog import Setup

    return build(Setup.of(project, dict(os.environ)), may_start=False).hooks


def _look(table: Host, project: str, hooks: list[Hook], live: bool) -> dict[str, Json]:
    program = shutil.which(table.program)
    seen = diagnose(table, home_of(os.environ), project, os.environ)
    reason = seen.reason
    if seen.installed and seen.status != INERT and program is None:
        reason = f"`{table.program}` is not on the PATH"
    if live and seen.installed and seen.status != INERT:
        reason = f"{reason}; the live check is not built yet"
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
        "status": seen.status,
        "reason": reason,
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
    for path in row["installed"]:  # type: ignore[union-attr]
        render.out(f"    entry  {render.short_path(str(path))}")
    for gap in row["gaps"]:  # type: ignore[union-attr]
        render.out(f"    gap    {gap}")
    for hook in row["never"]:  # type: ignore[union-attr]
        render.out(f"    never  {hook}: none of its events happens here")
