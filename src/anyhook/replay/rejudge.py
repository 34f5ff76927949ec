"""Judges one record again: its runs, by today's tables and settings. It starts nothing, and says what
it cannot judge."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from anyhook.hosts import HOSTS, host
from anyhook.journal.record import ASKED_FOR, NO_BODIES, clipped
from anyhook.model.call import Run
from anyhook.model.event import GATES, Event
from anyhook.model.hook import Hook
from anyhook.model.outcome import BLOCK, STOPPING
from anyhook.model.record import Record
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.translate import completed, rewritten, to_host, to_native
from anyhook.walk.interpret import ENDINGS, interpret
from anyhook.walk.judge import judge
from anyhook.walk.merge import Entry, merge
from anyhook.walk.receive import recalled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.decision import Decision
    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow

MAX_REMEMBERED = 5_000
REMEMBERED_CHARACTERS = 1_000
"""What a hook says at length it hardly says twice, and would fill the memory."""
COMPARED = ("verdict", *ASKED_FOR)
_compared = attrgetter(*COMPARED)
BESIDE = ("enforced", "hooks", "problems")
"""What else a recorded decision has."""
CUT = (" bytes in all]", " characters in all]")
UNJUDGED = "bound-reached"
"""A problem after which a block did not count, for a reason that no record has."""
REPEATED = "fired-twice"
"""A problem that a record has where the event was another one's, and only told to us twice."""
ALIEN = (TypeError, ValueError, AttributeError, KeyError)
"""What reading a record leads to that has values as no record of ours has them: another version wrote it, or somebody
else."""


class Unjudgeable(Exception):  # noqa: N818 (it says what the record is)
    """Why a record cannot be judged again, in a few words that are the same for all of its kind."""


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
    """Hooks that a block kept from running then, and would not today: what they say, nobody knows."""

    def as_dict(self) -> dict[str, Json]:
        made: dict[str, Json] = {field: getattr(self, field) for field in self.fields}
        made["unknown"] = list(self.unknown)
        return made


if TYPE_CHECKING:
    _Judged = tuple[Decision, list[tuple[str, Json]]]
    """A decision, and what a record holds of it."""


