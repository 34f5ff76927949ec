"""Translate: a host's tool names and input fields → a dialect's own, and a rewritten input back. It leaves every event
alone that does not come from a host with words of its own."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.grammar.rows import Dialect
    from anyhook.model.event import Event
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome


def to_native(event: Event, dialect: Dialect) -> Event:
    """The event in the words of a dialect's hooks."""
    row = dialect.tools.get(str(event.data.get("tool"))) if event.hosted else None
    if row is None:
        return event
    given = event.data.get("input")
    data = {**event.data, "tool": row.native}
    if isinstance(given, dict):
        data["input"] = _renamed(given, row.inputs)
    return event.replace(data=data)


def to_host(outcome: Outcome, event: Event, dialect: Dialect) -> Outcome:
    """What a hook of the dialect asked for, in the words of the event's host."""
    if not event.hosted:
        return outcome
    row = dialect.tools.get(str(event.data.get("tool")))
    if outcome.tool_input is not None and row is not None:
        outcome = outcome.replace(tool_input=_restored(outcome.tool_input, row.inputs))
    if outcome.tool_output is not None and dialect.plain_output is not None:
        outcome = outcome.replace(tool_output=dialect.plain_output(outcome.tool_output))
    return outcome


def _renamed(given: dict[str, Json], inputs: Mapping[str, str]) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for key, value in given.items():
        *outer, last = inputs.get(key, key).split(".")
        inner = made
        for name in outer:
            nested = inner.setdefault(name, {})
            if not isinstance(nested, dict):
                break
            inner = nested
        inner[last] = value
    return made


def _restored(given: dict[str, Json], inputs: Mapping[str, str]) -> dict[str, Json]:
    """Host fields of a native input. A hook may have written the host's own names: they stay."""
    made = dict(given)
    for host, native in inputs.items():
        first, *rest = native.split(".")
        found: Json = given.get(first)
        for name in rest:
            found = found.get(name) if isinstance(found, dict) else None
        if first in given and found is not None:
            if first not in inputs:
                made.pop(first, None)
            made[host] = found
    return made
