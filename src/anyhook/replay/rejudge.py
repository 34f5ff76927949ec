"""Judges the runs of a journal line again, with today's tables and settings. It starts nothing, and reports what it
cannot judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from anyhook.engine.cases import final_form, in_terms_of, refused_unseen, strictest, with_second
from anyhook.engine.interpret import interpret
from anyhook.engine.merge import Judged, judge, merge
from anyhook.engine.receive import recalled
from anyhook.engine.walk import NO_REWRITE, Queue
from anyhook.journal.read import JournalLine, RecordedCall, RecordedDecision, RecordedRun
from anyhook.journal.record import ASKED_FOR, NO_BODIES, clipped
from anyhook.model.call import Run
from anyhook.model.decision import Decision
from anyhook.model.event import GATES, Event
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.outcome import Outcome
from anyhook.model.record import Record
from anyhook.model.words import BLOCK, ENDINGS, HANDLER_KINDS, HOOK_SCOPES, Posture, word_of
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host
from anyhook.tables.rows import Dialect, EventRow
from anyhook.tables.translate import completed, to_host, to_native

MAX_REMEMBERED = 5_000
REMEMBERED_CHARACTERS = 1_000
"""Longer outputs are not cached: they rarely repeat, and would fill the memory."""
IN_RECORDS = ("verdict", *ASKED_FOR)
_compared = attrgetter(*IN_RECORDS)
BESIDE = ("enforced", "hooks", "problems")
"""Other fields of a recorded decision."""
CUT = (" bytes in all]", " characters in all]")
UNJUDGED = "bound-reached"
"""A problem that made a block not count, for a reason that is not recorded."""
NOT_ANSWERED_CODE = "not-answered"
"""The problem of a call that waited for a person in vain."""
REPEATED = "fired-twice"
"""The problem of a record whose event another entry had already fired."""
ALIEN = (TypeError, ValueError, AttributeError, KeyError)
"""What reading a record raises if another version, or someone else, wrote it."""


class Unjudgeable(Exception):  # noqa: N818 (it says what the record is)
    """Why a record cannot be judged again; the same text for all records with this reason."""


def left_out(line: JournalLine) -> str:
    """Why its event cannot be judged as it was; "" if it can."""
    if not line.has_data:
        return "its data was not kept"
    if not line.has_bodies:
        return "its payloads were not kept"
    return "a text in it was too long to be kept whole" if b" characters in all]" in line.raw else ""


class Change(Record):
    """One record that would be decided differently today."""

    n: Json
    at: Json
    event: str
    tool: Json
    before: dict[str, Json]
    """The fields of the decision that differ, as they were."""
    after: dict[str, Json]
    unknown: tuple[str, ...]
    """Hooks that a block skipped then, but would not today: their answers are unknown."""


_Judged = tuple[Decision, list[tuple[str, Json]]]
"""A decision, and what a record holds of it."""


class Judge:
    """Judges record after record; the same runs of the same hooks only once."""

    def __init__(self, settings: Mapping[str, Mapping[str, str]], posture: Posture | None = None) -> None:
        """`settings` of the dialects, as the user has them today; `posture` in place of the recorded ones."""
        self.settings, self.posture = settings, posture
        self._hooks: dict[tuple[Json, ...], tuple[Hook, Dialect, EventRow]] = {}
        self._decisions: dict[tuple[Json, ...], _Judged] = {}

    def judge(self, line: JournalLine) -> Change | None:
        """What would be different today; None if nothing is. Raises Unjudgeable if that cannot be said."""
        before = line.own_decision
        if before is None or before.lost:
            raise Unjudgeable("its decision was not kept")
        calls = [call for call in line.calls if call.run is not None]
        _check(before, calls)
        if not calls:
            return None
        after, kept = self.decision(line, calls)
        if _is_kept(kept, before.raw):
            return None
        differing = _differing(after, before.raw, None if line.has_bodies else NO_BODIES)
        if not differing:
            return None
        lifted = before.verdict == BLOCK and after.verdict != BLOCK
        skipped = tuple(hook.id for hook in before.hooks if hook.status == "skipped") if lifted else ()
        return Change(
            line.n,
            line.at_ns,
            str(line.event),
            line.data.get("tool"),
            {field: before.raw.get(field, _nothing(field)) for field in differing},
            {field: _plain(after, field) for field in differing},
            skipped,
        )

    def decision(self, line: JournalLine, calls: Sequence[RecordedCall]) -> _Judged:
        """Today's decision. If it depends only on the runs, it is cached by them."""
        # Under `deny`, what each of several hooks saw counts too.
        by_sight = len(calls) > 1 and "deny" in (self.posture, *(call.posture for call in calls))
        key = _key(line, calls) if by_runs_alone(line) and not by_sight else None
        try:
            found = self._decisions.get(key) if key else None
        except TypeError:  # a value that our records do not have there
            raise Unjudgeable("its run was not kept") from None
        if found is None:
            decision = self._decided(line, calls)
            found = decision, _kept(decision)
            if len(self._decisions) >= MAX_REMEMBERED:
                self._decisions.clear()
            if key:
                self._decisions[key] = found
        return found

    def _decided(self, line: JournalLine, calls: Sequence[RecordedCall]) -> Decision:
        return merge(str(line.event), self.entries(line, calls), enforced=line.mode != "shadow")

    def entries(self, line: JournalLine, calls: Sequence[RecordedCall]) -> list[Judged]:
        """What each of the calls asked for, if its turn came. Calls that were asked again count once, with the stricter
        of their answers."""
        event = event_in(line)
        first, again = [[call for call in calls if call.again is wanted] for wanted in (False, True)]
        entries = self._asked(event, first)
        final = final_form(event, entries)
        if final is not None and event.name in GATES and not any(entry.outcome.verdict == BLOCK for entry in entries):
            deny = {call.hook for call in first if (self.posture or call.posture) == "deny"}
            deny -= {call.hook for call in again}
            entries = [refused_unseen(entry, final) if entry.hook.id in deny else entry for entry in entries]
        return _joined(entries, self._asked(final or event, again))

    def _asked(self, event: Event, calls: Sequence[RecordedCall]) -> list[Judged]:
        """What each of the calls asked for, about one form of the event."""
        queue, entries = Queue(event, event), list[Judged]()
        for position, call in enumerate(calls):
            hook, table, row = self.hook(call, event.name)
            if table.name != queue.dialect:
                queue = queue.entering(table)
            if queue.skips(table):
                continue
            settings = self.settings.get(table.name, {})
            posture = self.posture or call.posture
            read = interpret(hook, table.replies[hook.handler], event.name, run_from(call.run))
            outcome = judge(hook, table, row, completed(read, queue.seen, table, hook), posture, settings)
            if call.also:
                row, outcome = self._read_by_all(call, event, (row, outcome), queue.event)
            upstream = settings.get("chaining") == "upstream"
            plain = to_host(outcome, event, table)
            entries.append(Judged(position, hook, table, row, plain, upstream, queue.seen))
            queue = queue.after(hook, table, row, outcome, plain, upstream=upstream)
        return entries

    def _read_by_all(
        self, call: RecordedCall, event: Event, first: tuple[EventRow, Outcome], current: Event
    ) -> tuple[EventRow, Outcome]:
        """The strictest reading of a program's answer by those who declare it."""
        readings = [first]
        for name, native in call.also:
            raw: dict[str, Json] = {**call.raw, "dialect": name, "native": native}
            hook, table, row = self.hook(RecordedCall(raw), event.name)
            read = completed(
                interpret(hook, table.replies[hook.handler], event.name, run_from(call.run)),
                to_native(current, table),
                table,
                hook,
            )
            judged = judge(hook, table, row, read, self.posture or call.posture, self.settings.get(name, {}))
            readings.append((row, in_terms_of(dialect(call.dialect), judged, table, event)))
        return strictest(readings)

    def hook(self, call: RecordedCall, event: str) -> tuple[Hook, Dialect, EventRow]:
        key = (*_identity(call), event)
        found = self._hooks.get(key)
        if found is None:
            found = self._hooks[key] = _hook_of(call, event)
        return found


