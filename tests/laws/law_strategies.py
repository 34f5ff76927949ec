"""Inputs for the laws: arbitrary JSON, outcomes, runs, hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from anyhook.engine.merge import CODE_OF_ENDING, Judged
from anyhook.model.call import Run
from anyhook.model.event import EVENTS
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.lean_json import encode
from anyhook.model.outcome import Failure, Outcome
from anyhook.model.words import HANDLER_KINDS, word_of
from anyhook.tables.registry import DIALECTS, dialect
from anyhook.tables.rows import Dialect, EventRow

TABLES: dict[str, Dialect] = {name: dialect(name) for name in DIALECTS}
ROWS = [(table, row, event) for table in TABLES.values() for row in table.events for event in row.canonical]
ENDINGS: tuple[Ending, ...] = ("exited", "timed_out", "signalled", "not_started", "overflowed", "cancelled")

texts = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
objects: st.SearchStrategy[dict[str, Json]] = st.dictionaries(texts, values, max_size=2)
GOOD: dict[str, st.SearchStrategy[Json]] = {
    "string": texts.map(lambda text: text),
    "bool": st.booleans().map(lambda value: value),
    "object": objects.map(lambda value: value),
    "strings": st.lists(texts.map(lambda text: text), max_size=2).map(lambda value: [*value]),
}


def hook_of(table: Dialect, row: EventRow, handler: str = "command", name: str = "it") -> Hook:
    """A hook as the loader makes it, with everything needed to read its answer."""
    return Hook(
        f"{table.name}:user:{row.native}:{name}", name, table.name, "user", "/hooks", (), "/", "", row.native,
        row.canonical, None, word_of(handler, HANDLER_KINDS), {}, 1.0,
    )  # fmt: skip


failures = st.builds(Failure, st.sampled_from(sorted(CODE_OF_ENDING)), texts)
effects = st.fixed_dictionaries(
    {},
    optional={
        "tool_input": st.dictionaries(texts, scalars, max_size=2),
        "tool_output": scalars,
        "prompt": texts,
        "context": st.lists(texts, max_size=2).map(tuple),
        "messages": st.lists(texts, max_size=2).map(tuple),
        "follow_ups": st.lists(texts, max_size=2).map(tuple),
        "history": st.lists(st.fixed_dictionaries({"role": texts, "content": texts}), max_size=2),
        "recipe": st.fixed_dictionaries({"name": texts, "args": st.just({})}),
        "end_turn": st.booleans(),
        "spoke": st.just(True),
    },
)

if TYPE_CHECKING:
    from anyhook.model.words import Ending, Verdict


@st.composite
def outcomes(draw: st.DrawFn, verdicts: tuple[Verdict, ...] = ("none", "allow", "ask", "block")) -> Outcome:
    verdict = draw(st.sampled_from(verdicts))
    reason = draw(texts) if verdict != "none" else None
    return Outcome(verdict=verdict, reason=reason).replace(**draw(effects))


@st.composite
def entries(
    draw: st.DrawFn, verdicts: tuple[Verdict, ...] = ("none", "allow", "ask", "block"), least: int = 0
) -> tuple[str, list[Judged]]:
    """An event and its hooks' outcomes, in the catalog's order: hooks of one dialect are next to each other."""
    event = draw(st.sampled_from(sorted(EVENTS)))
    tables = [table for table in TABLES.values() if table.row_for(event)]
    made: list[Judged] = []
    for table in tables:
        row = table.row_for(event)
        assert row is not None
        upstream = table.name == "kodelet" and draw(st.booleans())
        for outcome in draw(st.lists(outcomes(verdicts), min_size=least, max_size=2)):
            hook = hook_of(table, row, name=f"h{len(made)}")
            can = outcome if row.block or outcome.verdict != "block" else outcome.replace(verdict="none", reason=None)
            made.append(Judged(2 * len(made), hook, table, row, can, upstream))
    return event, made


@st.composite
def replies(draw: st.DrawFn, table: Dialect, handler: str) -> bytes:
    """What a hook might print: random bytes, or almost what its dialect documents, with any value anywhere."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.binary(max_size=60))
    answer: dict[str, Json] = {}
    for key in table.replies[handler].keys:
        if draw(st.booleans()):
            continue
        place = answer
        for step in key.path[:-1]:
            inner = place.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            place = inner
        words: list[Json] = [word for word, _, _ in key.words]
        likely = st.sampled_from(words) if words else GOOD.get(key.kind, values)
        place[key.path[-1]] = draw(likely | values)
    shapes: list[Json] = [answer, [answer], {**answer, "extra": 1}]
    return encode(draw(st.sampled_from(shapes)))


@st.composite
def runs(draw: st.DrawFn, table: Dialect, handler: str) -> Run:
    ending = draw(st.sampled_from(ENDINGS))
    code: int | None = draw(st.integers(0, 255) | st.sampled_from([0, 0, 1, 2]))
    if ending in ("signalled", "timed_out"):
        code = -draw(st.integers(1, 64))
    if ending in ("not_started", "cancelled"):
        code = None
    stdout, stderr = draw(replies(table, handler)), draw(st.binary(max_size=40))
    return Run(ending, code, stdout, stderr, draw(st.integers(0, 2**60)), 0.1, draw(st.none() | texts))
