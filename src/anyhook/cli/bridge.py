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
from anyhook.engine.bridge import (
    Incoming,
    concerns_refused,
    lost_record,
    margin_s,
    named,
    read,
    refusal_of,
    with_self_protection,
)  # fmt: skip
from anyhook.engine.receive import project_of
from anyhook.journal.journal import quiet
from anyhook.model.firing import NO_OPINION, Answer
from anyhook.model.words import RUN_VARIABLE, Trust
from anyhook.platform.kept_code import ENGINE, JUDGE, load
from anyhook.platform.launched import Started, begun_s, ready
from anyhook.platform.places import state_dir
from anyhook.state.entry_places import Caller, notice
from anyhook.state.plans import CatalogPlan, Setup, read_plan
from anyhook.state.start_variables import swaying
from anyhook.tables.host_rows import OPENINGS, Host, HostEvent, opening
from anyhook.tables.registry import BadTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anyhook.cli.options import BridgeOptions
    from anyhook.model.decision import Report

OWN_SCRIPTS = (b"anyhook", b"anyhook-python", b"zygote.py")
"""The programs that start hooks."""

LOOKS_AFTER = 0.6
"""The part of an agent's limit after which the watchdog asks self-protection, if the call has not: a catalog is read in
half of it."""


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
        from anyhook.engine.bridge_failure import failed

        return failed(table, row, error, os.environ, options.on_failure, options.mode, refusal)

    def overdue(refusal: str) -> int:
        """In the watchdog's thread: the answer if there is no decision in time."""
        from anyhook.platform.run import end_all

        end_all(for_good=True)
        return _tell(fail(Overdue(f"there was no decision within {row.limit_s:g} s"), refusal), table, row)

    # Hooks stop before our margin starts, so this kills none before its limit.
    watchdog = Watchdog(begun + row.limit_s * LOOKS_AFTER, begun + row.limit_s - margin_s(row) / 2, overdue)
    try:
        raw = sys.stdin.buffer.read() if sys.stdin is not None else b""
        incoming = read(table, row, raw, begun, os.environ)
        table, row = incoming.table, incoming.row
        answer = _answer(incoming, options, watchdog)
    except Exception as error:  # noqa: BLE001 (whatever it was: the agent gets an answer that it understands)
        watchdog.look()  # what we refuse needs no hook
        answer = fail(error, watchdog.refusal)
    watchdog.stop()
    return _tell(answer, table, row)


def _answer(incoming: Incoming, options: BridgeOptions, watchdog: Watchdog) -> Answer:
    table, row, events = incoming.table, incoming.row, incoming.received.events
    if not events:
        return NO_OPINION
    if options.project:
        from anyhook.cli.fire import project_of as checked

        project = checked(options.project)
    else:
        project = project_of(table, incoming.payload, os.environ)
    setup = setup_of(
        project,
        options.dialect,
        options.trust or "ask",
        options.plugin_dir,
        options.state_dir,
        incoming.begun_s + row.limit_s / 2,
    )
    watchdog.call = incoming, setup
    plan = read_plan(setup)
    if plan is not None:
        incoming = with_self_protection(incoming, setup, plan.stamps)
        watchdog.call = incoming, setup
    incoming = incoming.replace(notice=notice(table.name)) if Caller.is_gone or setup.given is not None else incoming
    sways = swaying(Caller.given or setup.env, setup.project, state_dir(setup.env))
    incoming = incoming.replace(sways=sways) if sways else incoming
    idle = _idle(plan, incoming, setup) if plan is not None else None
    if plan is not None and idle is not None:
        lost = lost_record(quiet(setup, plan, events, table.name, options.mode, hooks=idle))
        return NO_OPINION.replace(stderr=lost) if lost else NO_OPINION
    load(ENGINE)
    from anyhook.engine.engine import EngineOptions, open_engine
    from anyhook.engine.routes import catalog_of
    from anyhook.platform.run import EndsHooksWithUs, expect_hooks

    expect_hooks()
    with EndsHooksWithUs():
        own = EngineOptions(
            setup, options.on_failure, options.mode, model=options.model or None, one_shot=True, serves=table
        )
        return open_engine(own, catalog_of(plan, setup)).bridge(table.name, row.native, incoming)


def _idle(plan: CatalogPlan, incoming: Incoming, setup: Setup) -> tuple[Report, ...] | None:
    """The reports of the hooks, if none of them wants this call, and there is nothing else to say about it; else
    None."""
    events, sways = incoming.received.events, bool(incoming.sways)
    names = [event.name for event in events]
    opens = names[0] in OPENINGS and names[0] == opening(incoming.table)
    if incoming.refusal or incoming.doubts or incoming.notice or (sways and opens):
        return None
    if concerns_refused(setup.env, incoming):
        return None
    if plan.is_quiet(*names, opens=opens):
        return ()
    if sways or opens or not _may_be_idle(plan, incoming) or RUN_VARIABLE in setup.env:
        return None
    load(JUDGE)
    from anyhook.engine.rule_calls import idle_rules

    return idle_rules(plan, setup, incoming.table.name, events[0]) or None


