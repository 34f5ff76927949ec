"""Hook requests: what each hook of a recorded event asked for, read from its run, and the result. Runs that were not
kept are left out."""

from __future__ import annotations

from collections.abc import Iterator

from anyhook.engine.merge import Judged
from anyhook.journal.read import JournalLine, RecordedDecision
from anyhook.model.json_types import Json
from anyhook.model.outcome import BLOCK, NONE, STRENGTH
from anyhook.model.record import Record
from anyhook.replay.rejudge import ALIEN, Judge, Unjudgeable
from anyhook.tables.translate import REWRITES

ONE_OF_MANY = ("history", "recipe")
"""If several hooks ask for one of these, the first counts; for rewrites the last does."""
JOINED = ("context", "messages", "follow_ups")


class HookRequest(Record):
    """One thing that a hook asked for."""

    field: str
    """The field of the decision."""
    value: Json
    became: str = ""
    """What happened instead, if it was not done."""


def requests_of(line: JournalLine) -> dict[str, list[HookRequest]]:
    """By hook; only those with a recorded run."""
    decision, calls = line.decision, [call for call in line.calls if call.run is not None]
    if decision is None or not calls:
        return {}
    try:
        entries = Judge({}).entries(line, calls)
    except (Unjudgeable, *ALIEN):
        return {}
    return {entry.hook.id: [*_requests(entry, entries, decision)] for entry in entries}


def _requests(entry: Judged, entries: list[Judged], decision: RecordedDecision) -> Iterator[HookRequest]:
    outcome, place = entry.outcome, entries.index(entry)
    if outcome.verdict != NONE:
        said = f"{outcome.verdict}: {outcome.reason}" if outcome.reason else outcome.verdict
        yield HookRequest("verdict", said, _of_verdict(entry, decision))
    for field in (*(rewrite for _, rewrite in REWRITES), *ONE_OF_MANY):
        if (value := getattr(outcome, field)) is not None:
            yield HookRequest(field, value, _outdone(field, entries, place))
    for field in JOINED:
        if getattr(outcome, field):
            yield HookRequest(field, list(getattr(outcome, field)))
    if outcome.end_turn:
        yield HookRequest("end_turn", True)


def _outdone(field: str, entries: list[Judged], place: int) -> str:
    """Which other hook's value counts, if it is not this one's."""
    others = [at for at, entry in enumerate(entries) if at != place and getattr(entry.outcome, field) is not None]
    if field in ONE_OF_MANY:
        return f"{entries[others[0]].hook.id} came first" if others and others[0] < place else ""
    return f"rewritten again by {entries[others[-1]].hook.id}" if others and others[-1] > place else ""


def _of_verdict(entry: Judged, decision: RecordedDecision) -> str:
    verdict, decided = entry.outcome.verdict, str(decision.verdict)
    if STRENGTH.get(decided, 0) > STRENGTH[verdict]:
        return f"gives way to {decided}"
    by = decision.hook
    return f"{by} speaks for both" if verdict == decided == BLOCK and by != entry.hook.id else ""
