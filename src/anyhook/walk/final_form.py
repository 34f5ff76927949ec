"""Final form: a call that was rewritten is shown again to the gates of other dialects that had answered before. Inside
one dialect its own rule applies; a gate that has not seen what will run is reported, and so are conflicting
rewrites."""

from __future__ import annotations

from anyhook.model.event import GATES
from anyhook.model.lean_json import same
from anyhook.model.outcome import ALLOW, BLOCK, STOPPING, STRENGTH, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.tables.translate import REWRITES, to_host, to_native
from anyhook.walk.merge import merge
from anyhook.walk.routes import match
from anyhook.walk.walk import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from anyhook.handlers import Waitable
    from anyhook.model.call import Run
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.walk.merge import Judged
    from anyhook.walk.routes import HookStep

ASKED_ABOUT = ("input", "prompt")
"""Fields of what will happen; an output has already happened."""
NO_REWRITE: dict[str, None] = {"tool_input": None, "prompt": None, "tool_output": None}
AGAIN = "asked again about the final form"
CONFLICT_FIX = "Let one hook rewrite it, or let the second build on what the first made of it."
UNSEEN_FIX = "Let one hook do both, or declare the gate for another agent too: gates of other dialects are asked again."


class SecondWalk(Walk):
    """The second walk, past the gates that judge the final form. They may refuse it; their rewrites are not used."""

    def __init__(self, walk: Walk, final: Event, places: Sequence[int]) -> None:
        route, index = walk.route, {place: index for index, place in enumerate(places)}
        declared = {
            index[place]: tuple(index[other] for other in others if other in index)
            for place, others in route.declared_again.items()
            if place in index
        }
        route = route.replace(steps=tuple(route.steps[place] for place in places), declared_again=declared)
        super().__init__(walk.context.replace(asked_again=True), final, route)
        self.places, self.head = places, walk.head
        self.wanted: dict[int, Outcome] = {}
        """What they would have rewritten, by position in the queue."""

    def take(self, position: int, step: HookStep, outcome: Outcome, upstream: bool) -> None:
        if any(getattr(outcome, rewrite) is not None for _, rewrite in REWRITES):
            if self.context.config.hook_mode.get(step.hook.id) != "shadow":
                self.wanted[self.places[position]] = to_host(outcome, self.event, step.dialect)
            outcome = outcome.replace(**NO_REWRITE)
        super().take(position, step, outcome, upstream)


def judge_final_form(walk: Walk) -> Generator[Waitable, Run, None]:
    """Ask the gates that have not seen the final form, and report conflicts on the way to it."""
    final = final_form(walk.event, walk.entries)
    if final is None or walk.queue.is_over:
        return
    problems = [*conflicts(walk.event, walk.entries)]
    if walk.event.name in GATES:
        places, unseen = _unseen(walk, final)
        if places:
            second = SecondWalk(walk, final, places)
            try:
                yield from second.walk()
            finally:
                _take_in(walk, second)
            problems += _overruled(walk, second, final, problems)
            unseen += [
                entry.hook.id
                for entry in second.entries
                if entry.outcome.failure is not None and entry.outcome.verdict != BLOCK
            ]
        problems += [_unseen_form(walk, hook) for hook in unseen]
    walk.route = walk.route.replace(problems=(*walk.route.problems, *problems))


def final_form(event: Event, entries: Sequence[Judged]) -> Event | None:
    """The event as it will happen, with its host's names; None if no hook rewrote it. It may equal the original event,
    which a hook between two rewrites has not seen."""
    decision = merge(event.name, entries)
    made = {field: value for field, rewrite in REWRITES if (value := getattr(decision, rewrite)) is not None}
    return event.replace(data={**event.data, **made}) if made else None


def with_second(first: Judged, second: Outcome) -> Judged:
    """One gate's two answers as one: the stricter verdict counts, and an approval counts only for the final form."""
    outcome = first.outcome
    problems = (*outcome.problems, *(problem for problem in second.problems if problem not in outcome.problems))
    if STRENGTH[second.verdict] > STRENGTH[outcome.verdict] or outcome.verdict == ALLOW:
        outcome = outcome.replace(verdict=second.verdict, reason=second.reason)
    return first.replace(
        outcome=outcome.replace(
            problems=problems,
            context=tuple(dict.fromkeys((*outcome.context, *second.context))),
            messages=tuple(dict.fromkeys((*outcome.messages, *second.messages))),
            end_turn=outcome.end_turn or second.end_turn,
        )
    )


def _unseen(walk: Walk, final: Event) -> tuple[list[int], list[str]]:
    """The positions of the gates to ask again, and the hooks that their own dialect does not ask again."""
    answered = {entry.position: entry for entry in walk.entries}
    unmatched = {report.id for report in walk.reports if report.status == "unmatched"}
    again: list[int] = []
    unseen: list[int] = []
    for place, step in enumerate(walk.route.steps):
        hook, table = step.hook, step.dialect
        if step.row.block not in STOPPING or hook.scope == "builtin" or hook.background:
            continue
        asked = walk.read_with.get(place, place)
        entry = answered.get(asked)
        if entry is not None:
            concerned = not (_has_seen(entry, final) or _has_made(entry, final))
        else:  # a matcher that looks at the content may want the final form only
            concerned = step.why is None and hook.id in unmatched
            concerned = concerned and not match(hook, table, step.row, to_native(final, table), final)[0]
        if not concerned:
            continue
        others = any(
            other.position > asked and other.dialect is not table and _rewrites(other) for other in walk.entries
        )
        if others:
            again.append(place)
        elif hook.condition is None:  # rules that rewrite come first, so the others have seen their result
            unseen.append(place)
    # A program that is declared several times runs once for all, so all of its declarations are asked.
    asked_for = {walk.read_with.get(place, place) for place in again}
    shared = {place for pair in walk.read_with.items() if pair[1] in asked_for for place in pair}
    again = sorted({*again, *shared})
    return again, [walk.route.steps[place].hook.id for place in unseen if place not in again]


