"""Proof from the past: the tool calls in an agent's own transcripts, against those that the journal says we were asked
about. A call that nobody asked about was not guarded; one that ran although it was refused was not obeyed."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from anyhook.journal.search import Wanted, search
from anyhook.model.lean_json import dumps
from anyhook.model.record import Record
from anyhook.platform.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anyhook.journal.read import JournalLine
    from anyhook.model.json_types import Json
    from anyhook.state.installs import Install
    from anyhook.tables.past import Past, PastEvent
    from anyhook.tables.rows import Roots

BEFORE_A_CALL = ("pre_tool", "permission_request")
AFTER_A_CALL = ("post_tool", "post_tool_failure")
NEAR_NS = 600 * 10**9
"""How far the times of a call without an id may be apart in the transcript and in the journal."""
MAX_CALL_LENGTH = 200
"""How many characters of a call are shown."""
RECOGNISED = 40
"""How many characters of a reason are enough to recognise it in what a host tells its model."""


class Unguarded(Record):
    """A call that was made and never asked about, or that ran although the answer was a refusal."""

    session: str
    at: int
    tool: str
    what: str
    record: int | None = None
    """The number of the record with the refusal; None for a call that nobody asked about."""

    def as_dict(self) -> dict[str, Json]:
        said: dict[str, Json] = {"session": self.session, "at": self.at, "tool": self.tool, "what": self.what}
        return said if self.record is None else {**said, "record": self.record}


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

    def as_dict(self) -> dict[str, Json]:
        missed: list[Json] = [each.as_dict() for each in self.missed]
        disobeyed: list[Json] = [each.as_dict() for each in self.disobeyed]
        counts: dict[str, Json] = {"sessions": self.sessions, "calls": self.calls, "asked": self.asked}
        return {**counts, "missed": missed, "disobeyed": disobeyed, "unread": [*self.unread]}


class PastCall(Record):
    """One tool call of a transcript, and its result."""

    event: PastEvent
    result: PastEvent | None = None


def prove(agent: str, past: Past, roots: Roots, state_dir: str, since_ns: int) -> PastProof:
    """Compare an agent's transcripts with the journal, from this time on. It reads only files that changed since."""
    calls: list[PastCall] = []
    unread: list[str] = []
    for path in past.places(roots):
        try:
            if os.stat(path).st_mtime_ns >= since_ns:
                calls += _calls(past, path, since_ns)
        except OSError as error:
            unread.append(f"{path}: {error.strerror or error}")
    journal = Asked(agent, state_dir, since_ns - NEAR_NS)
    missed, disobeyed = [], []
    for call in calls:
        record = journal.take(call.event)
        said = (call.event.session, call.event.at_ns, str(call.event.data["tool"]), _shown(call.event))
        if record is None:
            missed.append(Unguarded(*said))
        elif _ran_anyway(call, record, past):
            disobeyed.append(Unguarded(*said, record.number))
    sessions = len({call.event.session for call in calls})
    asked = len(calls) - len(missed)
    return PastProof(sessions, len(calls), asked, tuple(missed), tuple(disobeyed), tuple(unread))


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


def _calls(past: Past, path: str, since_ns: int) -> Iterator[PastCall]:
    """The tool calls of one transcript that the agent asks hooks about, each with its result."""
    waiting: dict[str, PastEvent] = {}
    for event in past.events(path):
        if event.at_ns < since_ns or event.data.get("tool") in past.unasked:
            continue
        key = str(event.data.get("call_id") or "")
        if event.name == "pre_tool":
            if key:
                waiting[key] = event
            else:
                yield PastCall(event)
        elif event.name in AFTER_A_CALL and key in waiting:
            yield PastCall(waiting.pop(key), event)
    yield from map(PastCall, waiting.values())


class Asked:
    """The calls that the journal has of one agent. Each of them answers for one call of a transcript."""

    def __init__(self, agent: str, state_dir: str, since_ns: int) -> None:
        self._by_call: dict[tuple[str, str], JournalLine] = {}
        self._by_time: dict[tuple[str, str], list[JournalLine]] = {}
        for event in BEFORE_A_CALL:
            wanted = Wanted(since_ns=since_ns, agent=agent, event=event)
            for line in search(state_dir, wanted) if os.path.isdir(state_dir) else ():
                self._add(line)

    def _add(self, line: JournalLine) -> None:
        session, call = str(line.session), line.data.get("call_id")
        if call:
            known = self._by_call.get((session, str(call)))
            if known is None or _refused(line):  # one call may have several parts, and one refusal refuses it
                self._by_call[session, str(call)] = line
        else:
            self._by_time.setdefault((session, str(line.tool)), []).append(line)

    def take(self, event: PastEvent) -> JournalLine | None:
        """The record of a call; None if nobody asked about it."""
        found = self._by_call.get((event.session, str(event.data.get("call_id"))))
        if found is not None:
            return found
        near = self._by_time.get((event.session, str(event.data["tool"])), [])
        for index, line in enumerate(near):
            if abs((line.at_ns or 0) - event.at_ns) <= NEAR_NS:
                return near.pop(index)
        return None


def _refused(line: JournalLine) -> bool:
    decision = (line.record or {}).get("decision")
    return isinstance(decision, dict) and decision.get("verdict") == "block" and decision.get("enforced") is not False


def _ran_anyway(call: PastCall, line: JournalLine, past: Past) -> bool:
    """Whether a refused call has a result that is not the host's refusal."""
    if not _refused(line) or call.result is None:
        return False
    decision = (line.record or {}).get("decision")
    reason = str(decision.get("reason") or "") if isinstance(decision, dict) else ""
    said = " ".join(str(call.result.data.get("tool_error") or call.result.data.get("output") or "").split())
    told = " ".join(reason.split())[:RECOGNISED]
    return not (told and told in said) and not any(mark in said for mark in past.refusals)


def _shown(event: PastEvent) -> str:
    """A call in one short line."""
    given = event.data.get("input")
    values = list(given.values()) if isinstance(given, dict) else []
    text = next((value for value in values if isinstance(value, str)), "")
    line = " ".join(text.split())
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


def last_result(state_dir: str, agent: str) -> tuple[int, str]:
    """When transcripts were last compared, and the result in one line; 0 and "" if they never were."""
    kept = Store(state_dir, "past").read_object(agent)
    at, line = kept.get("at"), kept.get("line")
    return (at, line) if isinstance(at, int) and isinstance(line, str) else (0, "")
