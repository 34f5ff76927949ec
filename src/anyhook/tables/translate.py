"""Translate: a host's tool names, input fields and words → a dialect's own, and a rewritten input back. Events without
a host's own words stay as they are."""

from __future__ import annotations

from anyhook.model.problem import WARNING, Problem
from anyhook.tables.registry import special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.model.json_types import Json
    from anyhook.model.outcome import Outcome
    from anyhook.tables.rows import Dialect, ToolRow

REWRITES = (("input", "tool_input"), ("prompt", "prompt"), ("output", "tool_output"))
"""Event fields that a hook can rewrite, and the outcome that rewrites them."""


NEEDED = {
    "shell": ("command",),
    "read_file": ("path",),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old_text", "new_text"),
}
"""Our tools that do nothing without an input, and the fields of it that they need; others may have none."""
ANY_OTHER = "*"
"""In a table of words, any that is not named."""


def to_native(event: Event, dialect: Dialect) -> Event:
    """The event with the names and words of a dialect."""
    if dialect.words and event.hosted:
        event = _spoken(event, dialect)
    row = _row(event, dialect)
    if row is None:
        return event
    given = event.data.get("input")
    data = {**event.data, "tool": row.native}
    if isinstance(given, dict):
        data["input"] = renamed(restored(given, event.inputs) if event.inputs else given, row.inputs)
    return event.replace(data=data)


def _spoken(event: Event, dialect: Dialect) -> Event:
    """The event with each word that its document has for the host's."""
    said: dict[str, Json] = {}
    for field, words in dialect.words.items():
        word = event.data.get(field)
        if isinstance(word, str) and word:
            known = words.get(word) or (word if word in words.values() else "")
            said[field] = known or words.get(ANY_OTHER, word)
    return event.replace(data={**event.data, **said}) if said else event


def to_host(outcome: Outcome, event: Event, dialect: Dialect) -> Outcome:
    """What a hook of the dialect asked for, with the names of the event's host."""
    if not event.hosted:
        return outcome
    row = _row(event, dialect)
    if outcome.tool_input is not None and row is not None:
        given = restored(outcome.tool_input, row.inputs)
        outcome = outcome.replace(tool_input=renamed(given, event.inputs) if event.inputs else given)
    plain = special(dialect.name, "PLAIN_OUTPUT") if outcome.tool_output is not None else None
    if plain is not None:
        outcome = outcome.replace(tool_output=plain(outcome.tool_output))
    return outcome


def completed(outcome: Outcome, seen: Event, dialect: Dialect, hook: Hook) -> Outcome:
    """The outcome with a complete rewritten input, if the dialect's hooks name only the fields that they change. In the
    other dialects a rewrite replaces the whole input; a field that the tool cannot do without is kept, and reported."""
    made = outcome.tool_input
    if made is None:
        return outcome
    found = seen.get("input")
    given = found if isinstance(found, dict) else {}
    if dialect.whole_input is not None:
        return outcome.replace(tool_input=dialect.whole_input(given, made))
    rule = f"in {dialect.title} a rewrite replaces the whole input"
    tool = str(seen.data.get("tool"))
    missing, inputs = _lacking(given, made, seen, dialect, tool)
    if not missing:
        return outcome
    names = ", ".join(f"`{inputs.get(name, name)}`" for name in missing)
    lost = "the original value is kept" if seen.hosted else "it is gone now"
    what = f"`{hook.name}` rewrote the input of {tool} without {names}; {lost}"
    problem = Problem("partial-rewrite", what, hook.where(), rule, severity=WARNING)
    whole = {**made, **renamed(missing, inputs)} if seen.hosted else made
    return outcome.replace(tool_input=whole, problems=(*outcome.problems, problem))


def _lacking(
    given: dict[str, Json], made: dict[str, Json], seen: Event, dialect: Dialect, tool: str
) -> tuple[dict[str, Json], Mapping[str, str]]:
    """The fields, by our names, that a rewrite of this tool's input has lost, and the dialect's names."""
    ours = seen.ours or next((ours for ours, row in dialect.tools.items() if row.native == tool), tool)
    row = dialect.tools.get(ours)
    inputs = row.inputs if row is not None else seen.inputs or {}
    before, after = restored(given, inputs), restored(made, inputs)
    # Nothing is known about tools that a caller names by hand: any field may be needed, and none is put back.
    needed = NEEDED.get(ours, () if seen.hosted else tuple(before))
    return {name: before[name] for name in needed if name in before and name not in after}, inputs


def rewritten(
    current: Event, seen: Event, outcome: Outcome, plain: Outcome, chains: Sequence[str]
) -> tuple[Event, Event]:
    """The event with what a hook rewrote: with the host's names (`plain`), and as the dialect's next hook sees it."""
    for field, rewrite in REWRITES:
        value = getattr(outcome, rewrite)
        if value is not None:
            current = current.replace(data={**current.data, field: getattr(plain, rewrite)})
            if field in chains:
                seen = seen.replace(data={**seen.data, field: value})
    return current, seen


def spellings(native: Event, event: Event, dialect: Dialect) -> Iterator[Event]:
    """A host's event in every spelling that a matcher may be written for: the dialect's, the host's, and the tool's
    other names."""
    yield native
    row = _row(event, dialect)
    for name in row.also if row is not None else ():
        yield native.replace(data={**native.data, "tool": name})
    yield event
    for name in event.also:
        yield event.replace(data={**event.data, "tool": name})


def _row(event: Event, dialect: Dialect) -> ToolRow | None:
    if not event.hosted:
        return None
    tool = event.ours or str(event.data.get("tool"))
    if dialect.mcp_tools and tool.startswith("mcp__"):
        from anyhook.tables.rows import ToolRow

        server, _, name = tool[5:].partition("__")
        return ToolRow(dialect.mcp_tools.format(server=server, tool=name))
    return dialect.tools.get(tool)


def renamed(given: dict[str, Json], inputs: Mapping[str, str]) -> dict[str, Json]:
    """Fields of our own tools → another's; dots lead into nested objects."""
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


def restored(given: dict[str, Json], inputs: Mapping[str, str]) -> dict[str, Json]:
    """Fields of our own tools out of another's input. A hook may have written our own names: they stay."""
    made = dict(given)
    for ours, native in inputs.items():
        first, *rest = native.split(".")
        found: Json = given.get(first)
        for name in rest:
            found = found.get(name) if isinstance(found, dict) else None
        if first in given and found is not None:
            if first not in inputs:
                made.pop(first, None)
            made[ours] = found
    return made