def _may_be_idle(plan: CatalogPlan, incoming: Incoming) -> bool:
    """Whether a call is one event with a tool that its agent's table knows, and reaches nothing but rules."""
    events = incoming.received.events
    return len(events) == 1 and incoming.received.tool is not None and plan.wants_only_rules(events[0].name)


def setup_of(
    project: str,
    dialects: Sequence[str] = (),
    trust: Trust = "ask",
    plugin_dirs: Sequence[str] = (),
    state_dir: str | None = None,
    read_by_s: float | None = None,
) -> Setup:
    """The setup of an agent's call: our own places as the entry fixes them, and the environment as hooks get it."""
    env, given = dict(os.environ), Caller.given
    if RUN_VARIABLE in env and not _is_inside_hook(os.fsencode(f"{RUN_VARIABLE}={env[RUN_VARIABLE]}")):
        del env[RUN_VARIABLE]
    moved = given is not None and given != env
    setup = Setup.of(project, env, dialects, trust, plugin_dirs, state_dir, read_by_s)
    return setup.replace(given=given) if moved else setup


def _is_inside_hook(mark: bytes) -> bool:
    """Whether a hook has caused this call: then we have started the first process above that has the mark. A project's
    environment may have it too, and must not turn every hook off."""
    from anyhook.platform.above import starter

    try:
        words = starter(mark, Started.process)
    except OSError:
        return True  # it cannot be known
    return words is None or any(word.rpartition(b"/")[2] in OWN_SCRIPTS for word in words[:4])


def _tell(answer: Answer, table: Host, row: HostEvent) -> int:
    if row.silence is not None:
        from anyhook.engine.express import completed

        answer = completed(answer, row.silence)
    if not answer.stderr and not answer.stdout:
        ready()
        return answer.status
    from anyhook.cli import render

    ready()  # last: from here on nobody else answers
    if answer.stderr:
        render.say(answer.stderr)
        if not table.shows_stderr and not answer.status:
            render.say_on_terminal(answer.stderr)
    if answer.stdout:
        try:
            lost = "" if sys.stdout is not None else "there is no stdout"
            render.exact_out(answer.stdout)
        except OSError as error:
            lost = error.strerror or str(error)
        if lost:
            render.say(f"anyhook bridge: the answer could not be written ({lost})")
            return answer.status or BLOCKED
    return answer.status


# -- the watchdog: if an agent has no answer within its time limit, it kills us and goes on as if there were no hooks.
# We may hang for many reasons (a network drive that does not answer, a stdin that stays open, a slow pattern). So when
# the time is nearly up, the agent gets the answer that `on_failure` gives for our own failures. It is a thread, because
# a Python signal handler would wait until the call that hangs returns.


class Overdue(Exception):  # noqa: N818 (it says what is wrong)
    """The agent's time was nearly up and there was no decision."""


class Watchdog:
    """When the time is up, calls `answer` instead of the main thread and exits with the result. Only the first of the
    two answers."""

    last: Watchdog | None = None
    """The one of the last call."""

    def __init__(self, look_at_s: float, at_s: float, answer: Callable[[str], int]) -> None:
        self._look_at_s, self._at_s, self._answer = look_at_s, at_s, answer
        self._claim, self._sleep = allocate_lock(), allocate_lock()
        self._stdout = -1
        self.call: tuple[Incoming, Setup] | None = None
        """The call, if it is known yet."""
        self.refusal = ""
        """Why it is refused regardless of the hooks."""
        try:
            self._stdout = os.dup(1)  # while hooks run, stdout is redirected
        except OSError:
            pass  # it was closed when we started
        self._sleep.acquire()
        Watchdog.last = self
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

    @classmethod
    def end_thread(cls) -> None:
        """After the answer, in a process that goes on."""
        if cls.last is not None:
            cls.last._sleep.release()
            cls.last = None

    def look(self) -> None:
        """Learn whether self-protection refuses the call. If nobody has asked it yet, it is asked."""
        if self.call is not None:
            self.refusal = refusal_of(*self.call)

    def _watch(self) -> None:
        if self._sleep.acquire(timeout=max(self._look_at_s - monotonic(), 0.0)):
            return
        try:
            start_new_thread(self.look, ())  # it may hang for the same reason as the call
        except RuntimeError:
            pass
        self._sleep.acquire(timeout=max(self._at_s - monotonic(), 0.0))
        if not self._claim.acquire(blocking=False):
            return
        status = 1
        try:
            if self._stdout >= 0:
                os.dup2(self._stdout, 1)
            status = self._answer(self.refusal or (self.call[0].refusal if self.call is not None else ""))
        finally:
            os._exit(status)
