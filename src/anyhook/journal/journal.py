"""The journal: one JSON line per fired event, from many processes at once. It never fails an event."""

from __future__ import annotations

import sys
from _thread import allocate_lock, start_new_thread
from os import urandom
from time import sleep, time_ns

from anyhook.journal.record import JournalPolicy, head_of, record, record_quiet, secrets_of
from anyhook.journal.writer import Bounds, JournalWriter, forks
from anyhook.model.decision import Decision, Report
from anyhook.model.firing import Firing, Part
from anyhook.model.lean_json import short_digest
from anyhook.model.words import FULL, TRACEPARENT, Mode
from anyhook.platform.places import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.problem import Problem
    from anyhook.state.plans import CatalogPlan, Setup

LATER_S = 0.25
MAX_UNWRITTEN = 50_000
"""How many events without hooks are buffered before their lines are written."""

TRACE_STATE = "TRACESTATE"
NO_TRACE, NO_SPAN = "0" * 32, "0" * 16
MAX_KEPT = 1000
"""How many sessions' trace ids one engine remembers."""
_LOWER_HEX = frozenset("0123456789abcdef")


class Journal(JournalWriter):
    """Remembers why a line could not be written."""

    broken: str | None = None
    """Why the last line could not be written."""

    def put(self, *lines: bytes) -> bool:
        """Write all of the lines or none; returns whether that worked."""
        try:
            self.append(lines)
        except OSError as error:
            self.broken = error.strerror or str(error)
            return False
        return True

    def problem(self) -> Problem:
        """The problem to report if a line could not be written."""
        from anyhook.model.problem import WARNING, Problem

        return Problem(
            "journal-failed",
            "events are not recorded",
            self.path,
            self.broken or "",
            "Make the state directory writable, and make sure its disk is not full.",
            WARNING,
        )


class Recorder:
    """Records firings: for one engine, or for one call with nothing hooked. It knows who fires, and what may be
    recorded."""

    def __init__(
        self,
        env: Mapping[str, str],
        project: str,
        host: str,
        session: str | None,
        mode: Mode,
        settings: Mapping[str, Json],
        *,
        one_shot: bool,
    ) -> None:
        """`settings` are the journal's; `one_shot` is for a process that ends with the answer, so that nothing can be
        deferred. Without a session it invents one."""
        self.session = session if session is not None else f"session-{urandom(8).hex()}"
        self.mode = mode
        caller = (host, project, parent_of(env) if TRACEPARENT in env else "")
        bodies = str(settings.get("bodies", FULL))
        self.policy = JournalPolicy(secrets_of(env), bodies, frozenset(env), {}, self.session, caller)
        bounds = {key: value for key in Bounds.fields if isinstance(value := settings.get(key), int)}
        self.journal: Journal | None = Journal(state_dir(env), Bounds(**bounds))
        self.listener: Callable[[Firing], None] | None = None
        """Called with every firing that reached a hook, before it is written."""
        self._waits = not one_shot
        self._unwritten: list[tuple[int, Event, Decision]] = []
        """Events that are not in the journal yet, with their times and answers."""
        self._soon = False
        """Whether a flush is scheduled."""
        self._flushing, self._forks = allocate_lock(), forks.forks
        self.rehearses = False
        """Whether nothing that happens here is remembered."""

    def rehearse(self) -> None:
        """Write nothing from now on, and use nothing up: somebody only wants to see what would be decided."""
        self.journal, self._waits, self.rehearses = None, False, True

    def quiet(self, event: Event, decision: Decision, mode: Mode) -> Decision:
        """Record an event without hooks, as nearly all are: if the process continues, its line is written later, so
        this takes a microsecond."""
        journal = self.journal
        if not self._waits or mode != self.mode or journal is None:
            decision = decision.replace(enforced=mode != "shadow")
            return self.write(Firing((Part(event, decision),), decision, mode))
        self._after_fork()
        self._unwritten.append((time_ns(), event, decision))
        if not self._soon:
            self._flush_later()
        elif len(self._unwritten) > MAX_UNWRITTEN:
            self.flush()
        return decision if journal.broken is None else self._unrecorded(decision)

    def write(self, firing: Firing) -> Decision:
        """Write a line for each part now: the last step of an event. Returns the decision, with a problem if the line
        could not be written; the decision counts either way."""
        decision = firing.decision
        if self.listener is not None:
            self.listener(firing)
        try:
            lines = []
            for index, part in enumerate(firing.parts):
                final = decision if index == firing.deciding else part.decision
                head = part.head or head_of(part.event, firing.mode, self.policy)
                own = part.decision if final is not part.decision and _differ(final, part.decision) else None
                lines.append(record(head, final, part.runs, self.policy, own=own))
            if self.journal is not None:
                self.journal.append(lines)
        except OSError as error:
            if self.journal is None:
                return decision
            self.journal.broken = error.strerror or str(error)
            return self._unrecorded(decision)
        except Exception as error:  # noqa: BLE001 (an answer matters more than its record)
            from anyhook.model.problem import WARNING, Problem
            from anyhook.tables.isolation import error_line

            what, where = "this event could not be written down", decision.event
            problem = Problem("journal-failed", what, where, error_line(error), severity=WARNING)
            return decision.replace(problems=(*decision.problems, problem))
        return decision

    def flush(self) -> None:
        """Write deferred lines. One thread at a time, or two would write the same lines."""
        self._after_fork()
        with self._flushing:
            self._soon = False  # before the lines are taken: one that comes after that asks for another flush
            taken = self._unwritten[:]
            del self._unwritten[: len(taken)]  # others may append
            if taken and self.journal is not None:
                self.journal.put(*record_quiet(taken, self.mode, self.policy))

    def _flush_later(self) -> None:
        """For events without hooks: their lines are made and written a moment later, so that such an event costs its
        caller almost nothing. A killed process loses only events in which nothing happened."""
        import atexit

        self._soon = True
        atexit.unregister(self.flush)
        atexit.register(self.flush)
        try:
            start_new_thread(self._flush_soon, ())  # a `Timer` takes three times as long to start
        except RuntimeError:  # no thread available
            self.flush()

    def _flush_soon(self) -> None:
        sleep(LATER_S)
        self.flush()

    def _after_fork(self) -> None:
        """In a child: what was deferred is the parent's, which writes it; a thread of the parent may hold the lock, and
        does not exist here."""
        if self._forks != forks.forks:
            self._unwritten, self._soon = [], False
            self._flushing, self._forks = allocate_lock(), forks.forks

    def close(self) -> None:
        """Write what was deferred, so that nothing is left to do at the end of the program."""
        self.flush()
        if self.journal is not None:
            self.journal.close()
        if "atexit" in sys.modules:
            sys.modules["atexit"].unregister(self.flush)

    def _unrecorded(self, decision: Decision) -> Decision:
        """Report it once; the journal is not tried again."""
        journal, self.journal = self.journal, None
        found = (journal.problem(),) if journal is not None else ()
        return decision.replace(problems=(*decision.problems, *found))


