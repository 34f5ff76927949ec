"""Check a drafted hook in an empty temporary project and home: write it there, check it like `anyhook check`, and
explain it with an event. None of it is started, and nothing is left behind."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from anyhook.cli import BadCall
from anyhook.cli.fire import event_of
from anyhook.cli.options import EventOptions
from anyhook.cli.verb_explain import lines
from anyhook.engine.catalog import build
from anyhook.engine.engine import EngineOptions, open_engine
from anyhook.extra.testing.scaffold.plan import CannotScaffold, Order, find_row
from anyhook.extra.testing.scaffold.write import write
from anyhook.gates.check import checkup
from anyhook.model.problem import ERROR
from anyhook.platform.other_programs import ask
from anyhook.state.plans import Setup
from anyhook.tables.registry import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.extra.agent.hook_writer import Draft
    from anyhook.model.words import OwnScope
    from anyhook.tables.rows import Dialect, Roots

SYNTAX_LIMIT_S = 10


@dataclass
class DraftCheck:
    """The result as text, with the paths of the real place."""

    errors: list[str]
    """If there are any, the draft is not offered at all."""
    warnings: list[str]
    explained: list[str]


def order_of(draft: Draft, table: Dialect, roots: Roots, scope: OwnScope) -> Order:
    """The order that `anyhook new` would get; raises CannotScaffold if that is not possible."""
    row, _ = find_row(table, draft.event)
    return Order(draft.name, table, row, scope, draft.lang, draft.tool, roots)


def check_draft(draft: Draft, table: Dialect, setup: Setup, scope: OwnScope) -> DraftCheck:
    """Write it to an empty place, and check it."""
    with _empty_place(setup, table) as place:
        try:
            order = order_of(draft, table, place.roots(()), scope)
            write(order, draft.script)
            errors, warnings = _checked(place)
            errors += _syntax(draft)
            found, why = _explained(draft, order, place)
        except (CannotScaffold, BadCall) as error:
            return DraftCheck([_here(str(error), place, setup)], [], [])
        errors += [f"with the sample event the hook would not run: {why}"] if why else []
        return DraftCheck(*([_here(text, place, setup) for text in texts] for texts in (errors, warnings, found)))


@contextmanager
def _empty_place(setup: Setup, table: Dialect) -> Iterator[Setup]:
    with TemporaryDirectory(prefix="anyhook-") as folder:
        project, home = f"{folder}/project", f"{folder}/home"
        os.mkdir(project)
        os.mkdir(home)
        places = set(VARIABLES) - {"PATH"}
        env = {key: value for key, value in setup.env.items() if key not in places}
        yield Setup.of(project, {**env, "HOME": home}, [table.name], "all")


def _here(text: str, place: Setup, setup: Setup) -> str:
    """A message about the temporary place, with the paths of the real one."""
    return text.replace(place.project, setup.project).replace(place.env["HOME"], setup.env.get("HOME", "~"))


def _checked(place: Setup) -> tuple[list[str], list[str]]:
    problems = checkup(place).problems
    errors = [problem.sentence() for problem in problems if problem.severity == ERROR]
    return errors, [problem.sentence() for problem in problems if problem.severity != ERROR]


def _syntax(draft: Draft) -> list[str]:
    """Syntax errors in the script, found without running it."""
    if not draft.script.startswith("#!"):
        return ["the script needs a first line that names its interpreter, such as `#!/usr/bin/env bash`"]
    if draft.lang == "python":
        try:
            compile(draft.script, draft.name, "exec")
        except (SyntaxError, ValueError) as error:
            return [f"the script is not valid Python: {error}"]
        return []
    try:
        looked = ask(("bash", "-n"), SYNTAX_LIMIT_S, stdin=draft.script.encode())
    except OSError:
        return []  # no bash on this system: `check` has reported that
    return [f"the script is not valid bash: {looked.complaint()}"] if looked.status else []


def _explained(draft: Draft, order: Order, place: Setup) -> tuple[list[str], str]:
    """What `anyhook explain` shows for the sample, and why the hook would not run, or ""."""
    event, _ = event_of(order.row.native, EventOptions(data=json.dumps(draft.sample)))
    options = EngineOptions(place, mode="enforce", host="explain")
    records = open_engine(options, build(place, may_start=False).with_lines()).explain(event)
    # A hook that declares its own event would have to be started.
    asked = bool(order.dialect.ask_type)
    why = "" if asked or any(record["would_run"] for record in records) else str(records[0]["why"] if records else "")
    return list(lines(event.name, records)), why
