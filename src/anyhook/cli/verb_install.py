"""`anyhook install`: our entry in an agent's own config, and what takes it out again."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence

import click

from anyhook.cli import DONE, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import JsonOptions, ProjectOption, option, switch
from anyhook.cli.undo import tell_undo, undo
from anyhook.cli.verbs import check_agents, verb
from anyhook.cli.view.difference import file_difference
from anyhook.engine.catalog import build
from anyhook.engine.last_words import last_words, refusals, words_path
from anyhook.gates.agents import unheard, wanted
from anyhook.gates.check import runs_no_hooks
from anyhook.gates.diagnosis import diagnose, entered, is_closed, on_demand
from anyhook.gates.versions import version
from anyhook.install.changes import (
    CannotChange,
    FileChange,
    called,
    has_own_name,
    places,
    to_install,
    to_uninstall,
    write,
)
from anyhook.install.entries import MARK, EntryStart
from anyhook.install.lean import lean
from anyhook.model.firing import Answer
from anyhook.model.json_types import JsonView
from anyhook.model.words import OWN_SCOPES, OwnScope
from anyhook.platform.launched import own_python
from anyhook.platform.places import home_of, state_dir, write_private
from anyhook.state.entry_places import places_to_fix
from anyhook.state.installs import PLAIN_NAME, UNMADE_NAME, Installs, make_own_name, own_name
from anyhook.state.plans import Setup
from anyhook.state.start_variables import keep_start_variables
from anyhook.tables.host_rows import Entry, Host
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host, special

ARGUMENT = [click.Argument(["agent"], type=AGENT)]
WITHOUT_US = {
    "closed": "If anyhook cannot be run, {0} refuses what hooks guard: the entry is closed.",
    "open": "If anyhook cannot be run, {0} goes on unguarded. `anyhook install {1} --closed` makes it refuse.",
    "refuses": "If anyhook cannot be run, {0} refuses every call until the entry is gone or anyhook is back.",
    "unknown": "What {0} does without anyhook is not known. `anyhook install {1} --closed` makes it refuse.",
}
EXAMPLE = "anyhook install claude --dry-run"


class InstallOptions(JsonOptions, ProjectOption):
    scope: OwnScope | None = option(
        "--scope", "Whose config to change: the user's (default) or the project's.", "SCOPE", choices=OWN_SCOPES
    )
    dry_run: bool = switch("--dry-run", "Show what would change, and change nothing.")


class EntryOptions(InstallOptions):
    closed: bool = switch("--closed", "Let the agent refuse what hooks guard if anyhook cannot be run.")
    lean: bool = switch("--lean", "Leave out events and tools that no hook uses and that cannot be blocked.")


@verb("install", EntryOptions, EXAMPLE, ARGUMENT)
def install(agent: str, options: EntryOptions) -> int:
    """Make an agent call anyhook, so that your hooks of every dialect run in it.

    Adds one entry per event to the agent's own config, for every tool. anyhook decides which hooks run, and whether
    they may. Comments, order and other entries stay as they are, and the old file is kept as a backup. Nothing is
    approved in the agent's own trust store; if you have to confirm something there, you are told.

    Most agents ignore an entry whose program is gone, and go on unguarded. With --closed the entry is a line of shell
    that refuses prompts and tools if anyhook cannot be run. A closed entry stays closed when you install again;
    `uninstall` removes it.

    With --lean the agent does not call anyhook for events that cannot be blocked, unless one of your hooks or the
    project's needs them. After a tool call it calls anyhook only for the tools that such hooks name, if the agent's
    matchers can express that. Events that are left out are not in the journal. `anyhook status` and `anyhook doctor`
    tell you when a hook needs one; then install again with --lean. Prompts, tool calls and other gates are never left
    out.

    \b
    Exit status: 0 done, 3 bad call or a file that cannot be changed.
    """
    return carry_out(agent, options, install=True, wants_closed=options.closed, wants_lean=options.lean)


def apply(
    agent: str, options: InstallOptions, *, install: bool, wants_closed: bool = False, wants_lean: bool = False
) -> tuple[list[FileChange], list[str], bool]:
    """Make the changes, or only compute them; also returns the backups, and whether the entry is closed."""
    table, entry = named(agent)
    scope = options.scope or OWN_SCOPES[0]
    project = os.path.realpath(project_of(options.project))
    made = table
    state = state_dir(os.environ)
    backups: list[str] = []
    try:
        name = _name_of(entry, scope, state, install, options.dry_run)
        entry, place = called(entry, name), (scope, home_of(os.environ), project, os.environ)
        paths = places(table, entry, *place, name)
        plain = {path: "" for path in places(table, entry, *place, PLAIN_NAME) if path not in paths}
        if install:
            there = {event for path in paths for event in entered(table, entry, path)}
            made = _events_of(table, wants_lean, project, there)
        closed = refusals(table) if wants_closed or any(map(is_closed, paths)) else {}
        if options.dry_run:
            changes = _changes(made, entry, paths, Installs(state), scope, install, closed, plain)
        else:
            with Installs.changing(state) as installs:
                changes = _changes(made, entry, paths, installs, scope, install, closed, plain)
                backups = write(changes, table, scope, installs, install=install)
                if install:
                    keep_start_variables(os.environ, state)
                if scope == OWN_SCOPES[0]:
                    words = last_words(made, os.environ, closed=bool(closed)) if install else b""
                    _keep_words(words_path(state, table.name), words)
    except CannotChange as why:
        raise BadCall(str(why)) from None
    except OSError as error:
        raise BadCall(f"{state} cannot be written ({error.strerror}). Check HOME and its permissions.") from None
    return changes, backups, bool(closed)


def _keep_words(path: str, words: bytes) -> None:
    """Write down what the agent is told if we cannot run; without words, remove it."""
    if words:
        write_private(path, words)
        return
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        pass  # it was not there, or another agent's is


def _name_of(entry: Entry, scope: str, state: str, install: bool, dry: bool) -> str:
    """What the entry is called: by the user's own name, which the first entry that has one makes."""
    if scope != OWN_SCOPES[0]:
        return PLAIN_NAME
    if install and has_own_name(entry) and own_name(state) == PLAIN_NAME:
        if dry:
            return UNMADE_NAME
        make_own_name(state)
    return own_name(state)


