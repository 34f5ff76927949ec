"""Approval: which case files and which hooks a test may run. A case file is code, so the ledger pins its content like a
hook's. Hooks are checked in the copy that they will run in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from anyhook.documents.files import Files, Fingerprint
from anyhook.engine.catalog import covered, pinned, read, with_interpreters
from anyhook.extra.testing.kit import is_case_file
from anyhook.extra.testing.kit.cases import BadCases, Case, read_cases
from anyhook.extra.testing.kit.sandbox import LEFT_OUT, CannotRun, project_for
from anyhook.gates.review import APPROVED, CHANGED, NEW, REMOVED, Reviewed, review
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record
from anyhook.platform.places import NOWHERE, believed_dir, lies_in, upward
from anyhook.programs.named import named_files, on_project_path, within
from anyhook.state.ledger import Item, Ledger
from anyhook.state.plans import Setup
from anyhook.tables.registry import dialect

CASES = "cases"
"""The prefix of a case file's id in the ledger. (A hook's id starts with its dialect.)"""
ABOUT = "a case file: `anyhook test` runs it"
MAX_FOLDERS = 50_000
"""How many folders `trust` searches for case files."""
NO_HOME = "/dev/null/home"
"""A case's own home is created for each run, so nothing in it can be pinned."""


class Standing(Record):
    """Which folder's approval lets a case file run, or why it may not."""

    status: str
    folder: str


def review_cases(folder: str, ledger: Ledger, env: Mapping[str, str]) -> tuple[list[Reviewed], list[Problem]]:
    """The case files in and below a folder, for `trust`; then those that are gone."""
    own = {key: item for key, item in ledger.items(folder).items() if key.startswith(f"{CASES}:")}
    entries: list[Reviewed] = []
    problems: list[Problem] = []
    for path in _files_below(folder, problems):
        entry = _entry(path, folder, env)
        known = ledger.known(folder, entry.item.id)
        own.pop(entry.item.id, None)
        if known:
            status = APPROVED if covered(known, entry.item) else CHANGED
            entry = entry.replace(status=status, before=known[0])
        entries.append(entry)
    gone = [Reviewed(item, REMOVED, "", None, before=item) for item in own.values()]
    return [*entries, *gone], problems


def _files_below(folder: str, problems: list[Problem]) -> Iterator[str]:
    for count, (here, folders, names) in enumerate(os.walk(folder)):
        if count >= MAX_FOLDERS:
            what = f"the project has more than {MAX_FOLDERS:,} folders, so not all of it was searched for case files"
            fix = "Run `anyhook trust` in the folder that holds the case files."
            problems.append(Problem("cases-not-searched", what, folder, "", fix, WARNING))
            return
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        yield from (os.path.join(here, name) for name in sorted(names) if is_case_file(name))


def _entry(path: str, folder: str, env: Mapping[str, str]) -> Reviewed:
    seen = Files().fingerprint(path)
    try:
        cases = read_cases(path)
        project = project_for(path, cases[0].project if cases else "", folder)
    except (BadCases, CannotRun) as error:
        item = Item(_identity(path, folder), "", {path: seen.digest})
        return Reviewed(item, NEW, "", None, prints={path: seen}, runs={"unusable": str(error)}, about=ABOUT)
    prints = {path: seen, **_prints(cases, project, env)}
    runs = _runs(cases, project, folder)
    return Reviewed(_item(path, folder, prints), NEW, "", None, prints=prints, runs=runs, about=ABOUT)


def _identity(path: str, folder: str) -> str:
    return f"{CASES}:{os.path.relpath(path, folder)}"


def _item(path: str, folder: str, prints: Mapping[str, Fingerprint]) -> Item:
    return Item(_identity(path, folder), "", {each: seen.digest for each, seen in prints.items()})


def _runs(cases: Sequence[Case], project: str, folder: str) -> dict[str, str]:
    """What a person must know before approving."""
    said = {"cases": str(len(cases))}
    if project != folder:
        said["project"] = project
    setups = dict.fromkeys(case.setup for case in cases if case.setup)
    said.update({f"setup {number}".removesuffix(" 1"): line for number, line in enumerate(setups, 1)})
    written = dict.fromkeys(path for case in cases for path in case.files)
    if written:
        said["writes"] = ", ".join(written)
    plugins = dict.fromkeys(path for case in cases for path in case.plugin_dirs)
    if plugins:
        said["plugins"] = ", ".join(plugins)
    return said


