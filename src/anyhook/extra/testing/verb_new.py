"""`anyhook new`: write a working hook, and say how to try it. It never overwrites anything."""

from __future__ import annotations

import os
import shlex
from shutil import which
from typing import TYPE_CHECKING

import click

from anyhook.cli import BadCall, render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.options import ProjectJsonOptions, option, repeated, switch
from anyhook.cli.verbs import verb
from anyhook.extra.testing.scaffold.answers import EFFECTS
from anyhook.extra.testing.scaffold.plan import CannotScaffold, Order, find_row, plan
from anyhook.extra.testing.scaffold.try_out import case_file, first_cases, trial
from anyhook.extra.testing.scaffold.write import write
from anyhook.tables.registry import DIALECTS, dialect

if TYPE_CHECKING:
    from anyhook.extra.testing.scaffold.plan import Order, Plan
    from anyhook.extra.testing.scaffold.script import Lang
    from anyhook.model.hook import Hook
    from anyhook.model.words import OwnScope

INTERPRETERS = {"bash": "bash", "python": "python3"}
EXAMPLE = "anyhook new guard --dialect kodik --event PreToolUse --tool Bash"


class NewOptions(ProjectJsonOptions):
    dialect: tuple[str, ...] = repeated("--dialect", "The dialect to write the hook in.", "DIALECT")
    event: str | None = option("--event", "The event: a canonical name or any dialect's own.", "EVENT")
    tool: str | None = option("--tool", "Only for this tool.", "NAME")
    lang: str | None = option("--lang", "The script's language; default: bash.", "LANG", choices=("bash", "python"))
    scope: str | None = option(
        "--scope",
        "For the project (the default if the dialect has such hooks) or the user.",
        "SCOPE",
        choices=("project", "user"),
    )
    with_test: bool = switch("--with-test", "Also write its first test cases, for `anyhook test`.")


@verb("new", NewOptions, EXAMPLE, [click.Argument(["name"])])
def new(name: str, options: NewOptions) -> int:
    """Write a working hook and say how to try it.

    NAME becomes the name of its script. A new gate refuses calls that contain the word anyhook-demo-block; any other
    new hook logs its events. Change it from there. Existing files keep their content.
    """
    try:
        order, canonical = _order(name, options)
        if options.with_test:
            _check_cases(order)
        made, hook = write(order)
    except CannotScaffold as error:
        raise BadCall(str(error)) from None
    for note in made.notes:
        render.say(f"note: {note}")
    program = INTERPRETERS[order.lang]
    if made.script and which(program) is None:
        render.say(f"note: the script needs {program}, which is not on your PATH.")
    if canonical != order.row.canonical[0]:
        render.say(f"note: {order.row.native} comes after every tool, whether it succeeded or failed.")
    trials = _trials(order, canonical, options)
    cases = ""
    if options.with_test:
        cases = _write_cases(order, canonical, made, hook)
        trials.append((shlex.join(["anyhook", "test", render.short_path(cases)]), "run its cases"))
    _report(made, hook, trials, cases, options.json)
    return 0


def _check_cases(order: Order) -> None:
    """Check that cases can be written, before anything is."""
    if order.scope != "project":
        raise BadCall("--with-test: cases run in a project, with their own home. Use it with --scope project.")
    path = case_file(order, plan(order))
    if os.path.lexists(path):
        raise BadCall(f"--with-test: {path} is there already. Choose another name, or move the file away.")


def _write_cases(order: Order, canonical: str, made: Plan, hook: Hook) -> str:
    path = case_file(order, made)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(first_cases(order, canonical, hook))
    except OSError as error:
        raise BadCall(f"the hook is there, but its cases are not: {path}: {error.strerror}.") from None
    return path


def _order(name: str, options: NewOptions) -> tuple[Order, str]:
    chosen = options.dialect
    if len(chosen) != 1:
        raise BadCall(f"--dialect: name the one dialect to write the hook in: {', '.join(DIALECTS)}.")
    table = dialect(chosen[0])
    if not options.event:
        known = ", ".join(row.native for row in table.events)
        raise BadCall(f"--event: name the event. Events of {table.name}: {known}.")
    roots = setup_of(options).roots(())
    row, canonical = find_row(table, options.event)
    scope: OwnScope = "project" if "project" in dict(table.files) else "user"
    if options.scope:
        scope = "user" if options.scope == "user" else "project"
    lang: Lang = "python" if options.lang == "python" else "bash"
    return Order(name, table, row, scope, lang, options.tool or "", roots), canonical


def _trials(order: Order, canonical: str, options: NewOptions) -> list[tuple[str, str]]:
    """Command lines, and what each of them shows."""
    where = ["--project", options.project] if options.project else []
    more = ["--state-dir", options.state_dir] if options.state_dir else []
    found: list[tuple[str, str]] = []
    if order.scope == "project":
        found.append((shlex.join(["anyhook", "trust", *where]), "look at it and approve it"))
    acts = "blocks" if order.row.block in EFFECTS else "is recorded"
    for marked, effect in ((True, acts), (False, "passes" if acts == "blocks" else "is recorded too")):
        words = ["anyhook", *trial(order, canonical, marked=marked), "--dialect", order.dialect.name, *where, *more]
        found.append((shlex.join(words), effect))
    return found


def _report(made: Plan, hook: Hook, trials: list[tuple[str, str]], cases: str, as_json: bool) -> None:
    if as_json:
        files = [*(piece.path for piece in made.pieces), *([cases] if cases else [])]
        render.json_out({"files": list(files), "id": hook.id, "try": [line for line, _ in trials]}, indent=2)
        return
    for piece in made.pieces:
        render.out(f"{'wrote' if piece.old is None else 'added to'} {piece.path}")
    if cases:
        render.out(f"wrote {cases}")
    if made.log:
        render.out(f"it keeps its record in {made.log}")
    render.out(f"hook {hook.id}")
    render.out("")
    render.out("Try it:")
    width = max(len(line) for line, _ in trials)
    for line, effect in trials:
        render.out(f"  {line:<{width}}  # {effect}")
