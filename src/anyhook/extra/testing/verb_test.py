"""`anyhook test`: YAML cases, fired at a temporary copy of their project. It does not touch the project itself or the
user's files."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from anyhook.cli import BadCall, render
from anyhook.cli.fire import project_of
from anyhook.cli.journal_input import count_of
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import BAD, FAINT, PLAIN, wants_colour
from anyhook.extra.testing.kit.approval import not_approved, standing
from anyhook.extra.testing.kit.cases import BadCases, Case, find_files, read_cases
from anyhook.extra.testing.kit.run import FAILED, PASSED, Result, run_all
from anyhook.extra.testing.kit.sandbox import LEFT_OUT, CannotRun, has_hooks, project_for
from anyhook.gates.review import APPROVED
from anyhook.platform.places import believed_dir
from anyhook.platform.run import Unwinding
from anyhook.state.ledger import Ledger

MARKS = {"passed": "✓", "failed": "✗", "skipped": "-"}
STYLES = {"passed": PLAIN, "failed": BAD, "skipped": FAINT}
EXAMPLE = "anyhook test .kodik/hooks -k 'rm -rf'"
HOW = """There are no cases. A case file is named NAME.hooktest.yaml and can be anywhere in the project:

  cases:
    - name: what it shows
      event: pre_tool
      tool: Bash
      input: {command: ls}
      expect: {verdict: none}

`anyhook record` turns recorded events into cases."""


class TestOptions(JsonOptions):
    project: str | None = option(
        "--project", "The project directory; default: the nearest one above each case file that has hooks.", "DIR"
    )
    only: str | None = option("--only", "Only cases whose file or name contains this text.", "TEXT", short="-k")
    trust: str | None = option(
        "--trust", "all: run cases and hooks that are not approved, too, as in CI.", "MODE", choices=("ask", "all")
    )
    jobs: str | None = option("--jobs", "How many cases run in parallel; default: one per processor.", "N", short="-j")


@verb("test", TestOptions, EXAMPLE, [click.Argument(["paths"], nargs=-1)])
def test(paths: tuple[str, ...], options: TestOptions) -> int:
    """Run the test cases of your hooks.

    PATHS are case files (NAME.hooktest.yaml), or folders to search for them; default: the current folder. Each case
    fires one event at the hooks of a copy of its project, in real processes with their own home directory, and compares
    the result. Only case files and hooks that `anyhook trust` has approved run.

    \b
    Exit status: 0 all passed, 1 a case failed, 3 no cases, or a file that is not valid or not approved.
    """
    chosen = _chosen(_read(paths or (".",)), options)
    jobs = count_of("--jobs", options.jobs, os.cpu_count() or 1)
    shown: list[Result] = []
    with Unwinding():
        for result in run_all(chosen, jobs, options.trust or "ask"):
            if not options.json:
                _show(result, shown[-1] if shown else None)
            shown.append(result)
    counts = {status: sum(result.status == status for result in shown) for status in MARKS}
    if options.json:
        render.json_out({**counts, "cases": [result.as_dict() for result in shown]}, indent=2)
    else:
        skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
        render.out(f"{counts[PASSED]} passed, {counts[FAILED]} failed{skipped}")
    return 1 if counts[FAILED] else 0


def _read(paths: Sequence[str]) -> list[Case]:
    """The cases of all files; one error names every file that is not valid."""
    try:
        files = find_files(paths, LEFT_OUT)
    except BadCases as error:
        raise BadCall(str(error)) from None
    if not files:
        raise BadCall(HOW)
    cases: list[Case] = []
    wrong: list[str] = []
    for file in files:
        try:
            cases += read_cases(file)
        except BadCases as error:
            wrong.append(str(error))
    if wrong:
        raise BadCall("these case files are not valid.\n" + "\n".join(wrong))
    return cases


def _chosen(cases: list[Case], options: TestOptions) -> list[tuple[Case, str]]:
    """The selected cases, each with its project."""
    wanted = (options.only or "").lower()
    chosen = [case for case in cases if wanted in case.id.lower()]
    if not chosen:
        raise BadCall(f"-k {options.only}: none of the {len(cases)} cases contains this text in its file or name.")
    given = os.path.realpath(project_of(options.project)) if options.project else None
    here = dict.fromkeys((case.file for case in chosen), os.getcwd())
    try:
        folders = here if options.trust == "all" else _approving([*here], cases, given)
        pairs = [(case, given or project_for(case.file, case.project, folders[case.file])) for case in chosen]
    except CannotRun as error:
        raise BadCall(str(error)) from None
    for project in dict.fromkeys(project for _, project in pairs) if options.trust != "all" else ():
        check_approved(project)
    return pairs


def _approving(files: list[str], cases: list[Case], given: str | None) -> dict[str, str]:
    """The approving folder of each case file; nothing runs if one is not approved."""
    found = {file: standing(file, [case for case in cases if case.file == file], given, os.environ) for file in files}
    refused = [not_approved(file, each) for file, each in found.items() if each.status != APPROVED]
    if refused:
        raise BadCall("\n".join([*refused, "Nothing was run. To run everything anyway: --trust all"]))
    return {file: each.folder for file, each in found.items()}


def check_approved(project: str) -> None:
    """Only approved hooks run. If there are none, no case can succeed."""
    if has_hooks(project) and not Ledger(believed_dir(os.environ, project)).knows_hooks(project):
        raise BadCall(
            f"cases run the hooks of {project}, and you never approved any of them. Look at them: anyhook trust "
            f"--project {project}. To run the cases anyway: --trust all"
        )


def _show(result: Result, before: Result | None) -> None:
    case = result.case
    if before is None or before.case.file != case.file:
        render.out(render.short_path(case.file))
    why = f": {case.skip}" if case.skip else f" ({result.seconds * 1000:.0f} ms)"
    style = STYLES[result.status] if wants_colour(os.environ) else PLAIN
    render.out(f"  {MARKS[result.status]} {case.name}{why}", style)
    if result.failures:
        render.out(f"      {case.file}:{case.line}")
    for failure in result.failures:
        for line in failure.split("\n"):
            render.out(f"      {line}")
