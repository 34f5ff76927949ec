"""`anyhook add` and `anyhook remove`: guards, other packs, and packages of rules from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.known_words import PACK
from anyhook.cli.options import JsonOptions, ProjectOption, ProjectOptions, option, switch
from anyhook.cli.person import may_change, require_person
from anyhook.cli.undo import changing, tell_undo, undo
from anyhook.cli.verb_guards import pack_table
from anyhook.cli.verb_trust import approve_some, forget_removed, look, refuse_own_ledger
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import show
from anyhook.cli.view.difference import file_difference
from anyhook.cli.view.review_text import what_it_runs
from anyhook.documents.pins import FOLDER
from anyhook.gates.review import REMOVED
from anyhook.install import packages
from anyhook.install.packages import Package, write_files
from anyhook.install.used_packs import change_used, rule_file, used_in
from anyhook.model.json_types import JsonView
from anyhook.model.words import OWN_SCOPES, OwnScope
from anyhook.platform.places import state_dir
from anyhook.rules.pack_list import GUARD, NAMES, members, path_of, read_pack
from anyhook.state.switches import Switches
from anyhook.tables.shapes import guess


class AddOptions(JsonOptions, ProjectOption):
    scope: OwnScope | None = option(
        "--scope", "For the user (the default) or for this project.", "SCOPE", choices=OWN_SCOPES
    )
    yes: bool = switch("--yes", "Add it without asking.")


class RemoveOptions(JsonOptions, ProjectOption):
    scope: OwnScope | None = option(
        "--scope", "From the user's or the project's rules; default: the user's.", "SCOPE", choices=OWN_SCOPES
    )


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
    path = rule_file(options.scope or OWN_SCOPES[0], project, os.environ)
    with changing(path):
        packs = members(what)
        if packs:
            return _add_packs(packs, path, project, options)
        if packages.is_package(what):
            require_person(f"add {what}")  # it approves what the package runs
            return _add_package(packages.fetch(what), path, project, options)
    raise BadCall(f"there is no pack `{what}`.{guess(what, (GUARD, *NAMES))} Packs: {GUARD}, {', '.join(NAMES)}.")


@verb("remove", RemoveOptions, "anyhook remove guard", [click.Argument(["names"], nargs=-1, required=True, type=PACK)])
def remove(names: tuple[str, ...], options: RemoveOptions) -> int:
    """Turn packs or packages off again: `guard` for all guards.

    It changes one file: your own rules, or with --scope project those of this project. Without --scope it takes your
    own, and the project's only if it is not on in yours.

    \b
    Exit status: 0 removed, 1 it was not on, 3 bad call.
    """
    require_person("remove")
    project = os.path.realpath(project_of(options.project))
    with changing("the file"):
        on = _where_on(names, project)
        first: OwnScope = next((each for each, some in on.items() if some), OWN_SCOPES[0])
        scope = options.scope or first
        path = rule_file(scope, project, os.environ)
        changed = [name for name in names if _remove_one(name, path)]
        confirmed = _confirmed(names, changed) if scope == OWN_SCOPES[0] else []
        if scope == "project" and changed:
            forget_removed(look(ProjectOptions(project=project, dialect=("anyhook",))))
    if options.json:
        _removed_json(changed, confirmed, scope, path)
    else:
        _tell_removed(names, changed, confirmed, path, options)
        _tell_left(on, scope, options)
    return DONE if changed or confirmed else FINDINGS


def _tell_left(on: Mapping[OwnScope, list[str]], changed: str, options: RemoveOptions) -> None:
    """Where they are still on."""
    for scope, names in on.items():
        if names and scope != changed:
            still = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} still on{_whose(scope)}"
            render.say(f"{still}: {undo('add', names, scope, options.project)}")


def _confirmed(names: Sequence[str], changed: Sequence[str]) -> list[str]:
    """Those that were gone already, and are not missed from now on."""
    return [name for name in names if _forgotten(name) and name not in changed]


def _removed_json(changed: list[str], confirmed: list[str], scope: str, path: str) -> None:
    removed = [*changed, *confirmed]
    said = removed[0] if len(removed) == 1 else removed or None
    render.json_out({"removed": said, "scope": scope, "files": [path] if changed else []})


def _where_on(names: Sequence[str], project: str) -> dict[OwnScope, list[str]]:
    """Which of them are on, or were and are missed, by scope; raises BadCall for an unknown pack."""
    on: dict[OwnScope, list[str]]
    on = {
        scope: [name for name in names if _is_on(name, rule_file(scope, project, os.environ))] for scope in OWN_SCOPES
    }
    on[OWN_SCOPES[0]] += [name for name in names if name not in on[OWN_SCOPES[0]] and _missed(name)]
    for name in names:
        if not members(name) and not any(name in some for some in on.values()):
            known = f"Packs: {GUARD}, {', '.join(NAMES)}."
            raise BadCall(f"there is no pack `{name}`.{guess(name, (GUARD, *NAMES))} {known}")
    return on


def _missed(name: str) -> list[str]:
    """What belongs to a pack, a package or a rule file and was known to be on for the user."""
    wanted = {name, *members(name)}
    known = [each for some in Switches(state_dir(os.environ)).on.values() for each in some]
    return [each for each in known if each in wanted or each.startswith(f"{FOLDER}/{name}/")]


def _forgotten(name: str) -> bool:
    """Whether this was known to be on; from now on it is not missed."""
    return Switches(state_dir(os.environ)).forget(_missed(name))


def remember(path: str, names: Sequence[str]) -> None:
    """Note that these packs are on in the user's rule file: if they are gone later, that is said."""
    switches = Switches(state_dir(os.environ))
    try:
        switches.remember(path, names)
    except OSError as error:
        render.say(f"{switches.path} cannot be written ({error.strerror}): if they are gone one day, nobody will know.")


