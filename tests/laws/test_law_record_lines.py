"""A journal line depends only on its own event, not on the lines that were made before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from law_strategies import ENDINGS, TABLES, entries, hook_of

from anyhook.engine.merge import Judged, merge
from anyhook.journal.record import JournalPolicy, record
from anyhook.model.call import Call, Run
from anyhook.model.decision import Decision, Report
from anyhook.model.firing import HookRun
from examples import examples

if TYPE_CHECKING:
    from anyhook.model.words import Posture

said = st.sampled_from([b"", b"{}", b'{"reason": "no"}', b"token=abcdefgh", b"\xff"])
runs = st.builds(
    Run, st.sampled_from(ENDINGS), st.sampled_from([None, 0, 1, 2]), said, said, st.just(7), st.just(0.25),
    st.sampled_from([None, "gone"]),
)  # fmt: skip
calls = st.builds(
    Call, st.sampled_from([("a",), ("a", "b")]), st.just(b""), st.sampled_from([{}, {"PATH": "/bin"}, {"X": "1"}]),
    st.sampled_from(["/", "/srv"]), st.sampled_from([1.0, 2.5]), st.just(""),
)  # fmt: skip
reports = st.builds(
    Report, st.sampled_from(["h1", "h2"]), st.just("h"), st.just("kode"), st.just("user"), st.just("f:1"),
    st.sampled_from(["ran", "unmatched"]), st.sampled_from(["", "tool"]), verdict=st.sampled_from(["none", "block"]),
)  # fmt: skip


@st.composite
def decided(draw: st.DrawFn) -> Decision:
    made: tuple[str, list[Judged]] = draw(entries())
    return merge(*made, tuple(draw(st.lists(reports, max_size=2))), (), enforced=draw(st.booleans()))


@examples(30)
@given(st.lists(st.tuples(decided(), runs, calls, st.sampled_from(["", "exit"]), st.sampled_from(["native", "deny"]))))
def test_lines_do_not_remember(events: list[tuple[Decision, Run, Call, str, Posture]]) -> None:
    table = TABLES["kode"]
    hook = hook_of(table, table.events[0])
    remembering, plain = (
        JournalPolicy(inherited=frozenset({"PATH"}), known={}),
        JournalPolicy(inherited=frozenset({"PATH"})),
    )
    for decision, run, call, failed, posture in events:
        lines = []
        for policy in (remembering, plain):
            lines.append(record("", decision, [HookRun(hook, call, posture, "", run, failed)], policy, at_ns=1))
        assert lines[0] == lines[1]
