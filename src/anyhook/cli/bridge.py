"""`anyhook bridge`: an agent calls us as its hook. We read its payload from stdin and answer in its own format. The
agent waits for this code. If anything goes wrong here, the answer follows `on_failure`, as for a broken hook, and never
is a stray exit status."""

from __future__ import annotations

import os
import sys

# The C module: importing `threading` costs more than everything we need from it.
from _thread import allocate_lock, start_new_thread
from time import monotonic

from anyhook.cli import BLOCKED, BadCall
from anyhook.cli.fire import project_of as checked
from anyhook.cli.fire import quiet
from anyhook.model.firing import NO_OPINION
from anyhook.state.plans import Setup, read_plan
from anyhook.tables.host_rows import OPENINGS, opening
from anyhook.tables.registry import BadTable
from anyhook.walk.bridge import margin_s, named, read, with_lost_record, with_self_protection
from anyhook.walk.receive import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.cli.options import BridgeOptions
    from anyhook.model.firing import Answer
    from anyhook.tables.host_rows import Host, HostEvent
    from anyhook.walk.bridge import Incoming

OLDEST_S = 60.0
"""A process older than this had no slow start, but a wrong clock (a frozen container)."""


def bridge(agent: str, native: str, options: BridgeOptions) -> int:
    """Answer one call of an agent; returns the exit status that it expects."""
    try:
        table, row = named(agent, native)
    except BadTable as error:  # the agent's table is broken; most agents understand this status
        sys.stderr.write(f"anyhook bridge: {error}\n")
        return BLOCKED
    except ValueError as error:
        raise BadCall(str(error)) from None
    begun = begun_s()

    def fail(error: Exception, refusal: str) -> Answer:
        from anyhook.walk.bridge_failure import failed

        return failed(table, row, error, os.environ, options.on_failure, options.mode, refusal)

    def overdue(refusal: str) -> int:
        """In the watchdog's thread: the answer if there is no decision in time."""
        from anyhook.process.run import end_all

        end_all(for_good=True)
        return _tell(fail(Overdue(f"there was no decision within {row.limit_s:g} s"), refusal), table, row)

    # Hooks stop before our margin starts, so this kills none before its limit.
    watchdog = Watchdog(begun + row.limit_s - margin_s(row) / 2, overdue)
    try:
        raw = sys.stdin.buffer.read() if sys.stdin is not None else b""
        incoming = read(table, row, raw, begun, os.environ)
        table, row = incoming.table, incoming.row
        answer = _answer(incoming, options, watchdog)
    except Exception as error:  # noqa: BLE001 (whatever it was: the agent gets an answer that it understands)
        answer = fail(error, watchdog.refusal)  # what we refuse needs no hook
    watchdog.stop()
    return _tell(answer, table, row)


def _answer(incoming: Incoming, options: BridgeOptions, watchdog: Watchdog) -> Answer:
    table, row, events = incoming.table, incoming.row, incoming.received.events
    if not events:
        return NO_OPINION
    setup = Setup.of(
        checked(options.project) if options.project else project_of(table, incoming.payload, os.environ),
        dict(os.environ),
        options.dialect,
        options.trust or "ask",
        options.plugin_dir,
        options.state_dir,
        incoming.begun_s + row.limit_s / 2,
    )
    plan = read_plan(setup)
    incoming = with_self_protection(incoming, setup.env, setup.project, plan.stamps if plan is not None else None)
    watchdog.refusal = incoming.refusal
    asked = incoming.refusal or incoming.doubts
    names = [event.name for event in events]
    opens = names[0] in OPENINGS and names[0] == opening(table)
    if plan is not None and not asked and plan.is_quiet(*names, opens=opens):
        return with_lost_record(NO_OPINION, quiet(setup, plan, events, table.name, options))
    from anyhook.process.run import EndsHooksWithUs, adopt_orphans
    from anyhook.walk.engine import Engine
    from anyhook.walk.routes import from_plan, made_catalog

    adopt_orphans()
    with EndsHooksWithUs():
        engine = Engine(
            setup,
            from_plan(plan) or made_catalog(setup),
            on_failure=options.on_failure,
            mode=options.mode,
            model=options.model or None,
            one_shot=True,
            serves=table,
        )
        return engine.bridge(table.name, row.native, incoming)


def _tell(answer: Answer, table: Host, row: HostEvent) -> int:
    from anyhook.cli import render

    if row.silence is not None:
        from anyhook.walk.express import completed

        answer = completed(answer, row.silence)

    if answer.stderr:
        render.say(answer.stderr)
        if not table.shows_stderr and not answer.status:
            render.say_on_terminal(answer.stderr)
    if answer.stdout:
        try:
            render.exact_out(answer.stdout)
        except OSError as error:
            render.say(f"anyhook bridge: the answer could not be written ({error.strerror})")
            return answer.status or BLOCKED
    return answer.status


# -- the watchdog: if an agent has no answer within its time limit, it kills us and goes on as if there were no hooks.
# We may hang for many reasons (a network drive that does not answer, a stdin that stays open, a slow pattern). So when
# the time is nearly up, the agent gets the answer that `on_failure` gives for our own failures. It is a thread, because
# a Python signal handler would wait until the call that hangs returns.


class Overdue(Exception):  # noqa: N818 (it says what is wrong)
    """The agent's time was nearly up and there was no decision."""


class Started:
    """The process whose start time counts: the caller's, in a warm worker."""

    process = "self"


def begun_s() -> float:
    """When this process was started, on the monotonic clock; the current time if the system does not say. The agent's
    time limit already ran while Python was starting."""
    try:
        descriptor = os.open(f"/proc/{Started.process}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            line = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
        from time import CLOCK_BOOTTIME, clock_gettime

        started_s = int(line.rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age_s = clock_gettime(CLOCK_BOOTTIME) - started_s
    except (OSError, ValueError, IndexError, ImportError):
        return monotonic()
    return monotonic() - min(max(age_s, 0.0), OLDEST_S)


class Watchdog:
    """When the time is up, calls `answer` instead of the main thread and exits with the result. Only the first of the
    two answers."""

    def __init__(self, at_s: float, answer: Callable[[str], int]) -> None:
        self._at_s, self._answer = at_s, answer
        self._claim, self._sleep = allocate_lock(), allocate_lock()
        self._stdout = -1
        self.refusal = ""
        """Why this call is refused regardless of the hooks, if that is already known."""
        try:
            self._stdout = os.dup(1)  # while hooks run, stdout is redirected
        except OSError:
            pass  # it was closed when we started
        self._sleep.acquire()
        try:
            start_new_thread(self._watch, ())
        except RuntimeError:
            pass  # no thread available; go on without

    def stop(self) -> None:
        """The main thread has the answer. Returns only if the watchdog has not answered. Its thread is not woken, which
        would only delay the answer."""
        self._claim.acquire()
        if self._stdout >= 0:
            os.close(self._stdout)

    def _watch(self) -> None:
        self._sleep.acquire(timeout=max(self._at_s - monotonic(), 0.0))
        if not self._claim.acquire(blocking=False):
            return
        status = 1
        try:
            if self._stdout >= 0:
                os.dup2(self._stdout, 1)
            status = self._answer(self.refusal)
        finally:
            os._exit(status)
