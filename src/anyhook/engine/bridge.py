"""Bridge: one call from an agent, from its payload to its answer: receive, walk every part, combine, settle, express,
record. The command connects it to stdin and stdout."""

from __future__ import annotations

from os.path import exists
from time import monotonic

from anyhook.engine.express import completed, express
from anyhook.engine.receive import Received, Unusable, receive, recognised
from anyhook.guard.guard import refusal
from anyhook.model import lean_json
from anyhook.model.event import ABOUT_CALLS, AFTER_CALL, GATES, Event
from anyhook.model.firing import NO_OPINION, Answer, Firing, Part, Settled
from anyhook.model.hook import BROKEN, CHANGED, UNTRUSTED
from anyhook.model.record import Record
from anyhook.platform.places import state_dir
from anyhook.state.entry_places import elsewhere
from anyhook.state.turns import Turn, exhausted, keeper
from anyhook.tables.host_rows import OPENINGS, Host, HostEvent, opening
from anyhook.tables.registry import HOSTS, dialect, host, special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from anyhook.engine.context import Context
    from anyhook.model.decision import Decision, Report
    from anyhook.model.json_types import Json
    from anyhook.state.plans import Setup

LOST = "the tool's name or input is cut, missing, or of another kind, so it is unknown what the call would do"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The byte order mark, which some agents on Windows send once or twice."""
MARGIN, MIN_MARGIN_S = 0.1, 0.4
"""How much of the agent's time limit we reserve for ourselves: a fraction, but at least the time to start and to
answer."""
GUARD_OFF = (UNTRUSTED, CHANGED, BROKEN)
"""Statuses of a hook in which a guard is off."""
MAX_HURRIED_S = 3.0
"""Hooks for the end of a session cannot stop it. If the agent waits no longer than this, they run in the background."""
CANNOT_START = (126, 127)
"""A shell's exit statuses for a program that it cannot start."""
KEEPING = ("stop", "subagent_stop")
"""Events on which a block keeps the agent working."""


class Incoming(Record):
    """One call from an agent, parsed."""

    where: str
    """Agent and event, for messages."""
    table: Host
    row: HostEvent
    payload: dict[str, Json]
    received: Received
    doubts: tuple[str, ...] = ()
    """Why hooks may not see what really happens."""
    begun_s: float = 0.0
    """When the agent began to wait, on the monotonic clock."""
    notice: str = ""
    """What the person is told about the entry's places."""
    sways: tuple[str, ...] = ()
    """Variables of the agent's environment that change what hooks run."""
    asked: bool = False
    """Whether self-protection has looked at this call. It does so once, when the files that declare hooks are known."""

    @property
    def refusal(self) -> str:
        """Why self-protection refuses this call; "" if it does not, or has not looked."""
        return next((event.refused for event in self.received.events if event.refused), "")


def named(agent: str, native: str) -> tuple[Host, HostEvent]:
    """The tables of a call; ValueError for unknown names."""
    if agent not in HOSTS:
        from anyhook.tables.shapes import guess

        raise ValueError(f"there is no bridge to `{agent}`.{guess(agent, HOSTS)} Agents: {', '.join(HOSTS)}.")
    table = host(agent)
    rows = {row.native: row for row in table.events}
    if native not in rows:
        from anyhook.tables.shapes import guess

        raise ValueError(f"{table.title} has no event `{native}`.{guess(native, rows)} Events: {', '.join(rows)}.")
    return table, rows[native]


def margin_s(row: HostEvent) -> float:
    """How much of the agent's time limit we reserve for ourselves, in seconds."""
    return max(row.limit_s * MARGIN, MIN_MARGIN_S)


# -- receive


def read(
    table: Host, row: HostEvent, payload: bytes | dict[str, Json], begun_s: float, env: Mapping[str, str]
) -> Incoming:
    """Parse the payload, and find out which agent made the call. Raises Unusable if the payload cannot be read."""
    if isinstance(payload, dict):
        payload = lean_json.dumps(payload).encode()
    raw, doubts = payload.removeprefix(BYTE_ORDER_MARK).removeprefix(BYTE_ORDER_MARK), ()  # type: bytes, tuple[str, ...]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:  # hooks see U+FFFD, the tool may see something else
        text, doubts = raw.decode("utf-8", "replace"), (f"the payload is not UTF-8 (byte {error.start})",)
    parsed: Json = {}
    if text.strip():
        try:
            parsed = lean_json.loads_any(text)
        except ValueError as error:
            raise Unusable(f"the payload is not valid JSON ({error})") from None
    elif row.canonical and row.canonical[0] in GATES:
        doubts = (*doubts, "the payload is empty")  # the hooks are still asked, because one may refuse
    if not isinstance(parsed, dict):
        raise Unusable("the payload is not a JSON object")
    received = receive(table, row, parsed, payload)
    if received.lost and text.strip():
        doubts = (*doubts, LOST)
    if row.after_failure is not None and received.events:
        row = row.at(received.events[0].name)
    incoming = Incoming(f"{table.name} {row.native}", table, row, parsed, received, doubts, begun_s)
    if any(key in parsed and own not in parsed for key, own in table.lent):
        return recognised(incoming, payload, env)
    return incoming


