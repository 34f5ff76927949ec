"""The imported past: events from agents' transcripts, in a separate journal next to that of fired events. No hooks were
asked then, so no line has a decision; rules and hooks can be tried on it from the first day."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping

from anyhook.journal.read import JournalLine
from anyhook.journal.record import JournalPolicy, head_of, record
from anyhook.journal.search import Wanted, search
from anyhook.journal.writer import Bounds, JournalWriter
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.lean_json import digest, dumps
from anyhook.model.record import Record
from anyhook.tables.past import Past, PastEvent
from anyhook.tables.rows import Roots

IMPORTED_FOLDER = "imported"
RECORDS_AT_ONCE = 500
"""How many lines are written at a time."""


class Imported(Record):
    """What one agent's transcripts contained."""

    files: int = 0
    sessions: int = 0
    events: int = 0
    new: int = 0
    unread: tuple[str, ...] = ()
    """Files that could not be read, and why."""


def pasts(state_dir: str) -> list[str]:
    """The journals of fired and of imported events, those that exist."""
    return [folder for folder in (state_dir, f"{state_dir}/{IMPORTED_FOLDER}") if os.path.isdir(folder)]


def search_all(state_dir: str, wanted: Wanted) -> Iterator[JournalLine]:
    """The records of both. A call that was recorded when it was made is not told again as imported."""
    fired, *imported = pasts(state_dir) or [state_dir]
    known: set[int] = set()
    for line in search(fired, wanted):
        if imported and (call := _call_of(line)) is not None:
            known.add(call)
        yield line
    for line in search(imported[0], wanted) if imported else ():
        if _call_of(line) not in known:
            yield line


def _call_of(line: JournalLine) -> int | None:
    """Which call of which session a line is about, before it or after it; None if that is not known."""
    call = line.data.get("call_id") if line.has_data else None
    return hash((line.host, line.session, call, line.event == "pre_tool")) if call and line.session else None


class Importer:
    """Writes events that are not there yet."""

    def __init__(self, state_dir: str, policy: JournalPolicy, bounds: Bounds) -> None:
        self.policy = policy
        self.folder = f"{state_dir}/{IMPORTED_FOLDER}"
        self._writer = JournalWriter(self.folder, bounds)
        self._known: set[str] = set()
        there: Counter[str] = Counter()
        for line in search(self.folder, Wanted()) if os.path.isdir(self.folder) else ():
            event = str(line.host), str(line.session), str(line.event)
            self._known.add(_key(*event, line.at_ns or 0, line.data, there))

    def read(self, agent: str, past: Past, roots: Roots, since_ns: int) -> Imported:
        """Import what an agent has recorded since then. Raises OSError if nothing can be written."""
        files, count, new = 0, 0, 0
        sessions: set[str] = set()
        unread: list[str] = []
        waiting: list[bytes] = []
        for path in past.places(roots):
            files += 1
            there: Counter[str] = Counter()
            try:
                for event in past.events(path):
                    if event.at_ns < since_ns or not event.session:
                        continue
                    count += 1
                    sessions.add(event.session)
                    key = _key(agent, event.session, event.name, event.at_ns, event.data, there)
                    if key not in self._known:
                        self._known.add(key)
                        waiting.append(self._line(agent, event))
            except OSError as error:
                unread.append(f"{path}: {error.strerror or error}")
            new += len(waiting)
            for start in range(0, len(waiting), RECORDS_AT_ONCE):
                self._writer.append(waiting[start : start + RECORDS_AT_ONCE])
            waiting.clear()
        return Imported(files, len(sessions), count, new, tuple(unread))

    def close(self) -> None:
        self._writer.close()

    def _line(self, agent: str, event: PastEvent) -> bytes:
        policy = self.policy.replace(caller=(agent, event.project, ""), session=event.session)
        head = head_of(Event(event.name, event.data, hosted=True), "shadow", policy)
        return record(head, Decision(event.name), (), policy, event.at_ns)


def _key(agent: str, session: str, event: str, at_ns: int, data: Mapping[str, object], there: Counter[str]) -> str:
    """The key of one event of one session: by its call if it has one, otherwise by its time, and how many with this
    time are `there` already: some transcripts have one time for all."""
    called = data.get("call_id")
    key = digest(dumps([agent, session, event, str(called or at_ns)]).encode())
    if called:
        return key
    there[key] += 1
    return f"{key} {there[key]}"