class Judge:
    """Judges record after record; the same runs of the same hooks only once."""

    def __init__(self, settings: Mapping[str, Mapping[str, str]], posture: str | None = None) -> None:
        """`settings` of the dialects, as the user has them today; `posture` in place of the recorded ones."""
        self.settings, self.posture = settings, posture
        self._hooks: dict[tuple[Json, ...], tuple[Hook, Dialect, EventRow]] = {}
        self._decisions: dict[tuple[Json, ...], _Judged] = {}

    def judge(self, record: dict[str, Json]) -> Change | None:
        """What would be different today; None where nothing is. Unjudgeable where that cannot be said."""
        before = record.get("decision")
        if not isinstance(before, dict) or "lost" in before:
            raise Unjudgeable("its decision was not kept")
        rows = before.get("hooks")
        hooks = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        calls = record.get("calls")
        listed = calls if isinstance(calls, list) else []
        foreground = [call for call in listed if isinstance(call, dict) and call.get("run")]
        _check(before, hooks, foreground)
        if not foreground:
            return None
        after, kept = self.decision(record, foreground)
        if _is_kept(kept, before):
            return None
        differing = _differing(after, before, NO_BODIES if "bodies" in record else None)
        if not differing:
            return None
        lifted = before.get("verdict") == BLOCK and after.verdict != BLOCK
        skipped = tuple(str(row.get("id")) for row in hooks if row.get("status") == "skipped") if lifted else ()
        data = record.get("data")
        return Change(
            record.get("n"),
            record.get("at"),
            str(record.get("event")),
            data.get("tool") if isinstance(data, dict) else None,
            {field: before.get(field, _nothing(field)) for field in differing},
            {field: _plain(after, field) for field in differing},
            skipped,
        )

    def decision(self, record: dict[str, Json], calls: list[dict[str, Json]]) -> _Judged:
        """Today's. Where nothing but the runs has a say, the same runs mean the same, whatever else differs."""
        key = _key(record, calls) if by_runs_alone(record) else None
        try:
            found = self._decisions.get(key) if key else None
        except TypeError:  # a value that no record of ours has there
            raise Unjudgeable("its run was not kept") from None
        if found is None:
            decision = self._decided(record, calls)
            found = decision, _kept(decision)
            if len(self._decisions) >= MAX_REMEMBERED:
                self._decisions.clear()
            if key:
                self._decisions[key] = found
        return found

    def _decided(self, record: dict[str, Json], calls: list[dict[str, Json]]) -> Decision:
        entries = self.entries(record, calls)
        return merge(str(record.get("event")), entries, enforced=record.get("mode") != "shadow")

    def entries(self, record: dict[str, Json], calls: list[dict[str, Json]]) -> list[Entry]:
        """What each of the calls asked for, as far as its turn came."""
        event = seen = current = event_in(record)
        name = event.name
        entries: list[Entry] = []
        group = ended = blocked_in = ""
        stopped = False
        for position, call in enumerate(calls):
            hook, table, row = self.hook(call, name)
            if (stopped or ended == table.name) and not (table.together and blocked_in == table.name):
                continue
            if group != table.name:
                group, seen = table.name, to_native(current, table)
            settings = self.settings.get(table.name, {})
            posture = self.posture or str(call.get("posture", "native"))
            read = interpret(hook, table.replies[hook.handler], name, run_from(call["run"]))
            outcome = judge(hook, table, row, completed(read, seen, table), posture, settings)
            upstream = settings.get("chaining") == "upstream"
            plain = to_host(outcome, event, table)
            entries.append(Entry(position, hook, table, row, plain, upstream))
            current, seen = rewritten(current, seen, outcome, plain, () if upstream else table.chains)
            if outcome.verdict == BLOCK:
                ended = blocked_in = table.name
                stopped = name in GATES and row.block in STOPPING
            elif hook.scope == "builtin" and outcome.recipe is not None:
                ended = table.name
        return entries

    def hook(self, call: dict[str, Json], event: str) -> tuple[Hook, Dialect, EventRow]:
        key = (*_identity(call), event)
        found = self._hooks.get(key)
        if found is None:
            found = self._hooks[key] = _hook_of(call, event)
        return found


def event_in(record: dict[str, Json]) -> Event:
    """The event that a record tells of, in the words that its host had."""
    data, by = record.get("data"), record.get("host")
    event = Event(str(record.get("event")), data if isinstance(data, dict) else {}, b"", bool(record.get("hosted")))
    return recalled(host(str(by)), event) if event.hosted and by in HOSTS and "tool" in event.data else event


def by_runs_alone(record: dict[str, Json]) -> bool:
    """Whether a decision depends on nothing but the runs: no words of a host, no rewrite of single fields."""
    if record.get("hosted"):
        return False
    calls = record.get("calls")
    names = {call.get("dialect") for call in calls if isinstance(call, dict)} if isinstance(calls, list) else set()
    return not any(name in DIALECTS and dialect(str(name)).partial_input for name in names)


def _identity(call: dict[str, Json]) -> tuple[Json, ...]:
    """What makes the hook of a call; ids of different hooks may be the same, for they leave signs of names out."""
    return tuple([call.get(key) for key in ("hook", "name", "dialect", "native", "handler", "limit_s")])


def _key(record: dict[str, Json], calls: list[dict[str, Json]]) -> tuple[Json, ...] | None:
    """Everything that a decision without its host's words depends on; None where that is too much to remember."""
    key: list[Json] = [record.get("event"), record.get("mode")]
    for call in calls:
        run = call["run"]
        if not isinstance(run, dict):
            raise Unjudgeable("its run was not kept")
        stdout, stderr = run.get("stdout"), run.get("stderr")
        if not isinstance(stdout, str) or not isinstance(stderr, str):
            raise Unjudgeable("its payloads were not kept")
        if len(stdout) + len(stderr) > REMEMBERED_CHARACTERS:
            return None
        key += (*_identity(call), call.get("posture"))
        key += (run.get("ending"), run.get("exit_code"), stdout, stderr, run.get("error"))
    return tuple(key)


