"""`anyhook test`: cases in YAML, fired at a throw-away copy of their project. It never touches the project itself, nor
anything of the user's."""

from __future__ import annotations

import os

import click

from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import count_of
from anyhook.cli.options import JSON, Option
from anyhook.cli.signals import Unwinding
from anyhook.cli.verbs import verb
from anyhook.cli.view import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.cli.options import Values
    from anyhook.testing.kit.cases import Case
    from anyhook.testing.kit.run import Result

OPTIONS = (
    Option("--project", "The project directory; default: the nearest one above each case file that has hooks.", "DIR"),
    Option("--only", "Only cases whose file and name have this in them.", "TEXT", short="-k"),
    Option(
        "--trust", "all: also case files and hooks that you never approved, as in CI.", "MODE", choices=("ask", "all")
    ),
    Option("--jobs", "How many cases run at once; default: one for each processor.", "N", short="-j"),
    Option("--junit", "Write the results as JUnit XML as well.", "FILE"),
    Option("--schema", "Print the JSON Schema of case files, for your editor, and run nothing."),
    JSON,
)
MARKS = {"passed": "✓", "failed": "✗", "skipped": "-"}
EXAMPLE = "anyhook test .kodik/hooks -k 'rm -rf' --junit hooks.xml"
HOW = """There are no cases. A case file is named NAME.hooktest.yaml and lies anywhere in the project:

  cases:
    - name: what it shows
      event: pre_tool
      tool: Bash
      input: {command: ls}
      expect: {verdict: none}

`anyhook record` makes cases of what happened, `anyhook new … --with-test` writes some with a new hook."""


@verb("test", OPTIONS, EXAMPLE, [click.Argument(["paths"], nargs=-1)])
def test(paths: tuple[str, ...], values: Values) -> int:
    """Run the cases of hook folders.

    PATHS are case files (NAME.hooktest.yaml) or folders to look for them in; default: the current folder. Each case
    fires one event at the hooks of a copy of its project, in real processes, with a home of its own, and compares what
    comes of it. Only case files and hooks run that `anyhook trust` has approved. Leaves with 0 where all passed, 1
    where one did not, 3 where there is none, or a file cannot be used or is not approved.
    """
    if values["schema"]:
        from anyhook.testing.kit.keys import schema

        render.json_out(schema(), indent=2)
        return 0
    from anyhook.testing.kit.run import FAILED, PASSED, run_all

    chosen = _chosen(_read(paths or (".",)), values)
    jobs = count_of(values, "jobs", os.cpu_count() or 1)
    shown: list[Result] = []
    with Unwinding():
        for result in run_all(chosen, jobs, str(values["trust"] or "ask")):
            if not values["json"]:
                _show(result, shown[-1] if shown else None)
            shown.append(result)
    if values["junit"]:
        _write_junit(str(values["junit"]), shown)
    counts = {status: sum(result.status == status for result in shown) for status in MARKS}
    if values["json"]:
        render.json_out({**counts, "cases": [result.as_dict() for result in shown]}, indent=2)
    else:
        skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
        render.out(f"{counts[PASSED]} passed, {counts[FAILED]} failed{skipped}")
    return 1 if counts[FAILED] else 0


def _read(paths: Sequence[str]) -> list[Case]:
    """The cases of all files; every file that cannot be used is told of."""
    from anyhook.testing.kit.cases import BadCases, find_files, read_cases
    from anyhook.testing.kit.sandbox import LEFT_OUT

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
        raise BadCall("these cases cannot be run.\n" + "\n".join(wrong))
    return cases


def _chosen(cases: list[Case], values: Values) -> list[tuple[Case, str]]:
    """The cases that are asked for, each with its project."""
    from anyhook.cli.event_input import project_of
    from anyhook.testing.kit.sandbox import NoGround, project_for

    wanted = str(values["only"] or "").lower()
    chosen = [case for case in cases if wanted in case.id.lower()]
    if not chosen:
        raise BadCall(f"-k {values['only']}: none of the {len(cases)} cases has this in its file or name.")
    given = os.path.realpath(project_of(values)) if values["project"] else None
    try:
        if values["trust"] == "all":
            return [(case, given or project_for(case.file, case.project, os.getcwd())) for case in chosen]
        folders = _approving({case.file: [each for each in cases if each.file == case.file] for case in chosen}, given)
        pairs = [(case, given or project_for(case.file, case.project, folders[case.file])) for case in chosen]
    except NoGround as error:
        raise BadCall(str(error)) from None
    for project in dict.fromkeys(project for _, project in pairs):
        check_approved(project)
    return pairs


def _approving(files: dict[str, list[Case]], given: str | None) -> dict[str, str]:
    """By case file, the folder that approved it; nothing is run where one is not approved."""
    from anyhook.testing.kit.approval import not_approved, standing
    from anyhook.walk.review import APPROVED

    found = {file: standing(file, cases, given, os.environ) for file, cases in files.items()}
    refused = [not_approved(file, each) for file, each in found.items() if each.status != APPROVED]
    if refused:
        raise BadCall("\n".join([*refused, "Nothing was run. To run everything all the same: --trust all"]))
    return {file: each.folder for file, each in found.items()}


def check_approved(project: str) -> None:
    """Hooks run as far as they are approved; where none is, nothing can come of a case."""
    from anyhook.state.ledger import Ledger
    from anyhook.state.places import believed_dir
    from anyhook.testing.kit.sandbox import has_hooks

    if has_hooks(project) and not Ledger(believed_dir(os.environ, project)).approves_hooks(project):
        raise BadCall(
            f"cases run the hooks of {project}, and you never approved any of them. Look at them: anyhook trust "
            f"--project {project}. To run the cases all the same: --trust all"
        )


def _show(result: Result, before: Result | None) -> None:
    case = result.case
    if before is None or before.case.file != case.file:
        render.out(render.short_path(case.file))
    why = f": {case.skip}" if case.skip else f" ({result.seconds * 1000:.0f} ms)"
    render.out(f"  {MARKS[result.status]} {case.name}{why}")
    if result.failures:
        render.out(f"      {case.file}:{case.line}")
    for failure in result.failures:
        for line in failure.split("\n"):
            render.out(f"      {line}")


def _write_junit(path: str, results: list[Result]) -> None:
    from anyhook.testing.kit.junit import junit

    try:
        with open(path, "wb") as file:
            file.write(junit(results))
    except OSError as error:
        raise BadCall(f"--junit {path}: the file cannot be written ({error.strerror}).") from None
