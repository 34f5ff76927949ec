"""`anyhook check`: read every hook file, trusted or not, and report what is wrong. It starts nothing."""

from __future__ import annotations

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.catalog_input import setup_of
from anyhook.cli.options import ProjectOptions, TrustOption, option, switch
from anyhook.cli.verbs import verb
from anyhook.cli.view.console import prefixed
from anyhook.cli.view.sarif import sarif
from anyhook.gates.check import Findings, UnknownFile, checkup
from anyhook.gates.status import split_place
from anyhook.model.codes import CODES
from anyhook.model.problem import ERROR, Problem

PATHS = click.Argument(["paths"], nargs=-1, metavar="[PATH]...")


class CheckOptions(TrustOption, ProjectOptions):
    format: str | None = option(
        "--format", "How to print the findings; default: text.", "FORMAT", choices=("text", "json", "sarif")
    )
    json: bool = switch("--json", "The same as --format json.")


@verb("check", CheckOptions, "anyhook check .kodik/hooks/hooks.json", [PATHS])
def check(paths: tuple[str, ...], options: CheckOptions) -> int:
    """Read every hook file, or only those in PATH, and report what is wrong: file, line, cause and fix.

    Starts nothing. Files that are not approved are checked too; --trust ask also reports the hooks that wait for
    approval. Exits with status 1 if there are errors, and with 0 if there are none or only warnings.
    """
    setup = setup_of(options, trust=options.trust or "all")
    try:
        findings = checkup(setup, paths)
    except UnknownFile as error:
        raise BadCall(str(error)) from None
    form = options.format or ("json" if options.json else "text")
    if form == "json":
        found = [{**problem.as_dict(), "severity": problem.severity} for problem in findings.problems]
        render.json_out({"problems": found}, indent=2)
    elif form == "sarif":
        _sarif(findings, setup.project)
    else:
        _text(findings)
    return FINDINGS if any(problem.severity == ERROR for problem in findings.problems) else DONE


def _sarif(findings: Findings, project: str) -> None:
    helps = {code: f"{entry.meaning} {entry.fix}" for code, entry in CODES.items()}
    render.json_out(sarif(findings.problems, project, helps), indent=2)


def _text(findings: Findings) -> None:
    by_file: dict[str, list[tuple[int | None, Problem]]] = {}
    for problem in findings.problems:
        path, line = split_place(problem.where)
        by_file.setdefault(path, []).append((line, problem))
    for path, problems in by_file.items():
        render.out(render.short_path(path))
        for line, problem in problems:
            for row in _rows(line, problem):
                render.out(row)
        render.out("")
    render.out(_count(findings))


def _rows(line: int | None, problem: Problem) -> list[str]:
    """One problem: what it is, then cause and fix below."""
    filled = problem.as_dict()
    place = f"line {line}: " if line else ""
    rows = prefixed(f"{place}{problem.what} [{problem.code}]", f"  {problem.severity}: ", " " * 6)
    for word in ("why", "fix"):
        if filled[word]:
            rows.extend(prefixed(filled[word], f"      {word}: ", " " * 11))
    return rows


def _count(findings: Findings) -> str:
    number = len(findings.files)
    files = f"{number} hook file{'' if number == 1 else 's'} read"
    if not findings.problems:
        return f"{files}, no problems."
    errors = sum(problem.severity == ERROR for problem in findings.problems)
    warnings = len(findings.problems) - errors
    counts = ((errors, "error"), (warnings, "warning"))
    words = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count]
    return f"{files}: {', '.join(words)}."