def with_self_protection(incoming: Incoming, setup: Setup, places: Iterable[str]) -> Incoming:
    """The call with self-protection's answer in its events, where the walk finds it as the first hook's. `places` are
    the files that the catalog depends on. If self-protection fails, that is a doubt, and the hooks are still asked. If
    the call starts a turn, the turn is noted."""
    incoming, event = incoming.replace(asked=True), incoming.received.events[0]
    try:
        incoming = _looked_at(incoming, setup, places)
    except Exception as error:  # noqa: BLE001
        from anyhook.tables.isolation import error_line

        doubt = f"self-protection could not look at this call ({error_line(error)})"
        incoming = incoming.replace(doubts=(*incoming.doubts, doubt))
    if event.name == "user_prompt_submit" or incoming.payload.get("stop_hook_active") is False:
        Turn(state_dir(setup.env), incoming.table.name, str(event.data.get("session"))).begin()
    return incoming


def _looked_at(incoming: Incoming, setup: Setup, places: Iterable[str]) -> Incoming:
    received, table, project = incoming.received, incoming.table, setup.project
    given = elsewhere(setup.env, setup.given)  # the agent's environment, if its `~` is another
    envs = [setup.env] if given is None else [setup.env, given]
    asked = [[refusal(each, env, project, places, table) for env in envs] for each in received.events]
    found = [next(filter(None, answers), "") for answers in asked]
    if not any(found):
        return incoming
    events = tuple(each.replace(refused=why) for each, why in zip(received.events, found, strict=True))
    return incoming.replace(received=received.replace(events=events))


def refusal_of(incoming: Incoming, setup: Setup) -> str:
    """Why self-protection refuses a call that cannot be answered as usual; "" if it does not. If it has not looked,
    because the hooks' files could not be read, it looks now, without them."""
    try:
        return (incoming if incoming.asked else _looked_at(incoming, setup, ())).refusal
    except Exception:  # noqa: BLE001 (the call has failed already, and its posture decides)
        return ""


def concerns_refused(env: Mapping[str, str], incoming: Incoming) -> bool:
    """Whether this event is about a call that was refused, or that looks the same as one."""
    event = incoming.received.events[0]
    if event.name not in ABOUT_CALLS or not exists(f"{state_dir(env)}/refused"):
        return False
    from anyhook.engine.disobeyed import refused_call

    call = refused_call(env, incoming)
    return call is not None and call.may_be()


# -- the rest of the walk


def answer_call(
    context: Context,
    serving: Callable[[Host], Context],
    table: Host,
    row: HostEvent,
    payload: bytes | dict[str, Json] | Incoming,
) -> Answer:
    """Answer one call, in the context that serves its agent. If anything goes wrong, the answer follows `on_failure`,
    as for a broken hook."""
    setup, incoming = context.setup, None
    decided: list[tuple[Event, Decision]] = []
    try:
        incoming = payload if isinstance(payload, Incoming) else read(table, row, payload, monotonic(), setup.env)
        table, row = incoming.table, incoming.row
        if incoming.received.events:
            context = serving(table)
            if not incoming.asked:
                incoming = with_self_protection(incoming, setup, context.routes.catalog.stamps)
            answer = bridge(_for_call(context, incoming), _unless_off(context, incoming), decided)
        else:
            answer = NO_OPINION
    except Exception as error:  # noqa: BLE001 (whatever it was: the agent gets an answer that it understands)
        from anyhook.engine.bridge_failure import failed

        # What a hook refused stays refused, whatever went wrong with the answer.
        posture = "deny" if any(decision.stops for _, decision in decided) else context.on_failure
        refused = refusal_of(incoming, setup) if incoming is not None else ""
        answer = failed(table, row, error, setup.env, posture, context.mode, refused)
    return answer if row.silence is None else completed(answer, row.silence)