def _tell_removed(
    names: Sequence[str], changed: Sequence[str], confirmed: Sequence[str], path: str, options: RemoveOptions
) -> None:
    for name in confirmed:
        render.out(f"{name} is off. It was gone already; from now on it is not missed.")
    if changed:
        word = "changed" if os.path.exists(path) else "removed"
        be = "is" if len(changed) == 1 else "are"
        render.out(f"{', '.join(changed)} {be} off: {word} {render.short_path(path)}")
    elif not confirmed:
        render.out(f"{', '.join(names)} {'was' if len(names) == 1 else 'were'} not on{_whose(options.scope)}.")


def _whose(scope: str | None) -> str:
    return {"user": " in your own rules", "project": " in this project's rules"}.get(scope or "", "")


def _is_on(name: str, path: str) -> bool:
    """Whether a file uses something of a pack or a package."""
    return name in packages.read_lock(path) or bool(set(members(name)) & set(used_in(path)))


def _remove_one(name: str, path: str) -> bool:
    """Take one pack or package out of a file; returns whether it was there."""
    mine = name in packages.read_lock(path)
    used = used_in(path)
    wanted = [each for each in used if each.startswith(f"{FOLDER}/{name}/")] if mine else members(name)
    changed = change_used(path, remove=wanted)
    if mine:
        forget_folder(packages.folder_of(path, name))
        packages.drop(path, name)
    return changed or mine


def _add_packs(packs: Sequence[str], path: str, project: str, options: AddOptions) -> int:
    fresh = [name for name in packs if name not in used_in(path)]
    if not fresh and options.scope != "project":
        return _already(packs, path, options)
    if not options.json:
        show(pack_table([(read_pack(name), "turn on" if name in fresh else "on") for name in packs]))
    question = f"Turn them on in {render.short_path(path)}?"
    if not may_change(question, yes=options.yes, as_json=options.json):
        return FINDINGS
    change_used(path, add=fresh)
    if options.scope != "project":
        remember(path, packs)
    approved = _approve([path_of(name) for name in packs], project, options)
    all_of_them = fresh == list(packs) and len(packs) > 1
    scope, names = options.scope or OWN_SCOPES[0], [GUARD] if all_of_them else fresh
    undone = [undo("add", names, scope, options.project)] if fresh else []
    _report([*packs], path, approved, options, undone)
    return DONE


def _already(packs: Sequence[str], path: str, options: AddOptions) -> int:
    if options.json:
        _report([*packs], path, 0, options, [])
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
    if before != package.files and not may_change(question, yes=options.yes, as_json=options.json):
        return FINDINGS
    names = packages.put(package, path)
    old = [name for name in used_in(path) if name.startswith(f"{FOLDER}/{package.name}/")]
    change_used(path, add=names, remove=[name for name in old if name not in names])
    if options.scope != "project":
        remember(path, [*names, f"{FOLDER}/{package.name}/"])
    folder = packages.folder_of(path, package.name)
    approved = _approve([f"{folder}/{name}" for name in package.rule_files], project, options) + approve_folder(folder)
    undone = [] if before else [undo("add", [package.name], options.scope or OWN_SCOPES[0], options.project)]
    _report([package.name], path, approved, options, undone, package)
    return DONE


