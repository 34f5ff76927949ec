"""`anyhook bridge`: an agent calls its hook, and that is us. Its payload comes in, the project's hooks are fired, and
it gets exactly the answer that it honours. This is a path that an agent waits on. Whatever goes wrong here is answered
by the posture for broken hooks, never by a stray exit status."""

from __future__ import annotations

import os
import sys

from anyhook.cli.failure import BLOCKED, BadCall
from anyhook.cli.fire import key_of, open_engine, silence
from anyhook.cli.watchdog import Overdue, Watchdog, begun_s
from anyhook.guard.guard import NAME, guard, refusal
from anyhook.model import lean_json
from anyhook.model.event import GATES
from anyhook.state.places import believed_dir, state_dir
from anyhook.state.plans import read_plan
from anyhook.state.turns import Turn
from anyhook.tables.installed import BadTable
from anyhook.tables.registry import HOSTS, host
from anyhook.walk.express import NO_OPINION, Answer, express
from anyhook.walk.receive import project_of, receive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.cli.options import BridgeOptions
    from anyhook.model.decision import Decision
    from anyhook.model.json_types import Json
    from anyhook.tables.host_rows import Host, HostEvent
    from anyhook.walk.engine import Engine
    from anyhook.walk.receive import Received

MARGIN, MARGIN_LEAST_S = 0.1, 0.4
"""What is kept of the agent's time for ourselves: a share of it, but not less than it takes to start and to answer."""


def bridge(agent: str, native: str, options: BridgeOptions) -> int:
    """Answer one call of an agent; the exit status that it expects."""
    try:
        table, row = named(agent, native)
    except BadTable as error:  # nobody knows what this agent honours; this status is what most of them do
        sys.stderr.write(f"anyhook bridge: {error}\n")
        return BLOCKED
    begun = begun_s()
    margin_s = max(row.limit_s * MARGIN, MARGIN_LEAST_S)
    # No hook runs beyond the moment from which on the margin is ours, so this ends none before its time.
    watchdog = Watchdog(begun + row.limit_s - margin_s / 2, lambda refusal: _overdue(table, row, options, refusal))
    watchdog.start()
    try:
        answer = _answer(table, row, options, begun, watchdog)
    except Exception as error:  # noqa: BLE001 (whatever it was: the agent gets an answer that it understands)
        from anyhook.walk.bridge_failure import failed

        answer = failed(table, row, options, error)
    watchdog.stop()
    return _tell(answer)


def _overdue(table: Host, row: HostEvent, options: BridgeOptions, refusal: str) -> int:
    """In the watchdog's thread: what the agent gets where there is no decision in time."""
    from anyhook.process.run import end_all
    from anyhook.walk.bridge_failure import failed

    end_all(for_good=True)
    return _tell(failed(table, row, options, Overdue(f"there was no decision within {row.limit_s:g} s"), refusal))


def named(agent: str, native: str) -> tuple[Host, HostEvent]:
    """The tables of a call."""
    if agent not in HOSTS:
        from anyhook.tables.shapes import guess

        raise BadCall(f"there is no bridge to `{agent}`.{guess(agent, HOSTS)} Agents: {', '.join(HOSTS)}.")
    table = host(agent)
    row = table.row(native)
    if row is None:
        from anyhook.tables.shapes import guess

        known = [event.native for event in table.events]
        raise BadCall(f"{table.title} has no event `{native}`.{guess(native, known)} Events: {', '.join(known)}.")
    return table, row


def _answer(table: Host, row: HostEvent, options: BridgeOptions, begun: float, watchdog: Watchdog) -> Answer:
    raw = sys.stdin.buffer.read() if sys.stdin is not None else b""
    text, doubts = _decoded(raw)
    payload = _parsed(text, row, doubts)
    received = receive(table, row, payload, raw)
    if not received.events:
        return NO_OPINION
    project = _project(table, payload, options)
    reason = watchdog.refusal = _own_refusal(received, project, doubts)
    try:
        return _asked(table, row, options, begun, payload, received, project, reason, doubts)
    except Exception as error:
        if not reason:
            raise
        from anyhook.walk.bridge_failure import failed

        return failed(table, row, options, error, reason)  # what we refuse needs no hook