def _events_of(table: Host, wants_lean: bool, project: str, there: Collection[str]) -> Host:
    """The agent with the events of its new entry; `there` are those of the current one."""
    if not wants_lean and not any(row.on_demand for row in table.events):
        return table
    by_hooks = wanted(build(Setup.of(project, dict(os.environ)), may_start=False), table)
    table = on_demand(table, by_hooks, there)
    return lean(table, by_hooks) if wants_lean else table


def carry_out(
    agent: str, options: InstallOptions, *, install: bool, wants_closed: bool = False, wants_lean: bool = False
) -> int:
    table, _ = named(agent)
    scope = options.scope or OWN_SCOPES[0]
    changes, backups, closed = apply(agent, options, install=install, wants_closed=wants_closed, wants_lean=wants_lean)
    needed = [change for change in changes if change.needed]
    fresh = install and needed and not options.dry_run and not any(_has_ours(change, table) for change in needed)
    undone = [undo("install", [table.name], scope, options.project)] if fresh else []
    notes = _notes(table, scope, options, needed, install=install, closed=closed, fresh=bool(fresh))
    if options.json:
        _as_json(table, scope, needed, changes, backups, notes, options.dry_run, undone)
    elif options.dry_run:
        _show_diff(needed)
        for note in notes[-1:] if UNMADE_NAME in "".join(notes[-1:]) else ():
            render.say(note)
    else:
        _tell(table, needed, backups, notes, install)
        tell_undo(undone)
    return DONE


def _has_ours(change: FileChange, table: Host) -> bool:
    """Whether our entry was in a file before, so that taking it out does not restore the file."""
    text = (change.before or b"").decode("utf-8", "replace")
    return f"bridge {table.name}" in text or MARK in text


def _elsewhere(table: Host, scope: OwnScope, project: str | None) -> str:
    """Where the entry is, if it is not in the scope that was looked at; "" if nowhere."""
    seen = diagnose(table, home_of(os.environ), os.path.realpath(project_of(project)), os.environ)
    other: OwnScope = "user" if scope == "project" else "project"
    if other not in seen.scopes:
        return ""
    return f"There is an entry in the {other}'s config: {undo('install', [table.name], other, project)}"


