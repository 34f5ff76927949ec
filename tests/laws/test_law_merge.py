"""Laws 1 to 4 on merging: order, silence, isolation, and that nothing lifts a block."""

from __future__ import annotations

from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from law_strategies import ROWS, TABLES, entries, failures, hook_of, outcomes

from anyhook.engine.merge import CODE_OF_ENDING, Judged, merge
from anyhook.model.outcome import EFFECTS, SILENT, STRENGTH, Failure, Outcome
from each_of import each_of


@given(entries(), st.randoms())
def test_every_finishing_order_gives_the_same_decision(made: tuple[str, list[Judged]], random: object) -> None:
    event, given_entries = made
    shuffled = list(given_entries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge(event, shuffled) == merge(event, given_entries)


@given(entries(), st.data())
def test_a_silent_or_failed_neighbour_erases_nothing(made: tuple[str, list[Judged]], data: st.DataObject) -> None:
    event, given_entries = made
    if not given_entries:
        return
    before = merge(event, given_entries)
    beside = data.draw(st.sampled_from(given_entries))
    broken = data.draw(st.just(SILENT) | failures.map(lambda failure: Outcome(failure=failure)))
    place = beside.position + data.draw(st.sampled_from([-1, 1]))
    added = Judged(place, beside.hook.replace(id="the-neighbour"), beside.dialect, beside.row, broken, beside.upstream)
    assert merge(event, [*given_entries, added]) == before


FULL = Outcome(
    verdict="ask", reason="r", tool_input={"a": 1}, tool_output="o", prompt="p", context=("c",), messages=("m",),
    follow_ups=("f",), history=[{"role": "user", "content": "x"}], recipe={"name": "n", "args": {}}, end_turn=True,
    spoke=True,
)  # fmt: skip
QUIET = [SILENT, *(Outcome(failure=Failure(cause, "it broke")) for cause in sorted(CODE_OF_ENDING))]


@each_of("verdict", ["none", "allow", "ask", "block"])
@each_of("name", TABLES)
def test_no_effect_of_any_kind_is_erased(name: str, verdict: str) -> None:
    """Combine every effect with every outcome that has no effects, before it and after it."""
    for (table, row, event), upstream in product(ROWS, (False, True)):
        if table.name != name:
            continue
        outcome = FULL.replace(verdict=verdict if row.block or verdict != "block" else "none")
        hook = hook_of(table, row)
        speaks = Judged(0, hook, table, row, outcome, upstream)
        alone = merge(event, [speaks])
        assert alone.tool_input == {"a": 1}
        for quiet, place in product(QUIET, (-1, 1)):
            both = merge(event, [speaks, Judged(place, hook, table, row, quiet, upstream)])
            assert both == alone, (row.native, event, upstream, quiet, place)


@given(entries(verdicts=("none", "ask", "block")))
def test_no_allow_without_a_hook_that_allowed(made: tuple[str, list[Judged]]) -> None:
    assert merge(*made).verdict != "allow"


@given(entries(verdicts=("none",)))
def test_rewrites_and_words_grant_and_stop_nothing(made: tuple[str, list[Judged]]) -> None:
    decision = merge(*made)
    assert (decision.verdict, decision.effect, decision.reason, decision.hook) == ("none", None, None, None)


@given(entries(), outcomes(verdicts=("none", "allow", "ask")), st.data())
def test_nothing_added_lifts_a_block(made: tuple[str, list[Judged]], outcome: Outcome, data: st.DataObject) -> None:
    event, given_entries = made
    before = merge(event, given_entries)
    if before.verdict != "block":
        return
    beside = data.draw(st.sampled_from(given_entries))
    place = beside.position + data.draw(st.sampled_from([-1, 1]))
    later = Judged(place, beside.hook.replace(id="the-other"), beside.dialect, beside.row, outcome, beside.upstream)
    after = merge(event, [*given_entries, later])
    same = ("verdict", "effect", "reason", "hook")
    assert [getattr(after, field) for field in same] == [getattr(before, field) for field in same]
    assert after.end_turn or not before.end_turn


@given(entries(least=1))
def test_the_strongest_verdict_and_effect_win(made: tuple[str, list[Judged]]) -> None:
    event, given_entries = made
    decision = merge(event, given_entries)
    verdicts = [entry.outcome.verdict for entry in given_entries]
    assert STRENGTH[decision.verdict] == max(STRENGTH[verdict] for verdict in verdicts)
    blocks = [entry for entry in given_entries if entry.outcome.verdict == "block"]
    if not blocks:
        assert decision.effect is None
        assert decision.hook is None
        return
    assert decision.effect == max((str(entry.row.block) for entry in blocks), key=EFFECTS.index)
    speakers = [entry for entry in blocks if entry.row.block == decision.effect]
    assert (decision.hook, decision.reason) == (speakers[0].hook.id, speakers[0].outcome.reason)


@given(entries())
def test_nothing_is_invented(made: tuple[str, list[Judged]]) -> None:
    """Everything that the decision asks for, some hook asked for (a withheld output is the hook's own text)."""
    event, given_entries = made
    decision = merge(event, given_entries)
    for field in ("tool_input", "prompt", "history", "recipe"):
        value = getattr(decision, field)
        assert value is None or any(getattr(entry.outcome, field) == value for entry in given_entries)
    for field in ("context", "messages", "follow_ups"):
        said = Counter(text for entry in given_entries for text in getattr(entry.outcome, field))
        told = Counter(getattr(decision, field))
        if field != "follow_ups":
            assert said <= told
        # An advisory block only shows its reason, so those of several such blocks are all shown, each once.
        others = {entry.outcome.reason for entry in given_entries if entry.outcome.verdict == "block"}
        shown = others if field == "messages" and decision.effect == "advisory" else set()
        assert (told - said).keys() <= shown
        assert max((told - said).values(), default=1) == 1
    if any(entry.outcome.tool_output is not None for entry in given_entries):
        assert decision.tool_output is not None
