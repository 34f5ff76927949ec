"""`anyhook record`: test cases from real events, as the journal has them. It never overwrites a file,
and redacts secrets like the journal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from anyhook.cli import DONE, BadCall, render
from anyhook.cli.journal_input import RecordFilter, count_of, wanted_of
from anyhook.cli.options import option, switch
from anyhook.cli.verbs import verb
from anyhook.documents.dump_yaml import to_yaml
from anyhook.engine.receive import receive
from anyhook.extra.testing.kit import ENDINGS, is_case_file
from anyhook.extra.testing.kit.cases import cases_in
from anyhook.extra.testing.kit.events import payload_of_agent, sent_with
from anyhook.extra.testing.kit.form import by_key
from anyhook.extra.testing.kit.run import FAILED, run_all
from anyhook.extra.testing.kit.sandbox import project_of
from anyhook.extra.testing.verb_test import check_approved
from anyhook.journal.read import JournalLine, RecordedCall, RecordedDecision, about
from anyhook.journal.record import ASKED_FOR, JournalPolicy, clean, secrets_of
from anyhook.journal.search import newest, search
from anyhook.model import lean_json
from anyhook.model.event import EVENTS
from anyhook.model.json_types import Json
from anyhook.platform.places import state_dir
from anyhook.platform.run import Unwinding
from anyhook.replay.rejudge import CUT, is_repeated
from anyhook.tables.host_rows import HostEvent
from anyhook.tables.registry import DIALECTS, HOSTS, host

EXAMPLE = "anyhook record --since 1h --tool Bash -o .kodik/hooks/recorded.hooktest.yaml"


class RecordOptions(RecordFilter):
    last: str | None = option("--last", "Only the last N.", "N", short="-n")
    output: str | None = option("--output", "The case file to write; default: stdout.", "FILE", short="-o")
    untried: bool = switch("--untried", "Write the cases without trying them first.")


@verb("record", RecordOptions, EXAMPLE)
def record(options: RecordOptions) -> int:
    """Turn events of the journal into cases for `anyhook test`.

    All of them belong to one project: --project, or the current directory. Each case runs once; one that fails is
    written with `skip` and the reason.
    """
    path = _checked(options.output)
    wanted, folder = wanted_of(options.replace(project=options.project or ".")), state_dir(os.environ)
    most = count_of("--last", options.last, 0)
    records = _whole(newest(folder, wanted, most) if most else search(folder, wanted))
    cases = _cases(records)
    if not cases:
        render.say(
            "There is no event to make a case of. `anyhook log` shows what was recorded. If the project was moved, "
            "give its old path with `--project`."
        )
        return DONE
    project = str(wanted.project)
    if not options.untried:
        cases = _tried(cases, project)
    _write(path, cases, project)
    return DONE


def _checked(output: str | None) -> str | None:
    path = output or None
    if path is not None and not is_case_file(os.path.basename(path)):
        raise BadCall(f"--output {path}: the name of a case file ends with {' or '.join(ENDINGS)}.")
    if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK | os.X_OK):
        raise BadCall(f"--output {path}: this folder does not exist, or you cannot write to it. Create it first.")
    if path is not None and os.path.lexists(path):
        raise BadCall(f"--output {path}: this file already exists. Name another one, or remove it first.")
    return path


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
    render.say(f"{_counted(len(cases), 'case')} written to {path}. To run: anyhook trust, then anyhook test {path}")


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


# -- recorded events become cases: what was fired is the event, what was decided the expectation. Records without
# enough information are skipped with the reason; nothing is guessed


PASSING = ("session", "call_id")
"""Fields that differ each time. Without them the same event is the same case."""
MAX_SHOWN = 60
NOTED = tuple(field for field in ASKED_FOR if field != "messages")
"""What becomes an expectation. Not messages, which may contain times and paths."""


COPIED_SCOPES = ("project", "builtin")
"""Scopes of hooks that are in a copy of the project too."""


class LeftOut(Exception):  # noqa: N818 (it says what happened to the record)
    """Why a record is not a case."""


def cases_of(lines: Iterable[JournalLine]) -> tuple[list[dict[str, Json]], dict[str, int]]:
    """Cases as in a file, without duplicates, and how many records were left out for each reason."""
    made: list[dict[str, Json]] = []
    seen: list[dict[str, Json]] = []
    left_out: dict[str, int] = {}
    names: dict[str, int] = {}
    for line in lines:
        if line.background is not None or is_repeated(line):
            continue  # a run or a note, not an event
        try:
            case = case_of(line)
        except LeftOut as why:
            left_out[str(why)] = left_out.get(str(why), 0) + 1
            continue
        if case in seen:
            continue
        seen.append(case)
        name = _name(case)
        names[name] = names.get(name, 0) + 1
        made.append({"name": name if names[name] == 1 else f"{name} ({names[name]})", **case})
    return made, left_out


def case_of(line: JournalLine) -> dict[str, Json]:
    """One case without a name; raises LeftOut if the line does not contain enough."""
    event, decision = line.event, line.decision
    if event not in EVENTS or line.record is None or not isinstance(line.record.get("data"), dict) or decision is None:
        raise LeftOut("it is not a record of an event")
    if not line.has_data or decision.lost:
        raise LeftOut("its data was not kept")
    if not line.has_bodies:
        raise LeftOut("its payloads were not kept (`bodies` in the settings)")
    if _is_cut(line.data) or _is_cut(decision.raw):
        raise LeftOut("a text in it was too long for the journal")
    given = {key: value for key, value in line.data.items() if key not in PASSING}
    case = _event(event, str(line.host), given, line.hosted)
    if line.mode == "shadow":
        case["mode"] = "shadow"
    case["expect"] = _expected(decision, line.calls)
    project = str(line.project)
    return {key: _portable(value, project) for key, value in case.items()}


def _is_cut(value: Json) -> bool:
    if isinstance(value, str):
        return value.endswith(CUT)
    if isinstance(value, (list, dict)):
        return any(_is_cut(item) for item in (value.values() if isinstance(value, dict) else value))
    return False


def _event(event: str, fired_by: str, given: dict[str, Json], hosted: bool) -> dict[str, Json]:
    made: dict[str, Json] = {"event": event}
    if fired_by in HOSTS:
        row = _row(fired_by, event, given)
        made = {"event": row.native, "agent": fired_by}
        sent = sent_with(host(fired_by), row)
        given = {key: value for key, value in given.items() if key in sent}
    elif hosted:
        made["hosted"] = True
    return {**made, **by_key(given)}


def _row(agent: str, event: str, given: dict[str, Json]) -> HostEvent:
    """The agent's own event whose payload gives exactly this event again."""
    table = host(agent)
    for row in table.events:
        if event not in row.canonical:
            continue
        received = receive(table, row, payload_of_agent(table, row, given, "/"), b"").events
        if len(received) == 1 and _without_passing(received[0].data) == given and received[0].name == event:
            return row
    raise LeftOut(f"what {table.title} had sent cannot be told from it")


