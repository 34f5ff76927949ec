"""`anyhook record`: cases out of events that happened, from the journal or while a command runs. It never writes over a
file, and no secret that the journal would leave out."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile

import click

from anyhook.cli.failure import BadCall
from anyhook.cli.journal_input import WANTED, count_of, wanted_of
from anyhook.cli.options import Option
from anyhook.cli.signals import Unwinding
from anyhook.cli.verb_log import LAST
from anyhook.cli.verbs import verb
from anyhook.cli.view import render
from anyhook.model.words import RECORD
from anyhook.state.places import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.cli.options import Values
    from anyhook.journal.search import Found, Wanted
    from anyhook.model.json_types import Json

OPTIONS = (
    *WANTED,
    LAST,
    Option("--output", "The case file to write; default: stdout.", "FILE", short="-o"),
    Option("--untried", "Write the cases without running each of them once."),
)
EXAMPLE = "anyhook record --since 1h --tool Bash -o .kodik/hooks/recorded.hooktest.yaml"


@verb("record", OPTIONS, EXAMPLE, [click.Argument(["command"], nargs=-1, type=click.UNPROCESSED)])
def record(command: tuple[str, ...], values: Values) -> int:
    """Make cases for `anyhook test` of events that happened.

    Without COMMAND they come from the journal, as far as it keeps payloads. With `-- COMMAND…` they are the events that
    are fired while the command runs, kept whole, and the exit status is the command's own. They are of one project:
    --project, or the current directory. Each case is run once; one that does not hold is written with `skip` and why.
    """
    path = _checked(values)
    wanted = wanted_of({**values, "project": values["project"] or "."})
    if command:
        status, records = _while_running(command, wanted)
    else:
        status, records = 0, _from_journal(wanted, count_of(values, "last", 0))
    cases = _cases(records)
    if not cases:
        render.say(
            "No event is there to make a case of. `anyhook log` shows what was recorded; of a project that was moved, "
            "`--project` takes the old place."
        )
        return status
    project = str(wanted.project)
    if not values["untried"]:
        cases = _tried(cases, project)
    _write(path, cases, project)
    return status


def _checked(values: Values) -> str | None:
    from anyhook.testing.kit import ENDINGS, is_case_file

    path = str(values["output"]) if values["output"] else None
    if path is not None and not is_case_file(os.path.basename(path)):
        raise BadCall(f"--output {path}: the name of a case file ends with {' or '.join(ENDINGS)}.")
    if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK | os.X_OK):
        raise BadCall(f"--output {path}: there is no such folder, or you may not write to it. Make it first.")
    if path is not None and os.path.lexists(path):
        raise BadCall(f"--output {path}: there is such a file already. Name another, or remove it first.")
    return path


def _from_journal(wanted: Wanted, most: int) -> list[dict[str, Json]]:
    from anyhook.journal.search import newest, search

    folder = state_dir(os.environ)
    return _whole(newest(folder, wanted, most) if most else search(folder, wanted))


def _while_running(command: Sequence[str], wanted: Wanted) -> tuple[int, list[dict[str, Json]]]:
    from anyhook.journal.search import Wanted, search

    folder = tempfile.mkdtemp(prefix="anyhook-record-")
    try:
        status = _run(command, {**os.environ, RECORD: folder})
        records = _whole(search(folder, wanted))
        others = sum("event" in (found.record or {}) for found in search(folder, Wanted())) if not records else 0
        if others:
            render.say(
                f"{_counted(others, 'event')} fired, but none that is asked for; --project DIR names another project"
            )
        return status, records
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], env: dict[str, str]) -> int:
    """The command's exit status. Whatever ends it, what it did until then counts: so signals to end are its own to
    answer. Ctrl-C has reached it by itself; others are handed on."""
    told: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def hand_on(number: int, _: object) -> None:
        told.append(number)
        if child is not None:
            child.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        child = subprocess.Popen(command, env=env)
        for number in told:
            child.send_signal(number)
        status = child.wait()
    except OSError as error:
        raise BadCall(f"{command[0]}: it cannot be started ({error.strerror}).") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status


def _whole(found: Iterable[Found]) -> list[dict[str, Json]]:
    """The records; how many lines are damaged is said."""
    listed = list(found)
    damaged = sum(each.record is None for each in listed)
    if damaged:
        render.say(f"{damaged} damaged lines are left out; `anyhook verify` shows them")
    return [each.record for each in listed if each.record is not None]


def _cases(records: list[dict[str, Json]]) -> list[dict[str, Json]]:
    from anyhook.testing.kit.recorded import cases_of

    cases, left_out = cases_of(records)
    for why, count in left_out.items():
        render.say(f"{count} left out: {why}")
    return cases


def _tried(cases: list[dict[str, Json]], project: str) -> list[dict[str, Json]]:
    """The cases, those that do not hold marked; as they are, where the project may not be run."""
    from anyhook.cli.verb_test import check_approved
    from anyhook.journal.record import Keeping, clean, secrets_of
    from anyhook.model import lean_json
    from anyhook.testing.kit.cases import cases_in
    from anyhook.testing.kit.run import FAILED, run_all

    try:
        if not os.path.isdir(project):
            raise BadCall(f"{project} is not there any more.")
        check_approved(project)
    except BadCall as error:
        render.say(f"the cases are not tried: {error}")
        return cases
    read = cases_in({"cases": [*cases]}, "the record")
    with Unwinding():
        results = [*run_all([(case, project) for case in read], os.cpu_count() or 1)]
    keeping, made = Keeping(secrets_of(os.environ)), []
    for case, result in zip(cases, results, strict=True):
        if result.status == FAILED:
            told = clean(result.failures[0].split("\n", 1)[0], keeping)  # it quotes what the hook said this time
            why = str(lean_json.loads(told))
            render.say(f"`{case['name']}` does not hold as recorded ({why}); it is written with `skip`")
            case = {"name": case["name"], "skip": f"does not hold as recorded: {why}", **case}  # noqa: PLW2901
        made.append(case)
    return made


def _write(path: str | None, cases: list[dict[str, Json]], project: str) -> None:
    from anyhook.documents.yaml_text import to_yaml
    from anyhook.testing.kit.approval import approve_written
    from anyhook.testing.kit.sandbox import project_of

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
