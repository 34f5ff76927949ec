"""Merge: the outcomes of one event → one decision. It sorts by the hooks' places in the catalog first, so that the
order in which they finished cannot matter; no rewrite and no allow lifts a block."""

from __future__ import annotations

from anyhook.model.decision import Decision, Texts
from anyhook.model.outcome import BLOCK, EFFECTS, NONE, STRENGTH, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyhook.model.decision import Report
    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.words import Effect
    from anyhook.tables.rows import Dialect, EventRow


class Judged(Record):
    """One judged outcome and its place in the catalog."""

    position: int
    hook: Hook
    dialect: Dialect
    row: EventRow
    outcome: Outcome
    upstream: bool = False
    """Whether the last answer of this dialect counts alone, rewritten or not."""
    seen: Event | None = None
    """What it was asked about, in its dialect's words; None where nobody will ask."""


def merge(
    event: str,
    entries: Iterable[Judged],
    hooks: tuple[Report, ...] = (),
    problems: tuple[Problem, ...] = (),
    enforced: bool = True,
) -> Decision:
    """What all of them together ask for. `hooks` and `problems` are what else is known of the event."""
    ordered = sorted(entries, key=_position)
    verdict, prompt, end_turn = NONE, None, False
    effect: Effect | None = None
    voice: Judged | None = None
    context: list[str] = []
    messages: list[str] = []
    found = list(problems)
    for entry in ordered:
        outcome = entry.outcome
        stronger = STRENGTH[outcome.verdict] > STRENGTH[verdict]
        # Of several blocks the strongest effect speaks; of equal ones the first.
        if stronger or (outcome.verdict == BLOCK and _weight(entry.row.block) > _weight(effect)):
            voice, verdict = entry, outcome.verdict
            effect = entry.row.block if verdict == BLOCK else None
        end_turn = end_turn or outcome.end_turn or (outcome.verdict == BLOCK and entry.row.block == "end_turn")
        prompt = prompt if outcome.prompt is None else outcome.prompt
        context.extend(outcome.context)
        messages.extend(outcome.messages)
        found.extend(outcome.problems)
    winner = next(filter(_acts, ordered), None)
    return Decision(
        event=event,
        verdict=verdict,
        effect=effect,
        reason=voice.outcome.reason if voice else None,
        hook=voice.hook.id if voice and verdict == BLOCK else None,
        tool_input=_tool_input(ordered),
        tool_output=_tool_output(ordered),
        prompt=prompt,
        context=Texts(context),
        messages=Texts(messages),
        follow_ups=Texts(text for entry in ordered if not _outdone(entry, winner) for text in entry.outcome.follow_ups),
        history=winner.outcome.history if winner else None,
        recipe=winner.outcome.recipe if winner else None,
        end_turn=end_turn,
        enforced=enforced,
        hooks=hooks,
        problems=(*found, *_lost(ordered, winner)),
    )


def _position(entry: Judged) -> int:
    return entry.position


def _weight(effect: Effect | None) -> int:
    return EFFECTS.index(effect) if effect else -1


def _tool_input(ordered: list[Judged]) -> dict[str, Json] | None:
    current = before = None
    dialect = ""
    for entry in ordered:
        if entry.dialect.name != dialect:
            dialect, before = entry.dialect.name, current
        if entry.outcome.tool_input is not None:
            current = entry.outcome.tool_input
        elif entry.upstream and entry.outcome.spoke:
            current = before
    return current


def _tool_output(ordered: list[Judged]) -> Json:
    """The last replacement; a withheld output stays withheld whatever comes later."""
    for entry in ordered:
        if entry.dialect.withholds and entry.outcome.verdict == BLOCK and entry.row.block == "feedback":
            return entry.outcome.messages[-1] if entry.outcome.messages else entry.outcome.reason
    return next(
        (entry.outcome.tool_output for entry in reversed(ordered) if entry.outcome.tool_output is not None), None
    )


def _acts(entry: Judged) -> bool:
    """Whether it replaces the history or calls a recipe; the first that does so wins."""
    return entry.outcome.history is not None or entry.outcome.recipe is not None


def _outdone(entry: Judged, winner: Judged | None) -> bool:
    """Whether follow-ups are dropped, because a hook of the same dialect has taken the conversation elsewhere."""
    return winner is not None and entry.dialect.first_action_wins and entry.dialect is winner.dialect


def _lost(ordered: list[Judged], winner: Judged | None) -> list[Problem]:
    if winner is None:
        return []
    return [
        Problem(
            "action-lost",
            f"what `{entry.hook.name}` asked for is dropped",
            entry.hook.where(),
            f"`{winner.hook.name}` acted first",
            "Let one hook decide.",
            WARNING,
        )
        for entry in ordered
        if entry is not winner and (_acts(entry) or (entry.outcome.follow_ups and _outdone(entry, winner)))
    ]