def _own_refusal(received: Received, project: str, doubts: list[str]) -> str:
    """Why self-protection refuses this call, "" where it does not. Where it cannot tell, that is a doubt."""
    try:
        found = (refusal(event, os.environ, project) for event in received.events)
        return next((why for why in found if why), "")
    except Exception as error:  # noqa: BLE001 (the hooks are asked all the same)
        from anyhook.tables.isolation import told

        doubts.append(f"self-protection could not look at this call ({told(error)})")
        return ""


def _asked(
    table: Host,
    row: HostEvent,
    options: BridgeOptions,
    begun: float,
    payload: dict[str, Json],
    received: Received,
    project: str,
    reason: str,
    doubts: list[str],
) -> Answer:
    """The answer of self-protection and of all hooks. `doubts` are why they may not have seen what will happen."""
    if received.events[0].name == "user_prompt_submit" or payload.get("stop_hook_active") is False:
        Turn(state_dir(os.environ), table.name, str(received.events[0].data.get("session"))).begin()
    plan = read_plan(believed_dir(os.environ, project), key_of(project, options))
    names = {event.name for event in received.events}
    quick = plan is not None and not reason and not doubts
    if quick and not plan["problems"] and not names & set(plan["events"]):  # type: ignore[index, arg-type]
        mode = str(options.mode or plan["mode"])  # type: ignore[index]
        for event in received.events:
            quiet = silence(event, project, None, mode, table.name, plan.get("journal") or {})  # type: ignore[union-attr, arg-type]
        return _recorded_or_said(NO_OPINION, quiet)
    from anyhook.cli.signals import OnDuty
    from anyhook.walk.bridge_once import once
    from anyhook.walk.settle import recorder

    with OnDuty():
        engine = open_engine(project, options, table.name, read_by_s=begun + row.limit_s / 2)
        engine.outlived = True
        engine.leave_to_host(table.reads, table.title)
        if reason and engine.catalog.config.protect:
            engine.on("pre_tool", lambda event: guard(event, os.environ, project), name=NAME)
        where = f"{table.name} {row.native}"
        engine.note = recorder(row.says, where)
        if doubts:
            engine.note = _doubting(engine.note, row, where, "; ".join(doubts), engine.on_failure)
        engine.answer_by_s = begun + row.limit_s - max(row.limit_s * MARGIN, MARGIN_LEAST_S)
        decision, again = once(table.name, engine, received, lambda: _fire(engine, received, where))
        if again:
            _note_twice(table, received, engine, options)
        engine.close_sync(0.0)
    answer = _recorded_or_said(_said(table, row, received, decision), decision)
    if doubts and not answer.stderr:
        from anyhook.walk.bridge_failure import sentence

        return answer.replace(stderr=sentence(where, "; ".join(doubts)))
    return answer


def _recorded_or_said(answer: Answer, decision: Decision) -> Answer:
    """A record that could not be written is told to whoever reads the agent's log; not where stderr is the answer."""
    lost = next((problem for problem in decision.problems if problem.code == "journal-failed"), None)
    if lost is None or answer.stderr:
        return answer
    return answer.replace(stderr=f"anyhook bridge: {lost.what}: {lost.where} ({lost.why}). {lost.fix}")


def _note_twice(table: Host, received: Received, engine: Engine, options: BridgeOptions) -> None:
    from anyhook.model.problem import WARNING, Problem

    problem = Problem(
        "fired-twice",
        "another anyhook entry had already run the hooks; its decision is repeated",
        table.name,
        "agents have several entries of anyhook for one event",
        f"Take one of them out: anyhook uninstall {table.name}, with --scope user or project.",
        WARNING,
    )
    settings = engine.catalog.config.journal
    silence(received.events[0], engine.setup.project, None, engine.mode, table.name, settings, (problem,))


