"""Asked: what each hook of a record asked for, read from its run, and what became of it in the decision. It judges
nothing anew; of runs that were not kept it says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.outcome import BLOCK, NONE, STRENGTH
from anyhook.replay.rejudge import ALIEN, Judge, Unjudgeable
from anyhook.tables.translate import REWRITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.json_types import Json
    from anyhook.walk.merge import Entry

    Asked = tuple[str, Json, str]
    """A field of the decision, what was asked for, and what became of it where it did not come to that."""

ONE_OF_MANY = ("history", "recipe")
"""Of what several hooks ask for here, the first counts; of rewrites the last."""
JOINED = ("context", "messages", "follow_ups")


def asked_for(record: dict[str, Json]) -> dict[str, list[Asked]]:
    """By hook; only those whose runs tell."""
    decision, found = record.get("decision"), record.get("calls")
    calls = [call for call in found if isinstance(call, dict) and call.get("run")] if isinstance(found, list) else []
    if not isinstance(decision, dict) or not calls:
        return {}
    try:
        entries = Judge({}).entries(record, calls)
    except (Unjudgeable, *ALIEN):
        return {}
    return {entry.hook.id: [*_asked(entry, entries, decision)] for entry in entries}


def _asked(entry: Entry, entries: list[Entry], decision: dict[str, Json]) -> Iterator[Asked]:
    outcome, place = entry.outcome, entries.index(entry)
    if outcome.verdict != NONE:
        said = f"{outcome.verdict}: {outcome.reason}" if outcome.reason else outcome.verdict
        yield "verdict", said, _of_verdict(entry, decision)
    for _, field in REWRITES:
        if (value := getattr(outcome, field)) is not None:
            after = [other.hook.id for other in entries[place + 1 :] if getattr(other.outcome, field) is not None]
            yield field, value, f"rewritten again by {after[-1]}" if after else ""
    for field in ONE_OF_MANY:
        if (value := getattr(outcome, field)) is not None:
            before = [other.hook.id for other in entries[:place] if getattr(other.outcome, field) is not None]
            yield field, value, f"{before[0]} came first" if before else ""
    for field in JOINED:
        if getattr(outcome, field):
            yield field, list(getattr(outcome, field)), ""
    if outcome.end_turn:
        yield "end_turn", True, ""


def _of_verdict(entry: Entry, decision: dict[str, Json]) -> str:
    verdict, decided = entry.outcome.verdict, str(decision.get("verdict"))
    if STRENGTH.get(decided, 0) > STRENGTH[verdict]:
        return f"gives way to {decided}"
    by = decision.get("hook")
    return f"{by} speaks for both" if verdict == decided == BLOCK and by != entry.hook.id else ""
