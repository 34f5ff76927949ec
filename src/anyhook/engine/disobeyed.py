"""Disobeyed: refusals are remembered for the session. A call that ran in spite of one is a problem in its record and is
told to the person."""

from __future__ import annotations

from anyhook.model.event import ABOUT_CALLS, AFTER_CALL
from anyhook.model.problem import Problem
from anyhook.model.texts import text_of
from anyhook.platform.places import state_dir
from anyhook.state.refused import RefusedCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.engine.bridge import Incoming
    from anyhook.model.decision import Decision


def refused_call(env: Mapping[str, str], incoming: Incoming) -> RefusedCall | None:
    """The call that an event is about; None if it is about none, or its session is not known."""
    event, given = incoming.received.events[0], incoming.received.input
    session = event.data.get("session")
    if event.name not in ABOUT_CALLS or not session:
        return None
    return RefusedCall(state_dir(env), incoming.table.name, str(session), event.data, given)


def remember(env: Mapping[str, str], incoming: Incoming, reason: str | None) -> None:
    """Note what the agent was told about a call; `reason` is None unless it was refused."""
    call = refused_call(env, incoming)
    if call is None or incoming.received.events[0].name in AFTER_CALL:
        return
    if reason is not None:
        call.note(reason)
    else:
        call.forget()


def with_breach(env: Mapping[str, str], incoming: Incoming, decision: Decision) -> tuple[Decision, str]:
    """The decision with a problem if this call ran although it was refused, and what goes to stderr if the agent has no
    better channel."""
    event, table, says = incoming.received.events[0], incoming.table, incoming.row.says
    call = refused_call(env, incoming)
    said = "\n".join(text_of(event.data.get(name) or "") for name in ("tool_error", "output"))
    if call is None or event.name not in AFTER_CALL or not call.ran(said):
        return decision, ""
    what = f"{table.title} ran a call of `{event.data.get('tool')}` that was refused"
    fix = f"Do not rely on guards in {table.title}; find out why: anyhook doctor --live {table.name}"
    problem = Problem("disobeyed", what, incoming.where, "the answer to this call was a refusal", fix)
    decision = decision.replace(problems=(*decision.problems, problem))
    line = f"anyhook: {what}. {fix}"
    if not decision.enforced:
        return decision, line
    if "message" in says:
        return decision.replace(messages=(*decision.messages, line)), ""
    if "context" in says:
        return decision.replace(context=(*decision.context, f"Tell the user: {line}")), ""
    return decision, line