def _joined(first: list[Judged], second: list[Judged]) -> list[Judged]:
    """The answers, with those about the final form."""
    entries = [*first]
    places = {entry.hook.id: place for place, entry in reversed([*enumerate(first)])}
    for entry in second:
        answer, place = entry.outcome.replace(**NO_REWRITE), places.get(entry.hook.id)
        if place is None:
            entries.append(entry.replace(position=-1, outcome=answer))
        else:
            entries[place] = with_second(entries[place], answer)
    return entries


def event_in(line: JournalLine) -> Event:
    """The event of a line, with its host's names."""
    event = Event(str(line.event), line.data, b"", line.hosted)
    by = line.host
    return recalled(host(by), event) if event.hosted and by in HOSTS and "tool" in event.data else event


def by_runs_alone(line: JournalLine) -> bool:
    """Whether a decision depends only on the runs: no host names, no rewrite of single fields."""
    if line.hosted:
        return False
    return not any(
        name in DIALECTS and dialect(name).whole_input is not None for name in {call.dialect for call in line.calls}
    )


def _identity(call: RecordedCall) -> tuple[Json, ...]:
    """What identifies the hook of a call. Different hooks may have the same id, because ids leave out some characters
    of names."""
    return call.hook, call.name, call.dialect, call.native, call.handler, call.limit_s


