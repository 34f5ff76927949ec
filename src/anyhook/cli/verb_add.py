"""`anyhook add` and `anyhook remove`: guards, other packs, and packages of rules from elsewhere."""

from __future__ import annotations

import difflib
import os
import sys
from typing import TYPE_CHECKING

import click

from anyhook.cli.failure import DONE, FINDINGS, BadCall
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import PACK
from anyhook.cli.options import JsonOptions, ProjectOptions, option, switch
from anyhook.cli.verb_guards import pack_table
from anyhook.cli.verb_trust import approve_some, forget_removed, look, refuse_own_ledger
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.cli.view.console import show
from anyhook.guard.pack_list import GUARD, NAMES, members, read_pack
from anyhook.install import packages
from anyhook.install.changes import CannotChange
from anyhook.install.packages import BadPackage, Package
from anyhook.install.used_packs import change_used, rule_file, used_in
from anyhook.tables.shapes import guess

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Turn guards on, or take rules from elsewhere.

    WHAT is `guard` (all guards), the name of one pack (`anyhook guards` lists them), a folder, or the address of a git
    repository with @REV behind it. Rules from elsewhere are shown, copied and pinned in anyhook.lock; calling it again
    shows what changed. Nothing is fetched that you did not name.

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
            wanted = [each for each in used if each.startswith(f"{packages.FOLDER}/{name}/")] if mine else members(name)
            known = known or bool(wanted) or mine
            if change_used(path, remove=wanted):
                changed.append(path)
            if mine:
                packages.drop(path, name)
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
    if not fresh:
        return _already(packs, path, options)
    if not options.json:
        show(pack_table([(read_pack(name), "turn on" if name in fresh else "on") for name in packs]))
    if not options.yes and not _agreed(f"Turn them on in {render.short_path(path)}?", options):
        return FINDINGS
    change_used(path, add=fresh)
    approved = _approve(path, project, options)
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
    same = before == package.files
    if not options.json:
        _show(package, before)
    if not same and not options.yes and not _agreed(f"Add it to {render.short_path(path)}?", options):
        return FINDINGS
    old = [name for name in used_in(path) if name.startswith(f"{packages.FOLDER}/{package.name}/")]
    names = packages.put(package, path)
    change_used(path, add=names, remove=[name for name in old if name not in names])
    approved = _approve(path, project, options)
    _report([package.name], path, approved, options, package)
    return DONE


def _show(package: Package, before: dict[str, bytes]) -> None:
    """What a package would do, or how it differs from what is there."""
    at = f" at {package.revision[:12]}" if package.revision else ""
    render.out(f"{package.name} from {package.source}{at}: {len(package.files)} files")
    if before:
        for path in sorted({*before, *package.files}):
            old, new = before.get(path, b""), package.files.get(path, b"")
            if old != new:
                for line in _differences(path, old, new):
                    render.out(line)
        if before == package.files:
            render.out("  nothing has changed")
        return
    for rule in package.rules():
        condition = next((f"{key} {rule[key]}" for key in ("when", "before", "after") if key in rule), "")
        render.out(f"  {rule.get('then', 'run' if 'run' in rule else 'deny'):<8} {rule.get('name', '')}: {condition}")
        if "run" in rule:
            render.out(f"           runs: {rule['run']}")


def _differences(path: str, old: bytes, new: bytes) -> list[str]:
    before, after = (data.decode("utf-8", "replace").splitlines() for data in (old, new))
    return list(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))


def _agreed(question: str, options: AddOptions) -> bool:
    """A person's yes; False where nobody can be asked."""
    if options.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        render.say("Nothing was changed. Add --yes, or call it in a terminal.")
        return False
    render.say(f"{question} [y/N]")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    render.say("Nothing was changed.")
    return False


def _approve(path: str, project: str, options: AddOptions) -> int:
    """Approves in a project what its user has just said yes to, and nothing else; how many rules."""
    if options.scope != "project":
        return 0  # the user's own rules need no approval
    found = look(ProjectOptions(project=project, dialect=("anyhook",)))
    refuse_own_ledger(found.setup)
    mine = [entry for entry in found.waiting if entry.hook is not None and entry.hook.source != path]
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
    render.out(f"On: {', '.join(names)}. They are in {render.short_path(path)}.")
    if approved:
        render.out(f"Approved: {approved} rules of this project.")
    render.say("They count in every agent that calls anyhook: `anyhook install AGENT`, or `anyhook setup` for all.")
    what = GUARD if len(names) > 1 else names[0]
    render.say('Try it:   anyhook fire pre_tool --tool Bash --input \'{"command": "git push --force"}\'')
    render.say(f"Undo it:  anyhook remove {what}")
