"""Reading a record's line by its bytes finds the same as parsing it, whatever the event and the answers contain. A word
search finds every record that has the words."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from anyhook.journal.read import read_line
from anyhook.journal.record import JournalPolicy, head_of, record
from anyhook.journal.runs import columns_of, runs_of
from anyhook.journal.search import Wanted, newest, search, texts_of
from anyhook.journal.writer import START, full_path, sealed
from anyhook.model.call import Call, Run
from anyhook.model.decision import Decision, Report
from anyhook.model.event import Event
from anyhook.model.firing import HookRun
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.words import MODE
from anyhook.replay.rejudge import Change, Judge, Unjudgeable
from anyhook.replay.replay import replay_journal
from examples import examples

NAMES = ["calls", "decision", "hooks", "tool", "data", "n", 'x"calls', "", "ß"]
TEXTS = [
    '", "calls": [',
    "]",
    '"',
    "\\",
    '], "decision": {"verdict": ',
    "\n",
    "Kelvin \u212a",
    "needle",
    "GRÖSSE",
    "\ud800x",
]
texts = st.sampled_from(TEXTS) | st.text(max_size=6)
scalars = texts | st.none() | st.integers(-5, 5) | st.booleans()
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)

if TYPE_CHECKING:
    from anyhook.model.words import Ending, HookStatus, Posture, Verdict
objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)
keepings = st.sampled_from([JournalPolicy(), JournalPolicy(bodies="hashed"), JournalPolicy(bodies="none")])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line as the record step writes it."""
    policy = draw(keepings)
    started: list[HookRun] = []
    reports: list[Report] = []
    for number in range(draw(st.integers(0, 3))):
        identity = f"kodik:user:Stop:{draw(texts)}{number}"
        hook = Hook(
            identity, draw(texts), "kodik", "user", "/", (), "/", "", "Stop", ("stop",), None, "command", {}, 1.0
        )
        call = Call((draw(texts), "b"), b"", {"A": "b"}, draw(texts), 1.5, "", draw(st.sampled_from(["", "00-1-2-01"])))
        ending: Ending = draw(st.sampled_from(["exited", "timed_out", "not_started"]))
        spent = draw(st.floats(0, 1e6))
        run = Run(
            ending,
            draw(st.none() | st.integers(-9, 9)),
            draw(texts).encode("utf-8", "replace"),
            b"",
            7,
            spent,
            draw(st.none() | texts),
        )
        started.append(
            HookRun(hook, call, draw(st.sampled_from(["native", "deny"])), "", run, draw(st.sampled_from(["", "exit"])))
        )
        status: HookStatus = draw(st.sampled_from(["ran", "skipped", "unmatched"]))
        verdict: Verdict = draw(st.sampled_from(["none", "block", "allow"]))
        reports.append(Report(identity, "n", "x", "user", draw(texts), status, draw(texts), verdict=verdict))
    decision = Decision("stop", hooks=tuple(reports))
    if draw(st.booleans()):
        asked = {
            "reason": draw(st.none() | texts),
            "tool_input": draw(st.none() | objects),
            "tool_output": draw(values),
        }
        decision = decision.replace(verdict=draw(st.sampled_from(["none", "block"])), **asked)
    mode = draw(st.sampled_from(MODE))
    caller = (draw(texts), draw(texts), draw(st.sampled_from(["", "00-a-b-01"])))
    policy = policy.replace(session=draw(texts), caller=caller)
    event = Event("stop", draw(objects), b"", draw(st.booleans()))
    return record(head_of(event, mode, policy), decision, started, policy, draw(st.integers(1, 2**63 - 1)))


@st.composite
def journals(draw: st.DrawFn) -> list[bytes]:
    return sealed(draw(st.lists(lines(), max_size=6)), START)[0]


@examples(80)
@given(journals())
def test_columns_have_every_run(journal: list[bytes]) -> None:
    found = [
        (at, runs.hook, tuple(runs.kinds[kind]), spent)
        for runs in columns_of(journal)
        for at, kind, spent in zip(runs.at, runs.kind, runs.spent_s, strict=True)
    ]
    # Sorted by repr: of two runs with the same time and hook, one may lack fields that the other has.
    assert sorted(found, key=repr) == sorted((run for line in journal for run in runs_of(read_line(line))), key=repr)


words = st.lists(st.sampled_from(["needle", "KELVIN", "größe", "calls", "测试", "x"]), min_size=1, max_size=2)


@examples(50)
@given(st.lists(lines(), max_size=4), st.sampled_from([None, "deny"]))
def test_replaying_all_is_judging_each(unsealed: list[bytes], posture: Posture | None) -> None:
    """Every line appears twice, because repeated text is judged by its bytes."""
    journal, _ = sealed([*unsealed, *unsealed], START)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "journal.jsonl").write_bytes(b"".join(journal))
        found = replay_journal(folder, Wanted(), {}, posture, lambda _done, _all: None)
    changes: list[Change] = []
    judged, not_judged = 0, Counter[str]()
    for line in journal:
        try:
            change = Judge({}, posture).judge(read_line(line))
        except Unjudgeable as why:
            not_judged[str(why)] += 1
            continue
        judged += 1
        changes += [change] if change is not None else []
    assert (found.judged, found.changed, found.changes) == (judged, len(changes), changes)
    assert found.not_judged == not_judged


@examples(50)
@given(journals(), words, st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_a_search_finds_the_lines_with_all_words(journal: list[bytes], asked: list[str], cuts: list[int]) -> None:
    """The journal may be in several files."""
    first, second, third = sorted(cuts)
    wanted = Wanted(words=tuple(asked))
    with tempfile.TemporaryDirectory() as folder, patch("anyhook.journal.files.LARGE_BLOCK", 64):
        for number, (start, end) in enumerate([(0, first), (first, second), (second, third), (third, None)]):
            path = full_path(folder, number) if end is not None else f"{folder}/journal.jsonl"
            Path(path).write_bytes(b"".join(journal[start:end]))
        found = [line.raw for line in search(folder, wanted)]
        assert [line.raw for line in newest(folder, wanted, 99)] == found
    assert found == [line for line in journal if _has(line, asked)]


def _has(line: bytes, asked: list[str]) -> bool:
    """By another reading of a word: what is between blanks, once only letters and digits are left."""
    text = "\n".join(texts_of(read_line(line)))
    apart = "".join(letter.lower() if letter.isalnum() else " " for letter in text)
    return all(f" {word.lower()} " in f" {apart} " for word in asked)