def _for_call(context: Context, incoming: Incoming) -> Context:
    """The context of one call, with the time until which the agent waits."""
    row = _as_entered(context, incoming.table, incoming.row)
    hurried = row.limit_s <= MAX_HURRIED_S and row.canonical == ("session_end",)
    deadline_s = incoming.begun_s + row.limit_s - margin_s(row)
    own = context.replace(deadline_s=deadline_s, hurried=hurried, can_ask="ask" in row.says)
    return own.for_call(incoming.received.events)


def _unless_off(context: Context, incoming: Incoming) -> Incoming:
    """The call, without self-protection's refusal if the user has turned self-protection off."""
    if context.config.protect or not incoming.refusal:
        return incoming
    allowed = tuple(event.replace(refused="") for event in incoming.received.events)
    return incoming.replace(received=incoming.received.replace(events=allowed))


def _as_entered(context: Context, table: Host, row: HostEvent) -> HostEvent:
    """The row, with the time limit of our entry if that is shorter."""
    waits = [fault.limit_s for fault in context.routes.catalog.entries if fault.agent == table.name]
    return row.replace(limit_s=min([row.limit_s, *filter(None, waits)])) if any(waits) else row


def bridge(context: Context, incoming: Incoming, decided: list[tuple[Event, Decision]]) -> Answer:
    """Ask the hooks about every part of a call, answer in the agent's format, and record what happened. `decided`
    collects the decisions so far, for a caller that has to answer if this fails."""
    received = incoming.received
    first, recent, aside, off = received.events[0], None, "", None
    if first.data.get("session") and first.data.get("call_id"):  # without them, two calls cannot be told apart
        from anyhook.engine.dedupe import Recent

        recent = Recent(context, incoming)
        if (known := recent.decision()) is not None:
            return _settle_and_record(context, incoming, (Part(first, known),), known, 0)
    parts: list[Part] = []
    for event in received.events:
        part = _walked(context, event)
        decision, aside = _with_doubts(context, incoming, event, part.decision)
        parts.append(part)
        decided.append((event, decision))
        if decision.stops:
            break  # the call is refused as a whole
    decision, index = _combined(incoming, decided) if received.split else (decision, 0)
    if recent is not None:
        recent.keep(decision)
    if first.name in AFTER_CALL and concerns_refused(context.setup.env, incoming):
        from anyhook.engine.disobeyed import with_breach

        decision, told = with_breach(context.setup.env, incoming, decision)
        aside = "\n".join(filter(None, (aside, told)))
    if incoming.notice or incoming.sways or _may_be_off(context, incoming, decision):
        from anyhook.gates.tell import with_warning

        decision, off = with_warning(context, incoming, decision)
    if off is None:
        return _settle_and_record(context, incoming, tuple(parts), decision, index, aside)
    line = "\n".join(filter(None, (off.line, aside)))
    answer = _settle_and_record(context, incoming, tuple(parts), decision, index, line)
    if off.line in answer.stderr:
        off.was_shown()
    return answer


def _walked(context: Context, event: Event) -> Part:
    """One event of the call, past its hooks. A block that keeps the agent working is counted."""
    from anyhook.engine.walk import Walk, begin

    own, turn = _with_bounds(context, event) if event.name in KEEPING else (context, None)
    begun = begin(own, event)
    part = begun.run_to_end() if isinstance(begun, Walk) else Part(event, begun)
    if turn is not None and part.decision.effect == "keep_working" and part.decision.stops:
        turn.count(keeper(part.decision))
    return part


def _with_doubts(context: Context, incoming: Incoming, event: Event, decision: Decision) -> tuple[Decision, str]:
    """The decision, with why hooks may not have seen what really happens; and what goes to stderr."""
    if incoming.doubts:
        from anyhook.engine.bridge_failure import doubted

        why = "; ".join(incoming.doubts)
        decision = doubted(decision, incoming.row.says, incoming.where, why, context.on_failure)
    is_call = event.name in ("pre_tool", "permission_request")
    if incoming.received.tool is not None or not is_call or not context.routes.catalog.hooks:
        return decision, ""
    from anyhook.engine.call_cases import with_doubt

    return with_doubt(context, incoming, event, decision)


def _may_be_off(context: Context, incoming: Incoming, decision: Decision) -> bool:
    """Whether a guard may be off, and its user wants to be told."""
    config, catalog, first = context.config, context.routes.catalog, incoming.received.events[0]
    if config.off != "tell" and "tell" not in config.hook_off.values():
        return False
    if catalog.gone or catalog.problems or catalog.entries:
        return True
    if any(hook.status in GUARD_OFF for hook in catalog.hooks) or any(map(_has_not_judged, decision.hooks)):
        return True
    # A guard whose program is gone is found only by looking for it.
    return bool(catalog.hooks) and first.name in OPENINGS and first.name == opening(incoming.table)