def _doubting(
    note: Callable[[Decision], Decision], row: HostEvent, where: str, why: str, posture: str
) -> Callable[[Decision], Decision]:
    """Notes what the host cannot do, of a decision that the posture has been asked about."""
    from anyhook.walk.bridge_failure import doubted

    return lambda decision: note(doubted(decision, row.says, where, why, posture))


def _decoded(raw: bytes) -> tuple[str, list[str]]:
    """The payload as text, and what is doubtful about it: hooks see U+FFFD where bytes are not UTF-8, the tool may see
    something else."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError as error:
        return raw.decode("utf-8", "replace"), [f"the payload is not UTF-8 (byte {error.start})"]


def _parsed(text: str, row: HostEvent, doubts: list[str]) -> dict[str, Json]:
    from anyhook.walk.bridge_failure import Unusable

    if not text.strip():
        if row.canonical and row.canonical[0] in GATES:
            doubts.append("the payload is empty")  # the hooks are asked all the same: one may refuse
        return {}
    try:
        payload = lean_json.loads_any(text)
    except ValueError as error:
        raise Unusable(f"the payload is not valid JSON ({error})") from None
    if not isinstance(payload, dict):
        raise Unusable("the payload is not a JSON object")
    return payload


def _project(table: Host, payload: dict[str, Json], options: BridgeOptions) -> str:
    """The folder whose hooks are meant: named by the call, by the agent's own variable, by the payload, or the current
    one."""
    if options.project:
        from anyhook.cli.event_input import project_of as checked

        return os.path.realpath(checked(options.project))
    for folder in (*map(os.environ.get, table.project_variables), project_of(table, payload)):
        if folder and os.path.isdir(folder):
            return os.path.realpath(folder)
    return os.path.realpath(os.getcwd())


def _fire(engine: Engine, received: Received, where: str) -> Decision:
    from anyhook.walk.bridge_once import fire_in_turn

    parts = []
    for event in received.events:
        decision = fire_in_turn(engine, event)
        parts.append((event, decision))
        if decision.stops:
            break  # the call is refused as a whole
    if not received.split:
        return parts[0][1]
    from anyhook.walk.combine import unite

    rejoin = received.tool.rejoin if received.tool is not None else None
    united, lost = unite(parts, received.input or {}, rejoin)
    if lost and not united.stops:
        # Rather than letting through what a hook wanted to be otherwise.
        reason = f"A hook wants other input for a part of this call, which cannot be done here ({where})."
        united = united.replace(verdict="block", effect="deny_tool", reason=reason)
    return united


def _said(table: Host, row: HostEvent, received: Received, decision: Decision) -> Answer:
    from anyhook.walk.settle import settle

    if decision.tool_input is not None and _same(decision.tool_input, received.input):
        decision = decision.replace(tool_input=None)  # rewritten into what it was
    if decision.tool_output is not None and table.result is not None:
        decision = decision.replace(tool_output=table.result(received.response, decision.tool_output))
    effects = settle(decision, row.says, f"{table.name} {row.native}").effects
    return express(effects, row.says) if effects else NO_OPINION


def _same(one: Json, other: Json) -> bool:
    try:
        return one == other
    except RecursionError:
        return lean_json.dumps(one) == lean_json.dumps(other)


def _tell(answer: Answer) -> int:
    from anyhook.cli.view import render

    if answer.stderr:
        render.say(answer.stderr)
    if answer.stdout:
        try:
            render.exact_out(answer.stdout)
        except OSError as error:
            render.say(f"anyhook bridge: the answer could not be written ({error.strerror})")
            return answer.status or BLOCKED
    return answer.status