def _key(line: JournalLine, calls: Sequence[RecordedCall]) -> tuple[Json, ...] | None:
    """Everything that a decision without host names depends on; None if that is too much to cache."""
    key: list[Json] = [line.event, line.mode]
    for call in calls:
        run = call.run
        if run is None:
            raise Unjudgeable("its run was not kept")
        if not isinstance(run.stdout, str) or not isinstance(run.stderr, str):
            raise Unjudgeable("its payloads were not kept")
        if len(run.stdout) + len(run.stderr) > REMEMBERED_CHARACTERS:
            return None
        key += (*_identity(call), call.again, repr(call.also), call.posture)
        key += (run.ending, run.exit_code, run.stdout, run.stderr, run.error)
    return tuple(key)


def _check(before: RecordedDecision, calls: Sequence[RecordedCall]) -> None:
    """Raises Unjudgeable if the decision depended on something without a recorded run."""
    if before.has_problem(UNJUDGED):
        raise Unjudgeable("a hook had kept the agent working as often as it may")
    if before.answered or before.has_problem(NOT_ANSWERED_CODE):
        raise Unjudgeable("a person answered it, or was asked to")
    hooks = before.hooks
    if len(hooks) > len(calls):
        ran = {call.hook for call in calls}
        for hook in hooks:
            if hook.status in ("ran", "broken") and hook.id not in ran:
                if hook.status == "broken":
                    raise Unjudgeable("a hook could not even be matched or loaded")
                if hook.verdict != "none" or before.asked:
                    raise Unjudgeable("a callable of the program itself had a say")


def is_repeated(line: JournalLine) -> bool:
    """Whether a line only says that another entry already fired its event, which has a separate line."""
    decision = line.decision
    return decision is not None and decision.has_problem(REPEATED)


def _hook_of(call: RecordedCall, event: str) -> tuple[Hook, Dialect, EventRow]:
    if call.dialect not in DIALECTS:
        raise Unjudgeable("it is from before runs were recorded with their dialect")
    table = dialect(call.dialect)
    row = table.row(call.native) or table.row_for(event)
    if row is None or call.handler not in table.replies:
        raise Unjudgeable("its dialect has no such event or handler any more")
    kind = word_of(call.handler, HANDLER_KINDS)
    scope = word_of((*call.hook.split(":"), "")[1], HOOK_SCOPES)
    hook = Hook(
        call.hook, call.name, table.name, scope, "", (), "", "", call.native, (event,), None, kind, {},
        float(call.limit_s or 0.0),
    )  # fmt: skip
    return hook, table, row


def run_from(run: RecordedRun | None) -> Run:
    """The run of a recorded call; raises Unjudgeable if it is incomplete."""
    if run is None or run.ending not in ENDINGS:
        raise Unjudgeable("its run was not kept")
    streams = []
    for said in (run.stdout, run.stderr):
        if not isinstance(said, str):
            raise Unjudgeable("its payloads were not kept")
        if said.endswith(CUT) and run.ending == "exited":  # the output of a failed run does not matter
            raise Unjudgeable("its output was too long to be kept whole")
        streams.append(said.encode("utf-8", "surrogatepass"))
    return Run(word_of(run.ending, ENDINGS), run.exit_code, streams[0], streams[1], 0, run.duration_s or 0.0, run.error)


def _kept(decision: Decision) -> list[tuple[str, Json]]:
    """What a record holds of such a decision."""
    return [
        (field, _plain(decision, field)) for field in IN_RECORDS if getattr(decision, field) not in (None, False, ())
    ]


def _is_kept(kept: list[tuple[str, Json]], before: dict[str, Json]) -> bool:
    """Whether a recorded decision is exactly this one: a fast check, true for most."""
    if len(before) != len(kept) + sum(map(before.__contains__, BESIDE)):
        return False
    return [before.get(field) for field, _ in kept] == [value for _, value in kept]


_NOTHING: dict[str, Json] = {"verdict": "none", "context": [], "messages": [], "follow_ups": [], "end_turn": False}


def _nothing(field: str) -> Json:
    return _NOTHING.get(field)


def _differing(after: Decision, before: dict[str, Json], only: frozenset[str] | None) -> list[str]:
    """The fields in which two decisions differ, the recorded one being without what it did not ask for."""
    found: list[str] = []
    for field, value in zip(IN_RECORDS, _compared(after), strict=True):
        if value is None or value is False or value == ():
            same = field not in before
        elif field in before:
            plain = list(value) if value.__class__ is tuple else value
            same = before[field] == plain or before[field] == clipped(plain)
        else:
            same = False
        if not same and (only is None or field in only or field == "verdict"):
            found.append(field)
    return found


def _plain(decision: Decision, field: str) -> Json:
    value = getattr(decision, field)
    return clipped(list(value) if isinstance(value, tuple) else value)
