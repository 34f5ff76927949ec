"""The special cases of one call from an agent, after its hooks were asked: context that is longer than the agent takes;
tools that no table knows."""

from __future__ import annotations

import os

from anyhook.engine.bridge_failure import doubted, sentence
from anyhook.engine.merge import posture_of
from anyhook.model.hook import ARMED, Hook
from anyhook.model.lean_json import digest
from anyhook.model.outcome import STOPPING
from anyhook.model.problem import WARNING, Problem
from anyhook.platform.places import state_dir
from anyhook.platform.store import Store
from anyhook.state.told import ToldGates
from anyhook.tables.host_rows import CHANNELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.engine.bridge import Incoming
    from anyhook.engine.context import Context
    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.firing import Settled
    from anyhook.model.json_types import Json


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
    aside = "" if set(CHANNELS).intersection(incoming.row.says) else sentence(incoming.where, why)
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
