"""Settle: a decision and a host's abilities → what will really happen. What the host cannot do becomes the nearest
thing it can, by the rules below, or is lost; either way a problem names it."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.event import AFTER_CALL
from anyhook.model.firing import Settled
from anyhook.model.outcome import BLOCK, STOPPING
from anyhook.model.problem import WARNING, Problem
from anyhook.model.texts import text_of
from anyhook.tables.registry import dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.decision import Decision
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.words import HostEffect
    from anyhook.tables.host_rows import Host, Say

READ = "a hook replaces this tool's output, and the model has read the original"

ENDINGS = ("stop", "subagent_stop", "session_end")

# Effect → what it becomes if the host lacks it: the first of these that the host has. Nothing becomes weaker without
# need: what a hook wanted to prevent is blocked rather than let through.
INSTEAD_OF: dict[HostEffect, tuple[HostEffect, ...]] = {
    "block": ("context", "message"),
    "end_turn": ("block", "context", "message"),
    "ask": ("block",),
    "allow": (),
    "input": ("block",),
    "output": ("block", "context"),
    "prompt": ("context",),
    "context": (),
    "message": (),
    "follow_up": ("block",),
}

# The text of one effect's value as another effect; the first argument is the value, the second the event.
WORDS: dict[tuple[HostEffect, HostEffect], str] = {
    ("block", "context"): "A hook refused this: {}",
    ("block", "message"): "A hook refused this: {}",
    ("end_turn", "context"): "A hook wants the turn to end here: {}",
    ("end_turn", "message"): "A hook wants the turn to end here: {}",
    ("ask", "block"): "A person has to confirm this first, and cannot be asked here: {}",
    ("input", "block"): "A hook lets this call through only with other input. Call it again with exactly: {}",
    ("output", "context"): (
        "A hook replaces this output, which this agent cannot do: you have read the original. Do not repeat or use it."
        " Read it as: {}"
    ),
    ("prompt", "context"): "A hook rewrote the prompt. Read it as: {}",
}


def settle(decision: Decision, says: Mapping[HostEffect, Say], where: str) -> Settled:
    """What the host can be told about a decision. `where` names host and event."""
    effects: dict[HostEffect, Json] = {}
    problems: list[Problem] = []
    for effect, value in _asked(decision):
        # Where there is no context, a reason reaches the model just like it.
        wanted = (effect, "block") if effect == "context" and "block" in effects else (effect, *INSTEAD_OF[effect])
        other = next((name for name in wanted if name in says), None)
        if other is None:
            problems.append(_lost(effect, where))
            continue
        said = value
        if other != effect:
            said = _as_other(effect, other, value)
            problems.append(_degraded(effect, other, where))
            if (effect, other) == ("output", "context") and "message" in says:
                effects["message"] = f"anyhook: {READ} ({where})."
        effects[other] = f"{text_of(effects[other])}\n\n{text_of(said)}" if other in effects else said
    if "block" in effects:
        for name in ("ask", "allow", "input", "prompt"):
            effects.pop(name, None)
    return Settled(effects, (*problems, *(_lost(name, where) for name in _unsupported(decision))))


def _unsupported(decision: Decision) -> list[str]:
    """What no host can be told."""
    return [name for name in ("history", "recipe") if decision.enforced and getattr(decision, name) is not None]


def _as_other(effect: HostEffect, other: HostEffect, value: Json) -> str:
    """The text of one effect as another effect."""
    # An input is passed as a whole: `text_of` would take an object with a message for an error.
    shown = lean_json.dumps(value, ensure_ascii=False) if effect == "input" else text_of(value)
    return WORDS.get((effect, other), "{}").format(shown)


def as_carried_out(decision: Decision, settled: Settled) -> Decision:
    """The decision as the host gets it: an effect that became a block is a block, and a block that this host cannot
    carry out is advice."""
    told = settled.effects
    if decision.stops:
        carried_out = "block" in told or "end_turn" in told or (decision.effect == "feedback" and "context" in told)
        return decision if carried_out else decision.replace(effect="advisory")
    if "block" not in told:
        return decision
    from anyhook.tables.rows import BLOCKS

    effect = BLOCKS.get(decision.event, "advisory")
    return decision.replace(verdict=BLOCK, effect=effect, reason=text_of(told["block"]))


def _asked(decision: Decision) -> list[tuple[HostEffect, Json]]:
    """Every effect that the decision asks for, with its value."""
    if not decision.enforced:
        return []
    reason = decision.reason or (f"refused by {decision.hook}" if decision.hook else "refused by a hook")
    messages = list(decision.messages)
    if decision.verdict == BLOCK and not decision.stops:
        messages.append(reason)  # nothing is stopped, but the user should know
    rewrites = (None, None) if decision.stops else (decision.tool_input, decision.prompt)
    others: tuple[tuple[HostEffect, Json], ...] = (
        ("input", rewrites[0]),
        ("output", decision.tool_output),
        ("prompt", rewrites[1]),
        ("context", "\n\n".join(decision.context) or None),
        ("message", "\n".join(messages) or None),
        ("follow_up", "\n\n".join(decision.follow_ups) or None),
    )
    return [*_verdict(decision, reason), *((effect, value) for effect, value in others if value is not None)]


def _verdict(decision: Decision, reason: str) -> list[tuple[HostEffect, Json]]:
    """The effects that decide whether the action happens."""
    if decision.stops:
        ends = decision.effect == "end_turn" and decision.event in AFTER_CALL
        return [("end_turn" if ends else "block", reason)]
    asked: list[tuple[HostEffect, Json]] = []
    if decision.verdict in ("ask", "allow"):
        asked.append((decision.verdict, decision.reason or "a hook said so"))
    # An event that ends anyway needs no end_turn; a block in its place would even keep the agent working.
    if decision.end_turn and decision.event not in ENDINGS:
        asked.append(("end_turn", reason))
    return asked


def _degraded(effect: HostEffect, other: HostEffect, where: str) -> Problem:
    return Problem(
        "effect-degraded",
        f"`{effect}` became `{other}`",
        where,
        f"this agent has no `{effect}` here" + (f": {READ}" if (effect, other) == ("output", "context") else ""),
        "See the agents page for what each agent can do.",
        WARNING,
    )


def _lost(effect: str, where: str) -> Problem:
    return Problem(
        "effect-lost",
        f"`{effect}` is lost",
        where,
        "this agent has nothing like it here",
        "See the agents page for what each agent can do.",
        WARNING,
    )


# Left to the host: which hooks the calling agent runs itself, so that we do not run them again.


def runs_itself(host: Host, hook: Hook) -> bool:
    """Whether the agent runs this hook itself, as its author intends. From another agent's files it runs the hooks
    whose event it has. It reads the files of the folder that it was started in; we run the hooks of the folders
    above."""
    if hook.project or hook.scope not in host.reads.get(hook.dialect, ()):
        return False
    if host.own_files is not None and hook.label not in host.own_files:
        return False
    if hook.dialect == host.name:
        return True
    asked = {event for row in host.events for event in row.canonical}
    if asked.isdisjoint(hook.events):
        return False
    return hook.dialect not in host.misreads or not is_gate(hook)


def runs_it(host: Host) -> str:
    return f"{host.title} runs it itself"


def replaces_output(hook: Hook) -> bool:
    """Whether it keeps secrets in tools' outputs from the model."""
    return hook.spec.get("then") == "redact" and not set(AFTER_CALL).isdisjoint(hook.events)


def is_gate(hook: Hook) -> bool:
    """Whether a block by this hook prevents something, or it keeps secrets from the model. A hook whose event is
    unknown may be a gate."""
    if hook.scope == "builtin" or hook.background:
        return False
    if replaces_output(hook):
        return True
    table = dialect(hook.dialect)
    row = table.row(hook.native_event)
    if row is None and table.broken and hook.events:
        row = table.row_for(hook.events[0])
    if row is None:
        return not hook.native_event and any(each.block in STOPPING for each in table.events)
    return row.block in STOPPING