def _prints(cases: Sequence[Case], project: str, env: Mapping[str, str]) -> dict[str, Fingerprint]:
    """The project's files that the cases name and could run: in `setup`, in files they write, and as plugins."""
    files = Files()
    roots = Setup.of(project, env).roots(())
    words = dict.fromkeys(text.replace("{project}", project) for case in cases for text in _texts(case) if text)
    waiting = [*named_files([*words], project, NO_HOME, {}, files)]
    paths = [case.env.get("PATH") or "" for case in cases] + [env.get("PATH", "")]
    for each in dict.fromkeys(paths):
        waiting += on_project_path([*words], each.replace("{project}", project), project, files)
    found = with_interpreters(waiting, roots, files)
    for folder in dict.fromkeys(os.path.join(project, name) for case in cases for name in case.plugin_dirs):
        found.update(_plugin_prints(project, folder, env))
    return {path: seen for path, seen in found.items() if not within(path, NO_HOME)}


def _texts(case: Case) -> Iterator[str | None]:
    """What a case writes or runs."""
    yield case.setup
    yield from (entry.text for entry in (*case.files.values(), *case.home.values()))
    yield from case.env.values()


def _plugin_prints(project: str, folder: str, env: Mapping[str, str]) -> dict[str, Fingerprint]:
    setup = Setup.of(project, env, plugin_dirs=[folder])
    loaded = read(setup)
    found: dict[str, Fingerprint] = {}
    for name, layers in loaded.layers.items():
        for layer in layers:
            if layer.source.scope == "plugin" and within(layer.source.path, os.path.realpath(folder)):
                sources = [layer.source.path, *(hook.source for hook in layer.hooks)]
                found.update({path: loaded.files.fingerprint(path) for path in sources if not os.path.isdir(path)})
                for hook in layer.hooks:
                    found.update(pinned(hook, dialect(name), loaded.roots_of(name), loaded.files)[1])
    return found


def standing(file: str, cases: Sequence[Case], given: str | None, env: Mapping[str, str]) -> Standing:
    """Whether the cases of a file may run: whether an approval of a folder above the file covers exactly these bytes
    and the files that they would run. `given` is the project that the caller names."""
    path, found = _place_of(file), Standing(NEW, "")
    for folder in upward(os.path.dirname(path), "/"):  # the nearest first
        state_dir = believed_dir(env, folder)
        if state_dir == NOWHERE:
            break  # from here on, the ledger itself may have come with the project
        known = Ledger(state_dir).known(folder, _identity(path, folder))
        if known:
            project = given or project_for(file, cases[0].project if cases else "", folder)
            prints = {path: Fingerprint(cases[0].digest), **_prints(cases, project, env)} if cases else {}
            if covered(known, _item(path, folder, prints)):
                return Standing(APPROVED, folder)
            found = Standing(CHANGED, folder)
    return found


def _place_of(file: str) -> str:
    """The path of a file in its real folder. A link to a case file is another file."""
    return os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(file))), os.path.basename(file))


def not_approved(file: str, standing: Standing) -> str:
    """The message about a case file that may not run."""
    if standing.status == CHANGED:
        what, folder = "it changed since you approved it, or a file that it runs did", standing.folder
    else:
        place = os.path.dirname(_place_of(file))
        project = project_for(file, "", place)  # there, its hooks are approved with it
        what, folder = "you never approved it", project if lies_in(place, project) else place
    return f"{file}: this case file is not run: {what}. Look at it: anyhook trust --project {folder}"


def unapproved_in(copy: str, source: str, search_path: str, env: Mapping[str, str]) -> list[str]:
    """A sentence for each hook of a copy that is not approved in the project. This checks the copy and not the project,
    because the copy is what runs."""
    ledger = Ledger(believed_dir(env, source))
    loaded = read(Setup.of(copy, {**env, "PATH": search_path}))
    tables = [(dialect(name), layers) for name, layers in loaded.layers.items()]
    found: list[str] = []
    for entry in review(tables, Ledger(NOWHERE), loaded.roots, loaded.files):
        known = ledger.known(source, entry.item.id)
        if not any(_is_copy_of(entry.item, before, copy, source) for before in known):
            why = "it changed since you approved it" if known else "you never approved it"
            found.append(f"{entry.item.id} is not run: {why}. Look at it: anyhook trust --project {source}")
    return found


def _is_copy_of(item: Item, before: Item, copy: str, source: str) -> bool:
    """Whether the declaration and every file are the approved ones. A file that was left out of the copy cannot run."""
    if item.definition != before.definition or not item.pinnable:
        return False
    for path, digest in item.files.items():
        there = f"{source}{path[len(copy) :]}" if within(path, copy) else path
        if digest != before.files.get(there, "") and (digest or not os.path.lexists(there)):
            return False
    return True
