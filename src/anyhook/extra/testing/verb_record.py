"""`anyhook record`: test cases from real events, in the journal or while a command runs. It never overwrites a file,
and redacts secrets like the journal."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

import click

from anyhook.cli import BadCall, render
from anyhook.cli.journal_input import RecordFilter, count_of, wanted_of
from anyhook.cli.options import option, switch
from anyhook.cli.verbs import verb
from anyhook.documents.dump_yaml import to_yaml
from anyhook.extra.testing.kit import ENDINGS, is_case_file
from anyhook.extra.testing.kit.approval import approve_written
from anyhook.extra.testing.kit.cases import cases_in
from anyhook.extra.testing.kit.recorded import cases_of
from anyhook.extra.testing.kit.run import FAILED, run_all
from anyhook.extra.testing.kit.sandbox import project_of
from anyhook.extra.testing.verb_test import check_approved
from anyhook.journal.record import JournalPolicy, clean, secrets_of
from anyhook.journal.search import Wanted, newest, search
from anyhook.model import lean_json
from anyhook.model.words import RECORD
from anyhook.platform.other_programs import in_foreground
from anyhook.platform.places import state_dir
from anyhook.platform.run import Unwinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.journal.read import JournalLine
    from anyhook.journal.search import Wanted
    from anyhook.model.json_types import Json

EXAMPLE = "anyhook record --since 1h --tool Bash -o .kodik/hooks/recorded.hooktest.yaml"


class RecordOptions(RecordFilter):
    last: str | None = option("--last", "Only the last N.", "N", short="-n")
    output: str | None = option("--output", "The case file to write; default: stdout.", "FILE", short="-o")
    untried: bool = switch("--untried", "Write the cases without trying them first.")


@verb("record", RecordOptions, EXAMPLE, [click.Argument(["command"], nargs=-1, type=click.UNPROCESSED)])
def record(command: tuple[str, ...], options: RecordOptions) -> int:
    """Turn recorded events into cases for `anyhook test`.

    Without COMMAND, the events come from the journal, if it keeps payloads. With `-- COMMAND…`, they are the
    events fired while the command runs, and the exit status is the command's own. All of them belong to one project:
    --project, or the current directory. Each case runs once; one that fails is written with `skip` and the reason.
    """
    path = _checked(options.output)
    wanted = wanted_of(options.replace(project=options.project or "."))
    if command:
        status, records = _while_running(command, wanted)
    else:
        status, records = 0, _from_journal(wanted, count_of("--last", options.last, 0))
    cases = _cases(records)
    if not cases:
        render.say(
            "There is no event to make a case of. `anyhook log` shows what was recorded. If the project was moved, "
            "give its old path with `--project`."
        )
        return status
    project = str(wanted.project)
    if not options.untried:
        cases = _tried(cases, project)
    _write(path, cases, project)
    return status


def _checked(output: str | None) -> str | None:
    path = output or None
    if path is not None and not is_case_file(os.path.basename(path)):
        raise BadCall(f"--output {path}: the name of a case file ends with {' or '.join(ENDINGS)}.")
    if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK | os.X_OK):
        raise BadCall(f"--output {path}: this folder does not exist, or you cannot write to it. Create it first.")
    if path is not None and os.path.lexists(path):
        raise BadCall(f"--output {path}: this file already exists. Name another one, or remove it first.")
    return path


def _from_journal(wanted: Wanted, most: int) -> list[JournalLine]:
    folder = state_dir(os.environ)
    return _whole(newest(folder, wanted, most) if most else search(folder, wanted))


def _while_running(command: Sequence[str], wanted: Wanted) -> tuple[int, list[JournalLine]]:
    folder = tempfile.mkdtemp(prefix="anyhook-record-")
    try:
        status = _run(command, {**os.environ, RECORD: folder})
        records = _whole(search(folder, wanted))
        others = sum(found.event is not None for found in search(folder, Wanted())) if not records else 0
        if others:
            render.say(f"{_counted(others, 'event')} fired, but none that matches; --project DIR names another project")
        return status, records
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], env: dict[str, str]) -> int:
    """Run the command and return its exit status. However it ends, the events until then count."""
    try:
        return in_foreground(command, env)
    except OSError as error:
        raise BadCall(f"{command[0]}: the command cannot be started ({error.strerror}).") from None


def _whole(found: Iterable[JournalLine]) -> list[JournalLine]:
    """The records; damaged lines are counted in a message."""
    listed = list(found)
    damaged = sum(each.record is None for each in listed)
    if damaged:
        render.say(f"{damaged} damaged lines are left out; `anyhook verify` shows them")
    return [each for each in listed if each.record is not None]


def _cases(records: list[JournalLine]) -> list[dict[str, Json]]:
    cases, left_out = cases_of(records)
    for why, count in left_out.items():
        render.say(f"{count} left out: {why}")
    return cases


def _tried(cases: list[dict[str, Json]], project: str) -> list[dict[str, Json]]:
    """The cases, with failing ones marked; unchanged if the project's hooks may not run."""
    try:
        if not os.path.isdir(project):
            raise BadCall(f"{project} does not exist any more.")
        check_approved(project)
    except BadCall as error:
        render.say(f"the cases are not tried: {error}")
        return cases
    read = cases_in({"cases": [*cases]}, "the record")
    with Unwinding():
        results = [*run_all([(case, project) for case in read], os.cpu_count() or 1)]
    policy, made = JournalPolicy(secrets_of(os.environ)), []
    for case, result in zip(cases, results, strict=True):
        if result.status == FAILED:
            told = clean(result.failures[0].split("\n", 1)[0], policy)  # it quotes this run's output
            why = str(lean_json.loads(told))
            render.say(f"`{case['name']}` does not hold as recorded ({why}); it is written with `skip`")
            case = {"name": case["name"], "skip": f"does not hold as recorded: {why}", **case}  # noqa: PLW2901
        made.append(case)
    return made


def _write(path: str | None, cases: list[dict[str, Json]], project: str) -> None:
    document: dict[str, Json] = {"cases": [*cases]}
    if path is not None:
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.realpath(project_of(path) or "/") != project and os.path.isdir(project):
            document = {"project": os.path.relpath(project, os.path.realpath(folder)), **document}
    text = to_yaml(document)
    if path is None:
        render.exact_out(text.rstrip("\n"))
        return
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadCall(f"--output {path}: the file cannot be written ({error.strerror}).") from None
    told = f"{_counted(len(cases), 'case')} written to {path}"
    approving = approve_written(path, text, os.environ)
    if approving is None:
        render.say(f"{told}. To run: anyhook trust, then anyhook test {path}")
    else:
        render.say(f"{told} and approved in {approving}. To run: anyhook test {path}")


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
