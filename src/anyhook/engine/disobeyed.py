"""Disobeyed: refusals are remembered for the session. A call that ran in spite of one is a problem in its record and is
told to the person."""

from __future__ import annotations

from os.path import exists

from anyhook.model import lean_json
from anyhook.model.event import ABOUT_CALLS, AFTER_CALL
from anyhook.model.lean_json import short_digest
from anyhook.model.problem import Problem
from anyhook.model.texts import text_of
from anyhook.platform.places import state_dir
from anyhook.platform.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.engine.bridge import Incoming
    from anyhook.model.decision import Decision
    from anyhook.model.json_types import Json


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


KIND = "refused"
MARK, MIN_MARK = 24, 8
"""How many characters of the reason show that an output only repeats it; shorter reasons show nothing."""
MAX_COMPARED = 10_000


class RefusedCall:
    """A call in a session of an agent that may have been refused. It is known by its id; if the agent gave it none, by
    its tool and input, until the same call is let through."""

    def __init__(self, state_dir: str, agent: str, session: str, data: Mapping[str, Json], given: Json) -> None:
        self._store, call_id = Store(state_dir, KIND), data.get("call_id")
        self._id = short_digest(str(call_id)) if call_id else ""
        try:
            text = repr((data.get("tool"), sorted(given.items()) if isinstance(given, dict) else given))
        except RecursionError:  # an input that is nested deeply
            text = repr(data.get("tool"))
        start = f"{agent} {session}"
        self._by_id, self._by_input = f"{start} id {self._id}", f"{start} input {short_digest(text)}"

    def may_be(self) -> bool:
        """Whether this call, or one that looks the same, was refused."""
        return exists(self._store.path(self._by_id)) or exists(self._store.path(self._by_input))

    def note(self, reason: str) -> None:
        """It was refused."""
        shown = reason[:MARK] if len(reason) >= MIN_MARK else ""
        made = lean_json.dumps({"id": self._id, "mark": short_digest(shown), "length": len(shown)}).encode()
        for key in (self._by_id, self._by_input) if self._id else (self._by_input,):
            if len(self._store.read(key) or b"") != len(made):
                self._store.write(key, made)
                continue
            try:
                self._store.overwrite(key, made)  # models repeat what was refused
            except OSError:
                continue

    def forget(self) -> None:
        """A call that looks the same was let through."""
        self._store.delete(self._by_input)

    def ran(self, output: str) -> bool:
        """Whether it was refused, now that it ran. An output that holds the reason is the refusal, and not a result."""
        found = self._store.read_object(self._by_id) if self._id else {}
        if not found:
            found = self._store.read_object(self._by_input)
            if self._id and found.get("id"):
                return False  # another call with the same input, which was known by its id
        length = found.get("length")
        if not isinstance(length, int):
            return False
        starts = range(min(len(output), MAX_COMPARED)) if length else ()
        return not any(short_digest(output[at : at + length]) == found["mark"] for at in starts)
