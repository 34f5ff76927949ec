"""Proof from the past: the tool calls in an agent's own transcripts, against those that the journal says we were asked
about. A call that nobody asked about was not guarded; one that ran although it was refused was not obeyed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from time import time_ns

from anyhook.journal.read import JournalLine
from anyhook.journal.search import Wanted, search
from anyhook.model.json_types import Json
from anyhook.model.lean_json import digest, dumps
from anyhook.model.record import Record
from anyhook.platform.store import Store
from anyhook.state.installs import Install
from anyhook.tables.past import Past, PastEvent, inner
from anyhook.tables.rows import Roots

BEFORE_A_CALL = ("pre_tool", "permission_request")
AFTER_A_CALL = ("post_tool", "post_tool_failure")
NEAR_NS = 600 * 10**9
"""How far the times of a call without an id may be apart in the transcript and in the journal."""
LAST_DAY_NS = 86_400 * 10**9
MAX_DAILY = 64 << 20
"""Larger transcripts, in bytes, are left to `doctor --past`: reading one takes seconds."""
MAX_CALL_LENGTH = 200
"""How many characters of a call are shown."""
RECOGNISED = 40
"""How many characters of a reason are enough to recognise it in what a host tells its model."""
MAX_RESULT = 4_000
"""How many characters of a result are kept to look for it."""


class Unguarded(Record):
    """A call that was made and never asked about, or that ran although the answer was a refusal."""

    session: str
    at: int
    tool: str
    what: str
    record: int | None = None
    """The number of the record with the refusal; None for a call that nobody asked about."""

    def as_dict(self) -> dict[str, Json]:
        """All fields; `record` only if there is one."""
        return {field: value for field, value in super().as_dict().items() if value is not None}


class PastProof(Record):
    """What an agent's transcripts say about one span of time."""

    sessions: int = 0
    calls: int = 0
    asked: int = 0
    missed: tuple[Unguarded, ...] = ()
    disobeyed: tuple[Unguarded, ...] = ()
    unread: tuple[str, ...] = ()
    """Transcripts that could not be read, and why."""

    @property
    def is_clean(self) -> bool:
        return not self.missed and not self.disobeyed


class PastCall(Record):
    """One tool call of a transcript: as much of it as is compared, so that long transcripts fit into memory."""

    session: str
    at_ns: int
    tool: str
    call_id: str
    given: str
    """The digest of its input."""
    what: str
    """It in one short line."""
    said: str | None = None
    """The beginning of its result; None if there is none."""
    is_host_refusal: bool = False
    """Whether the host says instead of a result that a hook refused."""


def prove(agent: str, past: Past, roots: Roots, state_dir: str, since_ns: int) -> PastProof:
    """Compare an agent's transcripts with the journal, from this time on. It reads only files that changed since."""
    calls: list[PastCall] = []
    unread: list[str] = []
    journal = Asked(agent, state_dir, since_ns - NEAR_NS, own_ids=past.own_ids)
    for path in past.places(roots):
        try:
            if _stamp(path)[1] >= since_ns:
                calls.extend(_calls(past, path, since_ns, journal.refused))
        except OSError as error:
            unread.append(f"{path}: {error.strerror or error}")
    missed, disobeyed = _judged(calls, journal)
    sessions = len({call.session for call in calls})
    asked = len(calls) - len(missed)
    return PastProof(sessions, len(calls), asked, tuple(missed), tuple(disobeyed), tuple(unread))


def last_day(agent: str, past: Past, roots: Roots, state_dir: str, begun_ns: int, now_ns: int) -> PastProof:
    """The same for the last day, and quickly: what was found in a transcript is kept for as long as its size and time
    stay the same. Without sessions and without what the calls were; transcripts that are left out count as unread."""
    since_ns = max(begun_ns, now_ns - LAST_DAY_NS)
    store, key = Store(state_dir, "past"), f"{agent} {begun_ns}"
    before, journal = store.read_object(key), None
    found: dict[str, Json] = {}
    unread: list[str] = []
    for path in past.places(roots):
        try:
            size, changed_ns = _stamp(path)
            if changed_ns < since_ns:
                continue
            if size > MAX_DAILY:
                unread.append(path)
                continue
            name, stamp = digest(path.encode()), f"{size} {changed_ns}"
            kept = before.get(name)
            if isinstance(kept, dict) and kept.get("stamp") == stamp:
                found[name] = kept
                continue
            journal = journal or Asked(agent, state_dir, since_ns - NEAR_NS, own_ids=past.own_ids)
            calls = [*_calls(past, path, since_ns, journal.refused)]
            missed, disobeyed = _judged(calls, journal)
        except OSError:
            unread.append(path)
            continue
        rows: list[Json] = [[each.at, each.tool, each.record] for each in (*missed, *disobeyed)]
        found[name] = {"stamp": stamp, "calls": [call.at_ns for call in calls], "wrong": rows}
    if found != before:
        store.write(key, dumps(found).encode())
    return _summed(found, since_ns).replace(unread=tuple(unread))


