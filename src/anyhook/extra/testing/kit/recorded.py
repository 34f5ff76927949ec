"""Recorded events → cases: what was fired becomes the event, what was decided the expectation. Records without enough
information are skipped with the reason; nothing is guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.engine.receive import receive
from anyhook.extra.testing.kit.events import payload_of_agent, sent_with
from anyhook.extra.testing.kit.keys import FIELDS
from anyhook.journal.read import about
from anyhook.journal.record import ASKED_FOR
from anyhook.model.event import EVENTS
from anyhook.replay.rejudge import CUT, is_repeated
from anyhook.tables.registry import DIALECTS, HOSTS, host

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anyhook.journal.read import JournalLine, RecordedCall, RecordedDecision
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import HostEvent

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
        raise LeftOut("its payloads were not kept (`bodies` in the settings); `anyhook record -- COMMAND` keeps them")
    if _is_cut(line.data) or _is_cut(decision.raw):
        raise LeftOut("a text in it was too long for the journal; `anyhook record -- COMMAND` keeps it whole")
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
    made.update({key: given[key] for key in FIELDS if key in given})
    rest: dict[str, Json] = {key: value for key, value in given.items() if key not in FIELDS}
    return {**made, "data": rest} if rest else made


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
