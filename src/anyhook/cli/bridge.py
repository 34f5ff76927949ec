"""`anyhook bridge`: an agent calls its hook, and that is us. Its payload comes from stdin, and it gets exactly the
answer that it honours. This is a path that an agent waits on. Whatever goes wrong here is answered by the posture for
broken hooks, never by a stray exit status."""

from __future__ import annotations

import os
import sys

from anyhook.cli.failure import BLOCKED, BadCall
from anyhook.cli.fire import open_engine, quiet, setup_of
from anyhook.cli.watchdog import Overdue, Watchdog, begun_s
from anyhook.model.firing import NO_OPINION
from anyhook.state.plans import read_plan
from anyhook.tables.installed import BadTable
from anyhook.walk.bridge import looked_at, margin_s, named, read, with_lost_record
from anyhook.walk.receive import project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.cli.options import BridgeOptions
    from anyhook.model.firing import Answer
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent


def bridge(agent: str, native: str, options: BridgeOptions) -> int:
    """Answer one call of an agent; the exit status that it expects."""
    try:
        table, row = named(agent, native)
    except BadTable as error:  # nobody knows what this agent honours; this status is what most of them do
        sys.stderr.write(f"anyhook bridge: {error}\n")
        return BLOCKED
    except ValueError as error:
        raise BadCall(str(error)) from None
    begun = begun_s()

    def fail(error: Exception, refusal: str) -> Answer:
        from anyhook.walk.bridge_failure import failed

        return failed(table, row, error, os.environ, options.on_failure, options.mode, refusal)

    def overdue(refusal: str) -> int:
        """In the watchdog's thread: what the agent gets where there is no decision in time."""
        from anyhook.process.run import end_all

        end_all(for_good=True)
        return _tell(fail(Overdue(f"there was no decision within {row.limit_s:g} s"), refusal), row)

    # No hook runs beyond the time from which on the margin is ours, so this ends none before its time.
    watchdog = Watchdog(begun + row.limit_s - margin_s(row) / 2, overdue)
    watchdog.start()
    try:
        answer = _answer(table, row, options, begun, watchdog)
    except Exception as error:  # noqa: BLE001 (whatever it was: the agent gets an answer that it understands)
        answer = fail(error, watchdog.refusal)  # what we refuse needs no hook
    watchdog.stop()
    return _tell(answer, row)


def _answer(table: Host, row: HostEvent, options: BridgeOptions, begun: float, watchdog: Watchdog) -> Answer:
    incoming = read(table, row, sys.stdin.buffer.read() if sys.stdin is not None else b"", begun)
    events = incoming.received.events
    if not events:
        return NO_OPINION
    setup = setup_of(_project(table, incoming.payload, options), options, begun + row.limit_s / 2)
    incoming = looked_at(incoming, setup.env, setup.project)
    watchdog.refusal = incoming.refusal
    plan = read_plan(setup)
    asked = incoming.refusal or incoming.doubts
    if plan is not None and not asked and plan.is_quiet(*[event.name for event in events]):
        return with_lost_record(NO_OPINION, quiet(setup, plan, events, table.name, options))
    from anyhook.cli.signals import OnDuty

    with OnDuty():
        return open_engine(setup, plan, options, serves=table).bridge(table.name, row.native, incoming)


def _project(table: Host, payload: dict[str, Json], options: BridgeOptions) -> str:
    """The folder whose hooks are meant: named by the call, by the agent's own variable, by the payload, or the current
    one."""
    if options.project:
        from anyhook.cli.event_input import project_of as checked

        return checked(options.project)
    for folder in (*map(os.environ.get, table.project_variables), project_of(table, payload)):
        if folder and os.path.isdir(folder):
            return folder
    return os.getcwd()


def _tell(answer: Answer, row: HostEvent) -> int:
    from anyhook.cli.view import render

    if row.silence is not None:
        from anyhook.walk.express import completed

        answer = completed(answer, row.silence)

    if answer.stderr:
        render.say(answer.stderr)
    if answer.stdout:
        try:
            render.exact_out(answer.stdout)
        except OSError as error:
            render.say(f"anyhook bridge: the answer could not be written ({error.strerror})")
            return answer.status or BLOCKED
    return answer.status