def _summed(found: Mapping[str, Json], since_ns: int) -> PastProof:
    """What was kept of each transcript, from this time on."""
    calls, wrong = 0, list[Unguarded]()
    for kept in found.values():
        times, rows = inner(kept, "calls"), inner(kept, "wrong")
        calls += sum(isinstance(at, int) and at >= since_ns for at in times) if isinstance(times, list) else 0
        for row in rows if isinstance(rows, list) else ():
            match row:
                case [int(at), str(tool), int() | None as record] if at >= since_ns:
                    wrong.append(Unguarded("", at, tool, "", record))
    missed = tuple(each for each in wrong if each.record is None)
    return PastProof(0, calls, calls - len(missed), missed, tuple(each for each in wrong if each.record is not None))


def _stamp(path: str) -> tuple[int, int]:
    """The size and the time of a transcript. What was last written to a database is in a file beside it."""
    seen = os.stat(path)
    try:
        later = os.stat(f"{path}-wal")
    except OSError:
        return seen.st_size, seen.st_mtime_ns
    return seen.st_size + later.st_size, max(seen.st_mtime_ns, later.st_mtime_ns)


def _judged(calls: list[PastCall], journal: Asked) -> tuple[list[Unguarded], list[Unguarded]]:
    """The calls that nobody asked about, and those that ran although they were refused."""
    missed, disobeyed = [], []
    for call, record in zip(calls, journal.records(calls), strict=True):
        said = (call.session, call.at_ns, call.tool, call.what)
        if record is None:
            missed.append(Unguarded(*said))
        elif _ran_anyway(call, record):
            disobeyed.append(Unguarded(*said, record.number))
    return missed, disobeyed


def installed_since(agent: str, known: Mapping[str, Install]) -> int | None:
    """When the entry was last written, in nanoseconds; None if there is none. A file that an earlier version wrote
    tells its time by itself."""
    times = [each.at_ns or _changed_ns(path) for path, each in known.items() if each.agent == agent]
    return max(times, default=None)


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _calls(past: Past, path: str, since_ns: int, refused: set[str]) -> Iterator[PastCall]:
    """The tool calls of one transcript that the agent asks hooks about, each with its result; without what the result
    says in sessions in which nothing was refused. What can be read counts, also if an OSError tells afterwards that
    something could not."""
    waiting: dict[str, PastCall] = {}
    unreadable: OSError | None = None
    try:
        for event in past.events(path):
            if event.at_ns < since_ns or event.data.get("tool") in past.unasked:
                continue
            key = str(event.data.get("call_id") or "")
            if event.name == "pre_tool":
                if key:
                    waiting[key] = _call(event)
                else:
                    yield _call(event)
            elif event.name in AFTER_A_CALL and key in waiting:
                call = waiting.pop(key)
                yield _ended(call, event, past.refusals) if call.session in refused else call
    except OSError as error:
        unreadable = error
    yield from waiting.values()
    if unreadable is not None:
        raise unreadable


def _call(event: PastEvent) -> PastCall:
    data = event.data
    call_id, given = str(data.get("call_id") or ""), _digest(data.get("input"))
    return PastCall(event.session, event.at_ns, str(data["tool"]), call_id, given, _shown(data.get("input")))


def _ended(call: PastCall, result: PastEvent, refusals: tuple[str, ...]) -> PastCall:
    said = str(result.data.get("tool_error") or result.data.get("output") or "")
    line = " ".join(said[: 2 * MAX_RESULT].split())
    return call.replace(said=line[:MAX_RESULT], is_host_refusal=any(mark in line for mark in refusals))


def _digest(given: Json) -> str:
    """What tells whether two inputs are the same."""
    return digest(json.dumps(given, sort_keys=True).encode())