def _check(before: dict[str, Json], hooks: list[dict[str, Json]], calls: list[dict[str, Json]]) -> None:
    """Unjudgeable where something took part in the decision that no recorded run tells of."""
    if _has_problem(before, UNJUDGED):
        raise Unjudgeable("a hook had kept the agent working as often as it may")
    if len(hooks) > len(calls):
        ran = {call.get("hook") for call in calls}
        for row in hooks:
            if row.get("status") in ("ran", "broken") and row.get("id") not in ran:
                if row.get("status") == "broken":
                    raise Unjudgeable("a hook could not even be matched or loaded")
                if row.get("verdict") != "none" or any(field in before for field in ASKED_FOR):
                    raise Unjudgeable("a callable of the program itself had a say")


def _has_problem(decision: Json, code: str) -> bool:
    problems = decision.get("problems") if isinstance(decision, dict) else None
    return isinstance(problems, list) and any(isinstance(each, dict) and each.get("code") == code for each in problems)


def is_repeated(record: dict[str, Json]) -> bool:
    """Whether a record only says that its event was fired by another entry already, which has a record of its own."""
    return _has_problem(record.get("decision"), REPEATED)


def _hook_of(call: dict[str, Json], event: str) -> tuple[Hook, Dialect, EventRow]:
    name, identity = call.get("dialect"), str(call.get("hook"))
    if name not in DIALECTS:
        raise Unjudgeable("it is from before runs were recorded with their dialect")
    table = dialect(str(name))
    native, handler = str(call.get("native")), str(call.get("handler", "command"))
    row = table.row(native) or table.row_for(event)
    if row is None or handler not in table.replies:
        raise Unjudgeable("its dialect has no such event or handler any more")
    limit = call.get("limit_s")
    scope = (*identity.split(":"), "")[1]
    limit_s = float(limit) if isinstance(limit, (int, float)) else 0.0
    shown = str(call.get("name", identity))
    hook = Hook(identity, shown, table.name, scope, "", (), "", "", native, (event,), None, handler, {}, limit_s)
    return hook, table, row


def run_from(run: Json) -> Run:
    """The run that a record tells of; Unjudgeable where it does not tell all of it."""
    if not isinstance(run, dict) or run.get("ending") not in ("exited", "not_started", *ENDINGS):
        raise Unjudgeable("its run was not kept")
    code, error = run.get("exit_code"), run.get("error")
    streams = []
    for name in ("stdout", "stderr"):
        text = run.get(name)
        if not isinstance(text, str):
            raise Unjudgeable("its payloads were not kept")
        if text.endswith(CUT) and run.get("ending") == "exited":  # nobody reads what a run that failed has printed
            raise Unjudgeable("its output was too long to be kept whole")
        streams.append(text.encode("utf-8", "surrogatepass"))
    spent = run.get("duration_s")
    return Run(
        str(run.get("ending")),
        code if isinstance(code, int) else None,
        streams[0],
        streams[1],
        0,
        float(spent) if isinstance(spent, (int, float)) else 0.0,
        error if isinstance(error, str) else None,
    )


def _kept(decision: Decision) -> list[tuple[str, Json]]:
    """What a record holds of such a decision."""
    return [(field, _plain(decision, field)) for field in COMPARED if getattr(decision, field) not in (None, False, ())]


def _is_kept(kept: list[tuple[str, Json]], before: dict[str, Json]) -> bool:
    """Whether a recorded decision is this one and asks for nothing else: most are, and this is quickly said."""
    if len(before) != len(kept) + sum(map(before.__contains__, BESIDE)):
        return False
    return [before.get(field) for field, _ in kept] == [value for _, value in kept]


_NOTHING: dict[str, Json] = {"verdict": "none", "context": [], "messages": [], "follow_ups": [], "end_turn": False}


def _nothing(field: str) -> Json:
    return _NOTHING.get(field)


def _differing(after: Decision, before: dict[str, Json], only: frozenset[str] | None) -> list[str]:
    """The fields in which two decisions differ, the recorded one being without what it did not ask for."""
    found: list[str] = []
    for field, value in zip(COMPARED, _compared(after), strict=True):
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