def _has_not_judged(report: Report) -> bool:
    return report.status == "broken" or report.exit_code in CANNOT_START or report.ending == "timed_out"


def _with_bounds(context: Context, event: Event) -> tuple[Context, Turn | None]:
    """The context, with the dialects whose blocks no longer count. Blocks that keep the agent working are counted per
    turn, and ignored once their dialect's bound is reached. Not every agent has its own bound."""
    rows = [dialect(name).row_for(event.name) for name in {hook.dialect for hook in context.routes.catalog.hooks}]
    if not any(row is not None and row.bound for row in rows):
        return context, None
    turn = Turn(state_dir(context.setup.env), context.host, str(event.data.get("session")))
    return context.replace(exhausted=exhausted(turn.counts(), event.name)), turn


def _combined(incoming: Incoming, parts: list[tuple[Event, Decision]]) -> tuple[Decision, int]:
    """The decision about the call, and the part that decided it."""
    from anyhook.engine.merge import combine, deciding

    received = incoming.received
    rejoin = received.tool.rejoin if received.tool is not None else None
    decision, lost = combine(parts, received.input or {}, rejoin)
    if lost and not decision.stops:
        # Do not let through what a hook wanted to change.
        reason = f"A hook wants other input for a part of this call, which cannot be done here ({incoming.where})."
        decision = decision.replace(verdict="block", effect="deny_tool", reason=reason)
    return decision, deciding(parts)


def _settle_and_record(
    context: Context, incoming: Incoming, parts: tuple[Part, ...], decision: Decision, index: int, aside: str = ""
) -> Answer:
    """Settle and express the decision, and record all of it last. `aside` goes to stderr, unless that is the answer."""
    from anyhook.engine.settle import as_carried_out, settle

    table, row, received = incoming.table, incoming.row, incoming.received
    if decision.tool_input is not None:
        decision = decision.replace(tool_input=_rewrite(table, received, decision.tool_input))
    shaped = decision
    if decision.tool_output is not None and table.result is not None:
        shaped = decision.replace(tool_output=table.result(received.response, decision.tool_output))
    settled = settle(shaped, row.says, incoming.where)
    if table.max_context and len(str(settled.effects.get("context", ""))) * 4 > table.max_context:
        from anyhook.engine.call_cases import cut

        settled = cut(settled, table.max_context, context.setup.env, incoming.where)
    answer = express(settled.effects, row.says) if settled.effects else NO_OPINION
    taken = bool(answer.stderr)
    if incoming.doubts and not taken:
        from anyhook.engine.bridge_failure import sentence

        answer = answer.replace(stderr=sentence(incoming.where, "; ".join(incoming.doubts)))
    if received.events[0].name not in AFTER_CALL:
        _remember_refusal(context, incoming, settled)
    if settled.problems:
        decision = as_carried_out(decision, settled)
        decision = decision.replace(problems=(*decision.problems, *settled.problems))
    recorded = context.recorder.write(Firing(parts, decision, context.mode, index))
    lost = "" if recorded is decision else lost_record(recorded)
    if taken or not (aside or lost):
        return answer
    return answer.replace(stderr="\n".join(filter(None, (aside, answer.stderr, lost))))


def _remember_refusal(context: Context, incoming: Incoming, settled: Settled) -> None:
    """So that a call that runs although it was refused is noticed."""
    refused = str(settled.effects["block"]) if "block" in settled.effects else None
    if refused is not None or concerns_refused(context.setup.env, incoming):
        from anyhook.engine.disobeyed import remember

        remember(context.setup.env, incoming, refused)


def _rewrite(table: Host, received: Received, wanted: dict[str, Json]) -> dict[str, Json] | None:
    """The input that a hook wants, with what labels the call; None if that changes nothing."""
    given, labels = received.input or {}, special(table.name, "LABELS") or {}
    kept = [key for name, keys in labels.items() if table.tools.get(name) is received.tool for key in keys]
    made = {**{key: given[key] for key in kept if key in given}, **wanted}
    return None if lean_json.same(made, received.input) else made


def lost_record(decision: Decision) -> str:
    """A line about a record that could not be written, or ""."""
    lost = next((problem for problem in decision.problems if problem.code == "journal-failed"), None)
    return f"anyhook bridge: {lost.what}: {lost.where} ({lost.why}). {lost.fix}" if lost is not None else ""