class Asked:
    """The calls that the journal has of one agent. Each of them answers for one call of a transcript. A question for
    permission counts only if the answer was a refusal: rules are asked before a call, not there."""

    def __init__(self, agent: str, state_dir: str, since_ns: int, *, own_ids: bool) -> None:
        self._by_call: dict[tuple[str, str], JournalLine] = {}
        self._by_time: dict[tuple[str, str], list[JournalLine]] = {}
        self.refused: set[str] = set()
        """The sessions with a refusal."""
        for event in BEFORE_A_CALL:
            wanted = Wanted(since_ns=since_ns, agent=agent, event=event)
            for line in search(state_dir, wanted) if os.path.isdir(state_dir) else ():
                if event == "pre_tool" or _refused(line):
                    self._add(line)
        if own_ids:
            for line in self._by_call.values():
                self._by_time.setdefault((str(line.session), str(line.tool)), []).append(line)
            self._by_call.clear()

    def _add(self, line: JournalLine) -> None:
        session, call = str(line.session), line.data.get("call_id")
        if _refused(line):
            self.refused.add(session)
        if call:
            known = self._by_call.get((session, str(call)))
            if known is None or _refused(line):  # one call may have several parts, and one refusal refuses it
                self._by_call[session, str(call)] = line
        else:
            self._by_time.setdefault((session, str(line.tool)), []).append(line)

    def records(self, calls: list[PastCall]) -> list[JournalLine | None]:
        """The record of each call; None if nobody asked about it. Without an id it is the one with the same input, or
        else one that no other call has: a journal leaves out secrets, and some agents complete the input."""
        found = [self._known(call) or self._near(call, same=True) for call in calls]
        return [line or self._near(call, same=False) for line, call in zip(found, calls, strict=True)]

    def _known(self, call: PastCall) -> JournalLine | None:
        return self._by_call.get((call.session, call.call_id))

    def _near(self, call: PastCall, *, same: bool) -> JournalLine | None:
        near = self._by_time.get((call.session, call.tool), [])
        for index, line in enumerate(near):
            is_near = abs((line.at_ns or 0) - call.at_ns) <= NEAR_NS
            if is_near and (not same or _digest(line.data.get("input")) == call.given):
                return near.pop(index)
        return None


def _refused(line: JournalLine) -> bool:
    decision = (line.record or {}).get("decision")
    return isinstance(decision, dict) and decision.get("verdict") == "block" and decision.get("enforced") is not False


def _ran_anyway(call: PastCall, line: JournalLine) -> bool:
    """Whether a refused call has a result that is not the host's refusal."""
    if not _refused(line) or call.said is None or call.is_host_refusal:
        return False
    decision = (line.record or {}).get("decision")
    reason = str(decision.get("reason") or "") if isinstance(decision, dict) else ""
    told = " ".join(reason.split())[:RECOGNISED]
    return not (told and told in call.said)


def _shown(given: Json) -> str:
    """A call in one short line."""
    values = list(given.values()) if isinstance(given, dict) else []
    text = next((value for value in values if isinstance(value, str)), "")
    line = " ".join(text[: 2 * MAX_RESULT].split())
    return line if len(line) <= MAX_CALL_LENGTH else f"{line[: MAX_CALL_LENGTH - 1]}…"


def counted(proof: PastProof) -> str:
    """The proof in one line."""
    if not proof.calls:
        return "no tool calls"
    said = f"{proof.calls:,} call{'' if proof.calls == 1 else 's'}, {proof.asked:,} asked"
    if proof.missed and not proof.asked:
        said += ": NOT guarded"
    elif proof.missed:
        tools = ", ".join(
            f"{tool} {many}×" for tool, many in Counter(each.tool for each in proof.missed).most_common(3)
        )
        said += f"; {len(proof.missed):,} never asked about ({tools})"
    if proof.disobeyed:
        said += f"; {len(proof.disobeyed):,} ran although refused"
    return said


def keep(state_dir: str, agent: str, proof: PastProof, now_ns: int) -> None:
    """Remember the last result, for `status` and the page."""
    said: dict[str, Json] = {"at": now_ns, "line": counted(proof), "clean": proof.is_clean}
    Store(state_dir, "past").write(agent, dumps(said).encode())


class PastLine(Record):
    """What transcripts say, in one line; whether every call was asked about and no refused one ran."""

    said: str
    is_clean: bool


def past_line(
    state_dir: str, agent: str, past: Past | None, roots: Roots, known: Mapping[str, Install]
) -> PastLine | None:
    """What the transcripts of the last day say, and what `doctor --past` last found, if that was worse; None if there
    is nothing to say."""
    begun_ns = installed_since(agent, known)
    if past is None or begun_ns is None:
        return None
    day = last_day(agent, past, roots, state_dir, begun_ns, time_ns())
    said = [f"{counted(day)} in the last day"] if day.calls else []
    if day.unread:
        left = len(day.unread)
        said.append(f"{left} transcript{'' if left == 1 else 's'} left to `anyhook doctor --past`")
    kept = Store(state_dir, "past").read_object(agent)
    at, line, was_clean = kept.get("at"), kept.get("line"), kept.get("clean") is not False
    if isinstance(at, int) and isinstance(line, str) and line != counted(day) and not (was_clean and said):
        said.append(f"{line} when `anyhook doctor --past` looked, {datetime.fromtimestamp(at / 1e9):%Y-%m-%d %H:%M}")
    return PastLine("; ".join(said), day.is_clean) if said else None