def _has_seen(entry: Judged, final: Event) -> bool:
    native, seen = to_native(final, entry.dialect), entry.seen
    return seen is not None and all(same(seen.data.get(field), native.data.get(field)) for field in ASKED_ABOUT)


def _has_made(entry: Judged, final: Event) -> bool:
    made = {field: getattr(entry.outcome, rewrite) for field, rewrite in REWRITES if field in ASKED_ABOUT}
    return any(value is not None and same(value, final.data.get(field)) for field, value in made.items())


def _rewrites(entry: Judged) -> bool:
    return any(getattr(entry.outcome, rewrite) is not None for field, rewrite in REWRITES if field in ASKED_ABOUT)


def _take_in(walk: Walk, second: SecondWalk) -> None:
    """Merge the second answers into the first."""
    for entry in second.entries:
        place = second.places[entry.position]
        index = next((index for index, first in enumerate(walk.entries) if first.position == place), None)
        if index is None:
            walk.entries.append(entry.replace(position=place))
        else:
            walk.entries[index] = with_second(walk.entries[index], entry.outcome)
    for later in second.reports:
        index = next(index for index, report in enumerate(walk.reports) if report.id == later.id)
        first = walk.reports[index]
        told = first if first.status == "ran" and STRENGTH[later.verdict] <= STRENGTH[first.verdict] else later
        walk.reports[index] = told.replace(why=AGAIN) if told.status == "ran" else told
    walk.runs += [run.replace(again=True) for run in second.runs]
    if second.queue.is_over:
        walk.queue = walk.queue.replace(stop=second.queue.stop)


# -- what is reported


def conflicts(event: Event, entries: Sequence[Judged]) -> Iterator[Problem]:
    """Rewrites that are lost because another hook rewrote the same differently. A hook that builds on an earlier
    rewrite does not conflict with it."""
    ordered = sorted(entries, key=lambda entry: entry.position)
    for place, entry in enumerate(ordered):
        for field, rewrite in REWRITES:
            later = [other for other in ordered[place + 1 :] if getattr(other.outcome, rewrite) is not None]
            if not later or getattr(entry.outcome, rewrite) is None:
                continue
            made = _changes(event, later[-1], field, rewrite, all_of_it=True)
            for name, value in _changes(event, entry, field, rewrite).items():
                final = made.get(name)
                if not same(value, final) and not _builds_on(final, value):
                    yield _conflict(entry, later[-1], name)


def _overruled(walk: Walk, second: SecondWalk, final: Event, known: Sequence[Problem]) -> Iterator[Problem]:
    """Rewrites of the final form that gates wanted."""
    by_place = {entry.position: entry for entry in walk.entries}
    for place, outcome in second.wanted.items():
        entry = by_place[place].replace(outcome=outcome, seen=to_native(final, by_place[place].dialect))
        for field, rewrite in REWRITES:
            if getattr(outcome, rewrite) is None or field not in ASKED_ABOUT:
                continue
            winner = [other for other in walk.entries if getattr(other.outcome, rewrite) is not None][-1]
            for name in _changes(final, entry, field, rewrite):
                problem = _conflict(entry, winner, name)
                if problem not in known:
                    yield problem


def _changes(event: Event, entry: Judged, field: str, rewrite: str, all_of_it: bool = False) -> dict[str, Json]:
    """Name → value of what a hook changed, with the names of the event's host."""
    value = getattr(entry.outcome, rewrite)
    if field != "input":
        return {field: value}
    seen = entry.seen.data.get("input") if entry.seen is not None else None
    before: dict[str, Json] = {}
    if isinstance(seen, dict) and not all_of_it:
        before = to_host(Outcome(tool_input=seen), event, entry.dialect).tool_input or {}
    return {name: value[name] for name in value if name not in before or not same(value[name], before[name])}


def _builds_on(later: Json, earlier: Json) -> bool:
    return isinstance(later, str) and isinstance(earlier, str) and earlier in later


def _conflict(loser: Judged, winner: Judged, name: str) -> Problem:
    return Problem(
        "rewrite-conflict",
        f"{loser.hook.id} and {winner.hook.id} rewrite `{name}` differently",
        loser.hook.where(),
        f"{winner.hook.id} won: what it made of `{name}` is used",
        CONFLICT_FIX,
        WARNING,
    )


def _unseen_form(walk: Walk, hook: str) -> Problem:
    step = next(step for step in walk.route.steps if step.hook.id == hook)
    return Problem(
        "unseen-form",
        f"{hook} has not judged the form of this {walk.event.name} that will be used",
        step.hook.where(),
        f"a hook rewrote it, and {step.dialect.title} does not show it again, or the hook failed on it",
        UNSEEN_FIX,
        WARNING,
    )