def _show(package: Package, before: Mapping[str, bytes], shown: Sequence[str]) -> None:
    """What a package would do, or how it differs from the installed one."""
    at = f" at {package.revision[:12]}" if package.revision else ""
    render.out(f"{package.name} from {package.source}{at}: {len(package.files)} files")
    for line in (*rule_lines(package), *shown) if not before else differences(before, package.files):
        render.out(line)


def _approve(sources: Sequence[str], project: str, options: AddOptions) -> int:
    """Approve the rules of these files in a project, which the user has just accepted, and nothing else. Returns how
    many."""
    if options.scope != "project":
        return 0  # the user's own rules need no approval
    found = look(ProjectOptions(project=project, dialect=("anyhook",)))
    refuse_own_ledger(found.setup)
    mine = [entry for entry in found.waiting if entry.hook is not None and entry.hook.source in sources]
    return approve_some(found, [entry.item.id for entry in mine])


def _report(
    names: list[str],
    path: str,
    approved: int,
    options: AddOptions,
    undone: Sequence[str],
    package: Package | None = None,
) -> None:
    if options.json:
        said: dict[str, JsonView] = {
            "added": names,
            "scope": options.scope or OWN_SCOPES[0],
            "file": path,
            "approved": approved,
            "undo": undone,
        }
        render.json_out({**said, "revision": package.revision} if package else said)
        return
    where = packages.folder_of(path, names[0]) if package else path
    render.out(f"On: {', '.join(names)}. {'It is' if len(names) == 1 else 'They are'} in {render.short_path(where)}.")
    if approved:
        render.out(f"Approved: {approved} {'hook or rule' if approved == 1 else 'hooks and rules'}.")
    counts = "It counts" if len(names) == 1 else "They count"
    render.say(f"{counts} in every agent that calls anyhook: `anyhook install AGENT`, or `anyhook setup` for all.")
    if package is None:
        shown = "git" if "git" in names else names[0]
        render.say(f"Try it:   anyhook {read_pack(shown).trial}")
    tell_undo(undone)


# A package before it is added: what it would run, how it differs from the installed one, and its approval.


def described(package: Package) -> list[str]:
    """The hooks of a package and what they run, in any dialect. It starts none of them."""
    with TemporaryDirectory(prefix="anyhook-package-") as made:
        folder = os.path.realpath(made)
        write_files(package.files, folder)
        entries = look(ProjectOptions(project=folder)).entries
        lines = [line for entry in entries if entry.status != REMOVED for line in what_it_runs(entry)]
        return [f"  {line.replace(f'{folder}/', '')}" for line in lines]


def rule_lines(package: Package) -> Iterator[str]:
    """The rules of files that a rule file uses."""
    for rule in package.rules():
        condition = next((f"{key} {rule[key]}" for key in ("when", "before", "after") if key in rule), "")
        yield f"  {rule.get('then', 'run' if 'run' in rule else 'deny'):<8} {rule.get('name', '')}: {condition}"
        if "run" in rule:
            yield f"           runs: {rule['run']}"


def differences(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """What an update changes, file by file."""
    paths = sorted({*before, *after})
    lines = [
        line for path in paths for line in file_difference(before.get(path), after.get(path), f"a/{path}", f"b/{path}")
    ]
    return lines or ["  nothing has changed"]


def approve_folder(folder: str) -> int:
    """Approve the hooks of a package whose content the user has just accepted. Returns how many."""
    found = look(ProjectOptions(project=folder))
    own = [entry for entry in found.entries if not entry.project]  # not those of the folders above
    if not own:
        return 0
    found = found.replace(entries=own)
    refuse_own_ledger(found.setup)
    forget_removed(found)
    return approve_some(found, [entry.item.id for entry in found.waiting])


def forget_folder(folder: str) -> None:
    """Withdraw the approval of a package that is about to be removed."""
    if os.path.isdir(folder):
        look(ProjectOptions(project=folder)).ledger.revoke(folder)
