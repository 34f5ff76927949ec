"""`anyhook add` and `anyhook remove`: guards, other packs, and packages of rules from elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.added_package import approve_folder, described, differences, forget_folder, rule_lines
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import PACK
from anyhook.cli.options import JsonOptions, ProjectOptions, option, switch
from anyhook.cli.verb_guards import pack_table
from anyhook.cli.verb_trust import approve_some, forget_removed, look, refuse_own_ledger
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import show
from anyhook.documents.lock import FOLDER
from anyhook.guard.pack_list import GUARD, NAMES, members, path_of, read_pack
from anyhook.install import packages
from anyhook.install.changes import CannotChange
from anyhook.install.packages import BadPackage, Package
from anyhook.install.used_packs import change_used, rule_file, used_in
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.model.json_types import Json

SCOPES = ("user", "project")


class AddOptions(JsonOptions):
    scope: str | None = option("--scope", "For the user (the default) or for this project.", "SCOPE", choices=SCOPES)
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")
    yes: bool = switch("--yes", "Add it without asking.")


class RemoveOptions(JsonOptions):
    scope: str | None = option(
        "--scope", "From the user's or the project's rules; default: both.", "SCOPE", choices=SCOPES
    )
    project: str | None = option("--project", "The project directory; default: the current one.", "DIR")


@verb("add", AddOptions, "anyhook add guard", [click.Argument(["what"], type=PACK)])
def add(what: str, options: AddOptions) -> int:
    """Turn guards on, or take hooks and rules from elsewhere.

    WHAT is `guard` (all guards), the name of one pack (`anyhook guards` lists them), a folder, or the address of a git
    repository followed by @REV. What comes from elsewhere is shown, copied, approved and pinned in anyhook.lock;
    calling it again shows what changed. It fetches only what you name.

    \b
    Exit status: 0 added, 1 not added, 3 bad call.
    """
    project = os.path.realpath(project_of(options.project))
    path = rule_file(options.scope or SCOPES[0], project, os.environ)
    try:
        packs = members(what)
        if packs:
            return _add_packs(packs, path, project, options)
        if packages.is_package(what):
            return _add_package(packages.fetch(what), path, project, options)
    except (CannotChange, BadPackage) as why:
        raise BadCall(str(why)) from None
    except OSError as error:
        raise BadCall(f"{error.filename or path} cannot be written ({error.strerror}).") from None
    raise BadCall(f"there is no pack `{what}`.{guess(what, (GUARD, *NAMES))} Packs: {GUARD}, {', '.join(NAMES)}.")


@verb("remove", RemoveOptions, "anyhook remove guard", [click.Argument(["name"], type=PACK)])
def remove(name: str, options: RemoveOptions) -> int:
    """Turn a pack or a package off again: `guard` for all guards.

    \b
    Exit status: 0 removed, 1 it was not on, 3 bad call.
    """
    project = os.path.realpath(project_of(options.project))
    changed: list[str] = []
    known = False
    for scope in (options.scope,) if options.scope else SCOPES:
        path = rule_file(scope, project, os.environ)
        try:
            mine = name in packages.read_lock(path)
            used = used_in(path)
            wanted = [each for each in used if each.startswith(f"{FOLDER}/{name}/")] if mine else members(name)
            known = known or bool(wanted) or mine
            if change_used(path, remove=wanted):
                changed.append(path)
            if mine:
                forget_folder(packages.folder_of(path, name))
                packages.drop(path, name)
                changed += [path] if path not in changed else []
            if scope == "project" and path in changed:
                forget_removed(look(ProjectOptions(project=project, dialect=("anyhook",))))
        except (CannotChange, BadPackage) as why:
            raise BadCall(str(why)) from None
        except OSError as error:
            raise BadCall(f"{error.filename or path} cannot be written ({error.strerror}).") from None
    if not known:
        raise BadCall(f"there is no pack `{name}`.{guess(name, (GUARD, *NAMES))} Packs: {GUARD}, {', '.join(NAMES)}.")
    if options.json:
        render.json_out({"removed": name if changed else None, "files": [*changed]})
    elif changed:
        for path in changed:
            render.out(f"{name} is off: changed {render.short_path(path)}")
    else:
        render.out(f"{name} was not on.")
    return DONE if changed else FINDINGS


def _add_packs(packs: Sequence[str], path: str, project: str, options: AddOptions) -> int:
    fresh = [name for name in packs if name not in used_in(path)]
    if not fresh and options.scope != "project":
        return _already(packs, path, options)
    if not options.json:
        show(pack_table([(read_pack(name), "turn on" if name in fresh else "on") for name in packs]))
    if not options.yes and not _agreed(f"Turn them on in {render.short_path(path)}?", options):
        return FINDINGS
    change_used(path, add=fresh)
    approved = _approve([path_of(name) for name in packs], project, options)
    _report([*packs], path, approved, options)
    return DONE


def _already(packs: Sequence[str], path: str, options: AddOptions) -> int:
    if options.json:
        _report([*packs], path, 0, options)
    else:
        render.out(f"On already: {', '.join(packs)}. They are in {render.short_path(path)}.")
    return DONE


def _add_package(package: Package, path: str, project: str, options: AddOptions) -> int:
    before = packages.current_files(path, package.name)
    shown = described(package)
    if not package.rule_files and not shown:
        raise BadCall(
            f"{package.source} has no hooks that count and no file with [[rule]] in it, so there is nothing to add. A "
            "package is laid out like a project, with hook files where `anyhook dialects` says. The folder "
            'of a plugin goes into the settings: plugins = ["/path"].'
        )
    if not options.json:
        _show(package, before, shown)
    question = f"Add it to {render.short_path(path)}?"
    if before != package.files and not options.yes and not _agreed(question, options):
        return FINDINGS
    names = packages.put(package, path)
    old = [name for name in used_in(path) if name.startswith(f"{FOLDER}/{package.name}/")]
    change_used(path, add=names, remove=[name for name in old if name not in names])
    folder = packages.folder_of(path, package.name)
    approved = _approve([f"{folder}/{name}" for name in package.rule_files], project, options) + approve_folder(folder)
    _report([package.name], path, approved, options, package)
    return DONE


def _show(package: Package, before: Mapping[str, bytes], shown: Sequence[str]) -> None:
    """What a package would do, or how it differs from the installed one."""
    at = f" at {package.revision[:12]}" if package.revision else ""
    render.out(f"{package.name} from {package.source}{at}: {len(package.files)} files")
    for line in (*rule_lines(package), *shown) if not before else differences(before, package.files):
        render.out(line)


def _agreed(question: str, options: AddOptions) -> bool:
    """Whether a person says yes; False if no person can be asked."""
    if options.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        render.say("Nothing was changed. Add --yes, or call it in a terminal.")
        return False
    render.say(f"{question} [y/N]")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    render.say("Nothing was changed.")
    return False


def _approve(sources: Sequence[str], project: str, options: AddOptions) -> int:
    """Approve the rules of these files in a project, which the user has just accepted, and nothing else. Returns how
    many."""
    if options.scope != "project":
        return 0  # the user's own rules need no approval
    found = look(ProjectOptions(project=project, dialect=("anyhook",)))
    refuse_own_ledger(found.setup)
    mine = [entry for entry in found.waiting if entry.hook is not None and entry.hook.source in sources]
    return approve_some(found, [entry.item.id for entry in mine])


def _report(names: list[str], path: str, approved: int, options: AddOptions, package: Package | None = None) -> None:
    if options.json:
        said: dict[str, Json] = {
            "added": [*names],
            "scope": options.scope or SCOPES[0],
            "file": path,
            "approved": approved,
        }
        render.json_out({**said, "revision": package.revision} if package else said)
        return
    where = packages.folder_of(path, names[0]) if package else path
    render.out(f"On: {', '.join(names)}. {'It is' if len(names) == 1 else 'They are'} in {render.short_path(where)}.")
    if approved:
        render.out(f"Approved: {approved} {'hook or rule' if approved == 1 else 'hooks and rules'}.")
    counts = "It counts" if len(names) == 1 else "They count"
    render.say(f"{counts} in every agent that calls anyhook: `anyhook install AGENT`, or `anyhook setup` for all.")
    what = GUARD if len(names) > 1 else names[0]
    if package is None:
        shown = "git" if "git" in names else names[0]
        render.say(f"Try it:   anyhook {read_pack(shown).trial}")
    render.say(f"Undo it:  anyhook remove {what}")
