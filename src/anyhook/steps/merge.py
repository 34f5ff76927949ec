"""Merge: the outcomes of one event → one decision. It sorts by the hooks' places in the catalog first, so that the order in
which they finished cannot matter; no rewrite and no allow lifts a block."""

from __future__ import annotations

from anyhook.model.decision import Decision
from anyhook.model.outcome import BLOCK, EFFECTS, STRENGTH, Outcome
from anyhook.model.problem import WARNING, Problem
from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyhook.grammar.rows import Dialect, EventRow
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json


class Entry(Record):
    """One judged outcome and its place in the catalog."""

    position: int
    hook: Hook
    dialect: Dialect
    row: EventRow
    outcome: Outcome
    upstream: bool = False
    """Whether the last answer of this dialect counts alone, rewritten or not."""


def merge(event: str, entries: Iterable[Entry]) -> Decision:
    """What all of them together ask for."""
    ordered = sorted(entries, key=lambda entry: entry.position)
    outcomes = [entry.outcome for entry in ordered]
    verdict = max((outcome.verdict for outcome in outcomes), key=STRENGTH.__getitem__, default="none")
    blocks = [entry for entry in ordered if entry.outcome.verdict == BLOCK]
    # The strongest effect speaks; of equal ones the first.
    speaker = max(blocks, key=lambda entry: EFFECTS.index(entry.row.block or "advisory"), default=None)
    voice = speaker or next((entry for entry in ordered if entry.outcome.verdict == verdict != "none"), None)
    actions = _actions(ordered)
    return Decision(
        event=event,
        verdict=verdict,
        effect=speaker.row.block if speaker else None,
        reason=voice.outcome.reason if voice else None,
        hook=speaker.hook.id if speaker else None,
        tool_input=_tool_input(ordered),
        tool_output=_tool_output(ordered),
        prompt=next((outcome.prompt for outcome in reversed(outcomes) if outcome.prompt is not None), None),
        context=tuple(text for outcome in outcomes for text in outcome.context),
        messages=tuple(text for outcome in outcomes for text in outcome.messages),
        follow_ups=tuple(
            text
            for entry in ordered
            if not (entry.dialect.first_action_wins and entry.dialect.name in actions)
            for text in entry.outcome.follow_ups
        ),
        history=next((entry.outcome.history for entry in actions.values() if entry.outcome.history is not None), None),
        recipe=next((entry.outcome.recipe for entry in actions.values() if entry.outcome.recipe is not None), None),
        end_turn=any(outcome.end_turn for outcome in outcomes) or any(entry.row.block == "end_turn" for entry in blocks),
        problems=(*(problem for outcome in outcomes for problem in outcome.problems), *_lost(ordered, actions)),
    )


def _tool_input(ordered: list[Entry]) -> dict[str, Json] | None:
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


def _tool_output(ordered: list[Entry]) -> Json:
    """The last replacement; a withheld output stays withheld whatever comes later."""
    for entry in ordered:
        if entry.dialect.withholds and entry.outcome.verdict == BLOCK and entry.row.block == "feedback":
            return entry.outcome.messages[-1] if entry.outcome.messages else entry.outcome.reason
    return next((entry.outcome.tool_output for entry in reversed(ordered) if entry.outcome.tool_output is not None), None)


def _acts(entry: Entry) -> bool:
    return entry.outcome.history is not None or entry.outcome.recipe is not None


def _actions(ordered: list[Entry]) -> dict[str, Entry]:
    """The first hook of each dialect that replaces the history or calls a recipe."""
    first: dict[str, Entry] = {}
    for entry in ordered:
        if _acts(entry):
            first.setdefault(entry.dialect.name, entry)
    return dict(list(first.items())[:1])


def _lost(ordered: list[Entry], actions: dict[str, Entry]) -> list[Problem]:
    winner = next(iter(actions.values()), None)
    if winner is None:
        return []
    lost = [entry for entry in ordered if entry is not winner and (_acts(entry) or (entry.outcome.follow_ups and entry.dialect is winner.dialect))]
    return [
        Problem("action-lost", f"what `{entry.hook.name}` asked for is dropped", entry.hook.where(),
                f"`{winner.hook.name}` acted first", "Let one hook decide.", WARNING)  # fmt: skip
        for entry in lost
    ]
