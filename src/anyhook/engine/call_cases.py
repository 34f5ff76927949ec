"""The special cases of one call from an agent, after its hooks were asked. In this order: calls that ran although they
were refused; context that is longer than the agent takes; tools that no table knows."""

from __future__ import annotations

import os
from os.path import exists

from anyhook.engine.bridge_failure import doubted, sentence
from anyhook.engine.merge import posture_of
from anyhook.model import lean_json
from anyhook.model.event import ABOUT_CALLS, AFTER_CALL
from anyhook.model.hook import ARMED
from anyhook.model.lean_json import digest, short_digest
from anyhook.model.outcome import STOPPING
from anyhook.model.problem import WARNING, Problem
from anyhook.model.texts import text_of
from anyhook.platform.places import state_dir
from anyhook.platform.store import Store
from anyhook.state.told import ToldGates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.engine.bridge import Incoming
    from anyhook.engine.context import Context
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.firing import Settled
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json


# Disobeyed: refusals are remembered for the session. A call that ran in spite of one is a problem in its record and is
# told to the person.


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
            self._store.write(key, made)

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


# Long context: text that is longer than a host accepts is cut, the text says so, and all of it is stored in a file. The
# host itself would cut it silently.


def cut(settled: Settled, limit: int, env: Mapping[str, str], where: str) -> Settled:
    """The same with a context of at most `limit` bytes, and a problem if it was longer."""
    data = str(settled.effects["context"]).encode("utf-8", "replace")
    if len(data) <= limit:
        return settled
    path = _kept(Store(state_dir(env), "context"), data)
    place = f"all of it is in {path}" if path else "the rest could not be kept"
    mark = f"\n\n[anyhook cut this context: it had {len(data):,} bytes, and this agent takes {limit:,}; {place}]"
    head = data[: max(limit - len(mark.encode()), 0)].decode("utf-8", "ignore")
    what = f"the context of {len(data):,} bytes was cut to {limit:,}"
    fix = f"Let the hooks say less. {f'All of it is in {path}.' if path else ''}".strip()
    problem = Problem("context-cut", what, where, "this agent takes no more at once", fix, WARNING)
    return settled.replace(effects={**settled.effects, "context": head + mark}, problems=(*settled.problems, problem))


def _kept(store: Store, data: bytes) -> str:
    """Where it was written; "" if that failed."""
    key = digest(data)[:16]
    return store.path(key) if store.write(key, data) or os.path.isfile(store.path(key)) else ""


# Unknown tool: a call of a tool that the host's table does not know, and that runs a command or changes files. It may
# be another agent's name for a tool that a gate's matcher names, so such a gate could not tell whether it is meant.
# That is reported once a session, and under `deny` it closes. Rules that look at facts see the input of any tool.


MCP = "mcp__"
CHANNELS = frozenset({"message", "context"})
NAMES_SHOWN = 3


def with_doubt(context: Context, incoming: Incoming, event: Event, decision: Decision) -> tuple[Decision, str]:
    """The decision, with what gates could not tell about this call, and what goes to stderr if there is no better
    channel."""
    tool, given = str(event.data.get("tool") or ""), event.data.get("input")
    if decision.stops or not tool or tool.startswith(MCP) or not isinstance(given, dict):
        return decision, ""
    passed = _passed(context, event)
    if not passed or not _acts(context, tool, given):
        return decision, ""
    table, session = incoming.table, event.data.get("session")
    why = f"the tool `{tool}` is not known in {table.title}, so"
    why = f"{why} {_listed(passed)} could not tell whether this call is meant"
    posture = "deny" if "deny" in [posture_of(context, hook) for hook in passed] else context.on_failure
    made = doubted(decision, incoming.row.says, incoming.where, why, posture)
    aside = "" if CHANNELS.intersection(incoming.row.says) else sentence(incoming.where, why)
    if made.stops or not session:
        return made, "" if made.stops else aside
    kept, key = ToldGates(state_dir(context.setup.env), table.name, str(session)), f"tool {tool}"
    if key in kept.known():
        return decision.replace(problems=made.problems), ""
    kept.keep({key: why})
    return made, aside


def _passed(context: Context, event: Event) -> list[Hook]:
    """The gates that this call does not reach because of its tool's name."""
    return [
        step.hook
        for step in context.routes.find(event).steps
        if step.why and step.hook.status == ARMED and step.row.block in STOPPING and _names_tools(step.hook.matcher)
    ]


def _listed(hooks: list[Hook]) -> str:
    names = ", ".join(f"`{hook.name}`" for hook in hooks[:NAMES_SHOWN])
    return f"{names} …" if len(hooks) > NAMES_SHOWN else names


def _names_tools(matcher: Json) -> bool:
    named = matcher.get("tool") if isinstance(matcher, dict) else matcher
    return bool(named) and named not in ("*", ".*")


def _acts(context: Context, tool: str, given: dict[str, Json]) -> bool:
    """Whether the call runs a command, or changes files."""
    from anyhook.rules.calls import facts_of

    project = context.setup.project
    facts = facts_of(tool, given, cwd=project, home=context.setup.env.get("HOME", ""), project=project)
    return bool(facts.runs or facts.writes or facts.deletes)