def _differ(one: Decision, other: Decision) -> bool:
    """Whether two decisions differ in what they ask for, apart from their problems."""
    return one.replace(problems=()) != other.replace(problems=())


# -- the trace context: the place of a hook's run in a trace, as defined by W3C. It sends nothing; what it puts into a
# hook's environment is written down with the run, so that an export finds the same ids


def parent_of(env: Mapping[str, str]) -> str:
    """The caller's trace context; "" if it has none, or an invalid one."""
    given = env.get(TRACEPARENT, "")
    version, _, rest = given.partition("-")
    parts = rest.split("-")
    right = [len(part) for part in (version, *parts[:3])] == [2, 32, 16, 2] and not set("".join(parts[:3])) - _LOWER_HEX
    if not right or version == "ff" or set(version) - _LOWER_HEX or parts[0] == NO_TRACE or parts[1] == NO_SPAN:
        return ""
    return f"00-{parts[0]}-{parts[1]}-{parts[2]}" if version != "00" or len(parts) == 3 else ""


class Trace:
    """Gives each run of an engine its own span, in the caller's trace or in that of its session."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.parent = parent_of(env) if TRACEPARENT in env else ""
        first = int.from_bytes(urandom(8))
        self._spans = iter(range(first, first + (1 << 62)))  # taken from many threads at once, and never twice
        self._ids: dict[str, str] = {}

    def enter(self, env: dict[str, str], session: str) -> str:
        """Put the next run's context into its environment, and return it. A trace state stays only with its own
        context."""
        span = next(self._spans) & 0xFFFF_FFFF_FFFF_FFFF or 1
        parent = self.parent
        if parent:
            made = env[TRACEPARENT] = f"{parent[:36]}{span:016x}{parent[52:]}"
            return made
        env.pop(TRACE_STATE, None)
        known = self._ids.get(session)
        if known is None:
            if len(self._ids) >= MAX_KEPT:
                self._ids.clear()
            known = self._ids[session] = short_digest(session)  # the trace of a session whose caller is in none
        made = env[TRACEPARENT] = f"00-{known}-{span:016x}-01"
        return made


def quiet(
    setup: Setup, plan: CatalogPlan, events: Sequence[Event], host: str, mode: Mode | None,
    session: str | None = None,
    hooks: tuple[Report, ...] = (),
) -> Decision:  # fmt: skip
    """No hook wants the events: the same decision and lines as the engine's, without the engine."""
    mode = mode or plan.mode
    recorder = Recorder(setup.env, setup.project, host, session or None, mode, plan.journal, one_shot=True)
    for event in events:
        decision = recorder.quiet(event, Decision(event.name, hooks=hooks), mode)
    return decision