def _without_passing(data: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in data.items() if key not in PASSING}


def _expected(decision: RecordedDecision, calls: Sequence[RecordedCall]) -> dict[str, Json]:
    if _scope(str(decision.hook)) not in COPIED_SCOPES and any(hook.id == decision.hook for hook in decision.hooks):
        raise LeftOut("a hook of the user's or of a plugin decided it; cases run with the project's hooks")
    states: dict[str, list[str]] = {}
    for hook in decision.hooks:
        if _scope(hook.id) == "project":
            states.setdefault(hook.status, []).append(hook.id)
    if "untrusted" in states:
        raise LeftOut("a hook was not approved then, and did not run")
    mine = [hook.id for hook in decision.hooks if hook.id in (*states.get("ran", ()), *states.get("background", ()))]
    broken = dict.fromkeys([*states.get("broken", ()), *(call.hook for call in calls if call.cause)])
    made: dict[str, Json] = {"verdict": decision.verdict}
    made.update({field: value for field, value in decision.asked.items() if field in NOTED})
    made.update({"ran": [*mine]} if mine else {})
    made.update({"failed": [*broken]} if broken else {})
    return made


def _scope(identity: str) -> str:
    name, _, rest = identity.partition(":")
    return rest.partition(":")[0] if name in DIALECTS else "program"


def _portable(value: Json, project: str) -> Json:
    """Replace the project's path by its placeholder: a case runs in a copy."""
    if isinstance(value, str):
        return value.replace(project, "{project}") if len(project) > 1 else value
    if isinstance(value, list):
        return [_portable(item, project) for item in value]
    if isinstance(value, dict):
        return {key: _portable(item, project) for key, item in value.items()}
    return value


def _name(case: dict[str, Json]) -> str:
    words = [str(case[key]) for key in ("agent", "event", "tool") if key in case]
    text = about(case)
    if text:
        words.append(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…")
    expect = case["expect"]
    assert isinstance(expect, dict)  # noqa: S101 (made above)
    return f"{' '.join(words)}: {expect['verdict']}"
