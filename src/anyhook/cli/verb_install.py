"""`anyhook install` and `anyhook uninstall`: our entry in an agent's own config."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from anyhook.cli.failure import DONE, BadCall
from anyhook.cli.fire import project_of
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.documents.places import home_of, state_dir
from anyhook.install.changes import CannotChange, FileChange, places, to_install, to_uninstall, write
from anyhook.state.installs import Installs
from anyhook.tables.registry import HOSTS, host
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Entry, Host

SCOPES = ("user", "project")
AGENT = [click.Argument(["agent"])]
EXAMPLE = "anyhook install claude --dry-run"
TAKEN_OUT = "anyhook uninstall claude"


class InstallOptions(JsonOptions):
    scope: str | None = option(
        "--scope", "Whose config to change: the user's (default) or the project's.", "SCOPE", choices=SCOPES
    )
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    dry_run: bool = switch("--dry-run", "Show what would change, and change nothing.")


@verb("install", InstallOptions, EXAMPLE, AGENT)
def install(agent: str, options: InstallOptions) -> int:
    """Make an agent call anyhook, so that your hooks of every dialect run in it.

    Adds one entry per event to the agent's own config, for every tool. anyhook decides which hooks run, and whether
    they may. Comments, order and other entries stay as they are, and the old file is kept as a backup. Nothing is
    approved in the agent's own trust store; if you have to confirm something there, you are told.

    \b
    Exit status: 0 done, 3 bad call or a file that cannot be changed.
    """
    return _carry_out(agent, options, True)


@verb("uninstall", InstallOptions, TAKEN_OUT, AGENT)
def uninstall(agent: str, options: InstallOptions) -> int:
    """Remove anyhook's entries from an agent's config.

    If nobody has changed the file since, the old one is restored byte for byte.

    \b
    Exit status: 0 done, 3 bad call or a file that cannot be changed.
    """
    return _carry_out(agent, options, False)


def apply(agent: str, options: InstallOptions, install: bool) -> tuple[list[FileChange], list[str]]:
    """Make the changes, or only find them; with the copies of the old files."""
    table, entry = _named(agent)
    scope = options.scope or SCOPES[0]
    project = os.path.realpath(project_of(options.project))
    state = state_dir(os.environ)
    backups: list[str] = []
    try:
        paths = places(table, entry, scope, home_of(os.environ), project, os.environ)
        if options.dry_run:
            changes = _changes(table, entry, paths, _launcher(scope), Installs(state), install)
        else:
            with Installs.changing(state) as installs:
                changes = _changes(table, entry, paths, _launcher(scope), installs, install)
                backups = write(changes, table, scope, installs, install)
    except CannotChange as why:
        raise BadCall(str(why)) from None
    except OSError as error:
        raise BadCall(f"{state} cannot be written ({error.strerror}). Check HOME and its permissions.") from None
    return changes, backups


def _carry_out(agent: str, options: InstallOptions, install: bool) -> int:
    table, _ = _named(agent)
    scope = options.scope or SCOPES[0]
    changes, backups = apply(agent, options, install)
    needed = [change for change in changes if change.needed]
    notes = [f"{table.title}: {table.confirm}"] if install else []
    if install and scope == "project" and not _on_path():
        notes.append(
            "The entry calls `anyhook`, which is not on your PATH: everybody who uses this project needs it there."
        )
    if options.json:
        _as_json(table, scope, needed, changes, backups, notes, options.dry_run)
    elif options.dry_run:
        _show_diff(needed)
    else:
        _tell(table, needed, backups, notes, install)
    return DONE


def _changes(
    table: Host, entry: Entry, paths: Mapping[str, str], launcher: list[str], installs: Installs, install: bool
) -> list[FileChange]:
    return (
        to_install(table, entry, paths, launcher, installs) if install else to_uninstall(table, entry, paths, installs)
    )


def _named(agent: str) -> tuple[Host, Entry]:
    if agent not in HOSTS:
        raise BadCall(f"there is no agent `{agent}`.{guess(agent, HOSTS)} Agents: {', '.join(HOSTS)}.")
    table = host(agent)
    if table.entry is None:
        raise BadCall(f"{table.title} needs no bridge: its own hook files are read by anyhook as they are.")
    return table, table.entry


def _launcher(scope: str) -> list[str]:
    """How the agent starts us: by our own path in a user's config, by name in a project's, which others share."""
    if scope == "project":
        return ["anyhook"]
    here = os.path.abspath(sys.argv[0])
    if os.path.basename(here) == "anyhook" and os.access(here, os.X_OK):
        return [here]
    return [sys.executable, "-m", "anyhook"]


def _on_path() -> bool:
    return shutil.which("anyhook") is not None


def _diff(change: FileChange) -> str:
    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines(True) for data in (change.before, change.after)
    )
    lines = difflib.unified_diff(
        before,
        after,
        change.path if change.before is not None else os.devnull,
        change.path if change.after is not None else os.devnull,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _show_diff(needed: list[FileChange]) -> None:
    for change in needed:
        render.out(_diff(change).rstrip("\n"))
    if not needed:
        render.out("Nothing would change.")


def _tell(table: Host, needed: list[FileChange], backups: list[str], notes: list[str], install: bool) -> None:
    if not needed:
        render.out(f"{table.title}: {'anyhook is already installed' if install else 'anyhook is not installed'}.")
    for change in needed:
        word = "removed" if change.after is None else "written" if change.before is None else "changed"
        render.out(f"{word}  {render.short_path(change.path)}")
    for backup in backups:
        render.say(f"The old file is kept in {render.short_path(backup)}.")
    for note in notes:
        render.say(note)
    if install and needed:
        render.say(f"To remove it: anyhook uninstall {table.name}")


def _as_json(
    table: Host,
    scope: str,
    needed: list[FileChange],
    changes: list[FileChange],
    backups: list[str],
    notes: list[str],
    dry: bool,
) -> None:
    said: dict[str, Json] = {
        "agent": table.name,
        "scope": scope,
        "dry_run": dry,
        "changed": [change.path for change in needed],
        "unchanged": [change.path for change in changes if not change.needed],
        "backups": [*backups],
        "notes": [*notes],
        "diff": "".join(map(_diff, needed)),
    }
    render.json_out(said)
