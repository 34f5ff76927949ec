"""Combine: the decisions about the parts of one call → the decision about the call. One refused part refuses the whole
call, and the reason names the part."""

from __future__ import annotations

from anyhook.model.decision import Texts
from anyhook.model.outcome import STRENGTH
from anyhook.model.texts import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anyhook.model.decision import Decision
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json

    Rejoin = Callable[[dict[str, Json], int, dict[str, Json]], dict[str, Json] | None]

NAMED = ("command", "path")
"""The fields that name a part."""


def combine(
    parts: Sequence[tuple[Event, Decision]], given: dict[str, Json], rejoin: Rejoin | None
) -> tuple[Decision, bool]:
    """One decision, and whether a part's rewrite could not be put back."""
    event, decision = parts[deciding(parts)]
    rewritten, lost = given, False
    for index, (_, each) in enumerate(parts):
        if each.tool_input is not None:
            made = rejoin(rewritten, index, each.tool_input) if rejoin is not None else None
            lost, rewritten = lost or made is None, made or rewritten
    reason = decision.reason
    if decision.stops or decision.verdict == "ask":
        reason = f"{_name(event)}: {reason or 'refused by a hook'}"
    combined = decision.replace(
        reason=reason,
        tool_input=rewritten if rewritten is not given else None,
        tool_output=next((each.tool_output for _, each in parts if each.tool_output is not None), None),
        context=_distinct(text for _, each in parts for text in each.context),
        messages=_distinct(text for _, each in parts for text in each.messages),
        follow_ups=_distinct(text for _, each in parts for text in each.follow_ups),
        end_turn=any(each.end_turn for _, each in parts),
    )
    # The call is allowed only if all parts are; a part that no hook spoke about is not.
    if combined.verdict == "allow" and any(each.verdict != "allow" for _, each in parts):
        combined = combined.replace(verdict="none", reason=None)
    return combined, lost


def deciding(parts: Sequence[tuple[Event, Decision]]) -> int:
    """The index of the part with the strongest decision; the first of equals."""
    strengths = [(decision.stops, STRENGTH[decision.verdict]) for _, decision in parts]
    return strengths.index(max(strengths))


def _name(event: Event) -> str:
    given = event.data.get("input")
    for field in NAMED:
        if isinstance(given, dict) and given.get(field):
            return text_of(given[field])[:200]
    return str(event.data.get("tool"))


def _distinct(texts: Iterable[str]) -> Texts:
    """Without repetitions, because the hooks of every part often say the same."""
    return Texts(dict.fromkeys(texts))
