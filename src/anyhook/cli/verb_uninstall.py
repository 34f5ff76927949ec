"""`anyhook uninstall`: our entry out of one agent or all of them; with --purge, everything that anyhook keeps."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import AGENT
from anyhook.cli.options import switch
from anyhook.cli.person import may_change, require_person
from anyhook.cli.verb_install import InstallOptions, apply, carry_out, named
from anyhook.cli.verbs import verb
from anyhook.gates.diagnosis import diagnose
from anyhook.install.changes import CannotChange, called, places
from anyhook.install.used_packs import change_used, rule_file, text_of, used_in
from anyhook.platform.kept_code import forget
from anyhook.platform.places import config_file, home_of, runtime_dir, state_dir, upward
from anyhook.rules.pack_list import NAMES
from anyhook.satellites import part
from anyhook.state.installs import Installs, own_name
from anyhook.state.policies import base_of_scope
from anyhook.tables.registry import INSTALLABLE, host


class UninstallOptions(InstallOptions):
    all: bool = switch("--all", "From every agent, for the user and for every project.")
    purge: bool = switch(
        "--purge", "With --all: also remove settings, approvals, policies, the journal and the server."
    )
    yes: bool = switch("--yes", "Remove them without asking.")


@verb("uninstall", UninstallOptions, "anyhook uninstall claude", [click.Argument(["agents"], nargs=-1, type=AGENT)])
def uninstall(agents: tuple[str, ...], options: UninstallOptions) -> int:
    """Remove anyhook's entries from an agent's config, or with --all from every config that has one.

    If nobody has changed a file since, the old one is restored byte for byte. --purge also removes what anyhook keeps
    for you: it is shown first, and you are asked. Your own rules stay.

    \b
    Exit status: 0 done, 1 not confirmed, 3 bad call or a file that cannot be changed.
    """
    if options.purge and not options.all:
        raise BadCall("--purge goes with --all.")
    if bool(agents) == options.all:
        raise BadCall("name an agent, or use --all." if not agents else "--all is for every agent: name none.")
    if not options.dry_run:
        require_person("uninstall")
    if not options.all:
        for agent in dict.fromkeys(agents):
            named(agent)
        return max(carry_out(agent, options, install=False) for agent in dict.fromkeys(agents))
    return _everything(options)


def _everything(options: UninstallOptions) -> int:
    kept = [*_kept()] if options.purge else []
    entries = [*_entries(options)]
    if kept and not options.dry_run and not _agreed(kept, options):
        return FINDINGS
    changed: list[str] = []
    for agent, scope, project in entries:
        changes, _, _ = apply(agent, options.replace(scope=scope, project=project), install=False)
        changed += [change.path for change in changes if change.needed and change.path not in changed]
    if not options.dry_run:
        forget()
    if options.purge and not options.dry_run:
        _purge(kept)
    left = _own_rules()
    if options.json:
        removed = [path for path, _ in kept]
        render.json_out({"dry_run": options.dry_run, "changed": changed, "removed": removed, "left": left})
    else:
        _tell_all(changed, kept, left, options)
    return DONE


def _tell_all(changed: list[str], kept: list[tuple[str, str]], left: Sequence[str], options: UninstallOptions) -> None:
    would = "would be " if options.dry_run else ""
    for path in changed:
        render.out(f"{would}taken out of  {render.short_path(path)}")
    if not changed:
        render.out("No agent has an entry of anyhook.")
    for path, what in kept:
        render.out(f"{would}removed  {render.short_path(path)}  ({what})")
    for path in left if options.purge else ():
        render.say(f"Left: {render.short_path(path)}, your own rules.")


def _entries(options: UninstallOptions) -> Iterator[tuple[str, str, str | None]]:
    """Every entry: the agent, the scope, and the project that it is in."""
    here, home = os.path.realpath(project_of(options.project)), home_of(os.environ)
    known = Installs(state_dir(os.environ)).known
    for name in INSTALLABLE:
        table = host(name)
        mine = [(path, each.scope) for path, each in known.items() if each.agent == name]
        if any(scope == "user" for _, scope in mine) or "user" in diagnose(table, home, here, os.environ).scopes:
            yield name, "user", None
        projects = [project for path, scope in mine if scope == "project" and (project := _project_of(name, path))]
        if "project" in diagnose(table, home, here, os.environ).scopes:
            projects.append(here)
        for project in dict.fromkeys(projects):
            yield name, "project", project


def _project_of(agent: str, path: str) -> str | None:
    """The project whose entry of an agent is in this file."""
    table, entry = named(agent)
    name = own_name(state_dir(os.environ))
    for folder in upward(os.path.dirname(path), "/"):
        if path in places(table, called(entry, name), "project", home_of(os.environ), folder, os.environ, name):
            return folder if os.path.isdir(folder) else None
    return None


def _kept() -> Iterator[tuple[str, str]]:
    """What anyhook keeps for this user, and what it is."""
    for path, what in (
        (config_file(os.environ), "settings"),
        (base_of_scope("user", os.environ), "policies"),
        (state_dir(os.environ), "approvals, the journal, backups, what was turned on"),
    ):
        if os.path.lexists(path):
            yield path, what
    client = part("warm.client")
    for path in client.files(os.environ) if client is not None else ():
        yield path, "the server"


def _agreed(kept: list[tuple[str, str]], options: UninstallOptions) -> bool:
    for path, what in kept:
        render.say(f"{render.short_path(path)}  ({what})")
    question = "Remove these, and every entry in agents' settings? This cannot be undone."
    return may_change(question, yes=options.yes, as_json=options.json)


def _purge(kept: list[tuple[str, str]]) -> None:
    """Stop the servers, turn off packs in a rule file that says nothing else, and remove what is kept."""
    client = part("warm.client")
    if client is not None:
        for path in client.servers(os.environ):
            client.ask(path, stop=True)
    rules = rule_file("user", "/", os.environ)
    try:
        if not _says_more(rules):
            change_used(rules, remove=NAMES)
        for path, _ in kept:
            _remove(path)
        for folder in (runtime_dir(os.environ), os.path.dirname(config_file(os.environ))):
            _remove_empty(folder)
    except CannotChange as why:
        raise BadCall(str(why)) from None
    except OSError as error:
        raise BadCall(f"{error.filename} cannot be removed ({error.strerror}).") from None


def _remove_empty(folder: str) -> None:
    """Remove a folder, unless there is something of others in it."""
    try:
        os.rmdir(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
            raise


def _remove(path: str) -> None:
    """Remove a file or a folder. What a server that ends has removed before counts as removed."""
    while os.path.lexists(path):
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except FileNotFoundError:
            continue


def _says_more(path: str) -> bool:
    """Whether a rule file has anything but packs that come with anyhook."""
    text = text_of(path)
    own = [name for name in used_in(path) if name not in NAMES]
    lines = (text or "").splitlines()
    return bool(own) or any(line.strip().startswith("[") for line in lines)


def _own_rules() -> list[str]:
    """The user's rule files that are still there."""
    folder = os.path.dirname(rule_file("user", "/", os.environ))
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)) if os.path.isdir(folder) else []