def _notes(
    table: Host,
    scope: OwnScope,
    options: InstallOptions,
    needed: Sequence[FileChange],
    *,
    install: bool,
    closed: bool,
    fresh: bool,
) -> list[str]:
    """What a person should know about the entry."""
    notes: list[str] = []
    if install:
        notes += [f"{table.title}: {table.confirm}"]
        notes += [WITHOUT_US["closed" if closed else table.without_us].format(table.title, table.name)]
        notes += filter(None, [unheard(table)])
        known = version(table, os.path.realpath(project_of(options.project)), os.environ, may_start=not options.dry_run)
        notes += [f"{table.title} is OFF: {known.why}"] if known.contract == "changed" else []
    if any(UNMADE_NAME.encode() in change.path.encode() + (change.after or b"") for change in needed):
        notes.append(f"`{UNMADE_NAME}` stands for a name that is made when anyhook is installed.")
    if not install:
        return [*notes, *filter(None, [_elsewhere(table, scope, options.project) if not needed else ""])]
    if needed and not fresh and not options.dry_run:
        notes.append(f"To remove it: {undo('install', [table.name], scope, options.project)}")
    if scope == "project" and not _on_path():
        who = "everybody who uses this project needs it there"
        notes.append(f"The entry calls `anyhook`, which is not on your PATH: {who}.")
    return notes


def _with_variables(launch: EntryStart, table: Host) -> EntryStart:
    """The start of an entry, with the variables that it carries along. `env` by its path: an agent's `PATH` may name
    another one first."""
    carried = [f"{name}={os.environ[name]}" for name in special(table.name, "CARRIED") or () if os.environ.get(name)]
    return launch.replace(program=("/usr/bin/env", *carried, *launch.program)) if carried else launch


def _changes(
    table: Host,
    entry: Entry,
    paths: Mapping[str, str],
    installs: Installs,
    scope: str,
    install: bool,
    closed: Mapping[str, Answer],
    plain: Mapping[str, str],
) -> list[FileChange]:
    """`plain` are the places of the user's entry before it had its own name; what is left there is removed."""
    left = {path: "" for path in plain if installs.scope(path) in ("", scope)}
    if not install:
        # Entries of earlier settings folders, too: what is not forgotten here is missed from then on.
        mine = (table.name, scope) if scope == OWN_SCOPES[0] else ()
        left |= {path: "" for path, known in installs.known.items() if (known.agent, known.scope) == mine}
        return to_uninstall(table, entry, {**paths, **left}, installs)
    rows = {path: table.row(native) for path, native in paths.items()}
    left_out = {path: paths[path] for path, row in rows.items() if row is not None and not row.installed}
    kept = {path: native for path, native in paths.items() if path not in left_out}
    made = to_install(table, entry, kept, _with_variables(_launch(scope), table), installs, closed)
    return [*made, *to_uninstall(table, entry, {**left_out, **left}, installs)]


def named(agent: str) -> tuple[Host, Entry]:
    if agent not in HOSTS:
        why = dialect(agent).no_host if agent in DIALECTS else runs_no_hooks(agent)
        if why:
            raise BadCall(f"there is nothing to install. {why}")
        check_agents([agent])
    table = host(agent)
    if table.entry is None:
        raise BadCall(f"{table.title} needs no bridge: its own hook files are read by anyhook as they are.")
    return table, table.entry


def _launch(scope: str) -> EntryStart:
    """How the agent starts us: by path and for this user's places in a user's config, by name in a project's, which
    others share. The native launcher isolates Python by itself."""
    if scope == "project":
        return EntryStart(("anyhook",))
    here, places = os.path.abspath(sys.argv[0]).removesuffix("-python"), tuple(places_to_fix(os.environ))
    if os.path.basename(here) != "anyhook" or not os.access(here, os.X_OK):
        return EntryStart((*own_python(), "-m", "anyhook"), places)
    return EntryStart((here,) if os.path.exists(f"{here}-python") else (*own_python(), here), places)


def _on_path() -> bool:
    return shutil.which("anyhook") is not None


def _diff(change: FileChange) -> str:
    was, now = (change.path if data is not None else os.devnull for data in (change.before, change.after))
    return "".join(f"{line}\n" for line in file_difference(change.before, change.after, was, now))


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


def _as_json(
    table: Host,
    scope: str,
    needed: list[FileChange],
    changes: list[FileChange],
    backups: list[str],
    notes: list[str],
    dry: bool,
    undone: list[str],
) -> None:
    said: dict[str, JsonView] = {
        "agent": table.name,
        "scope": scope,
        "dry_run": dry,
        "changed": [change.path for change in needed],
        "unchanged": [change.path for change in changes if not change.needed],
        "backups": backups,
        "notes": notes,
        "undo": undone,
        "diff": "".join(map(_diff, needed)),
    }
    render.json_out(said)
