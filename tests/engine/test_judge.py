"""Judge, as a table: how an outcome counts, by its dialect's documentation or by the posture that the caller sets.
`K-14` and the like number statements in the documentation, as in the vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from step_box import hook_of, row_of

from anyhook.engine.merge import judge
from anyhook.model.outcome import Failure, Outcome
from anyhook.tables.registry import DIALECTS, dialect
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.words import Cause, Posture, Verdict

FAILURES: tuple[Cause, ...] = ("timed_out", "signalled", "not_started", "overflowed", "exit", "output")
"""What the contract calls a broken hook. A cancelled hook is not broken: nothing waits for it any more."""


def failure(cause: Cause) -> Outcome:
    return Outcome(failure=Failure(cause, "it broke"))


def counted(
    name: str, event: str, outcome: Outcome, posture: Posture = "native", settings: dict[str, str] | None = None
) -> Outcome:
    return judge(hook_of(name, event), dialect(name), row_of(name, event), outcome, posture, settings or {})


NATIVE: list[tuple[str, str, str, Cause, Verdict, str]] = [
    ("K-14, K-27", "kode", "pre_tool", "timed_out", "block", "KODE-HOOK-001"),
    ("K-29, Kc", "kode", "pre_tool", "output", "none", "KODE-HOOK-003"),
    ("K-30, Ke", "kode", "pre_tool", "not_started", "block", "KODE-HOOK-004"),
    ("Ke the prompt", "kode", "user_prompt_submit", "not_started", "block", "KODE-HOOK-004"),
    ("Ke no gate", "kode", "session_end", "not_started", "none", "KODE-HOOK-004"),
    ("Df", "kodik", "pre_tool", "exit", "none", "hook-failed"),
    ("Dg", "kodik", "pre_tool", "timed_out", "none", "hook-timed-out"),
    ("A-15", "agenthooks", "pre_tool", "not_started", "none", "hook-not-started"),
    ("A-24", "agenthooks", "pre_tool", "exit", "none", "hook-failed"),
    ("A-24 a signal", "agenthooks", "pre_tool", "signalled", "none", "hook-signalled"),
    ("A-31", "agenthooks", "pre_tool", "output", "none", "hook-output-invalid"),
    ("A-36, Aq", "agenthooks", "pre_tool", "timed_out", "none", "hook-timed-out"),
    ("G-32", "kolega", "pre_tool", "not_started", "none", "hook-not-started"),
    ("G-36", "kolega", "pre_tool", "exit", "none", "hook-failed"),
    ("G-53", "kolega", "pre_tool", "timed_out", "none", "hook-timed-out"),
    ("Gf", "kolega", "pre_tool", "output", "none", "hook-output-invalid"),
    ("L-38, Lq", "kodelet", "pre_tool", "exit", "none", "hook-failed"),
    ("L-39", "kodelet", "pre_tool", "timed_out", "none", "hook-timed-out"),
    ("L-41", "kodelet", "pre_tool", "output", "none", "hook-output-invalid"),
]  # fmt: skip


@each_of(("row", "name", "event", "cause", "verdict", "code"), NATIVE)
def test_what_a_failure_means_to_its_dialect(
    row: str, name: str, event: str, cause: Cause, verdict: Verdict, code: str
) -> None:
    found = counted(name, event, failure(cause))
    assert found.verdict == verdict, row
    assert bool(found.reason) == (verdict == "block"), row
    assert [(problem.code, problem.where) for problem in found.problems] == [(code, hook_of(name, event).where())], row
    assert all(problem.fix for problem in found.problems), "and what helps"


def test_a_missing_program_of_kode_may_pass_by_a_setting() -> None:
    """Ke: one clearly named policy switch."""
    found = counted("kode", "pre_tool", failure("not_started"), settings={"missing_binary": "pass"})
    assert found.verdict == "none"
    assert [problem.code for problem in found.problems] == ["KODE-HOOK-004"]


@each_of(
    ("cause", "code"), [("timed_out", "KODE-HOOK-001"), ("output", "KODE-HOOK-003"), ("not_started", "KODE-HOOK-004")]
)
def test_kode_shows_its_errors_to_the_user(cause: Cause, code: str) -> None:
    """K-31."""
    found = counted("kode", "pre_tool", failure(cause))
    assert [text.partition(":")[0] for text in found.messages] == [code]


def test_a_block_of_kode_has_its_own_id() -> None:
    """K-28, Kb."""
    found = counted("kode", "pre_tool", Outcome.block("no"))
    assert (found.verdict, found.reason) == ("block", "no")
    assert [problem.code for problem in found.problems] == ["KODE-HOOK-002"]
    assert ["KODE-HOOK-002" in text and "no" in text for text in found.messages] == [True]


@pytest.mark.parametrize("name", DIALECTS)
def test_the_posture_of_the_caller(name: str) -> None:
    """`deny` and `allow` override what a broken hook means, in every dialect and for every event that can be
    blocked."""
    for row in dialect(name).events:
        for cause in FAILURES:
            denied, allowed = (
                judge(hook_of(name, row.canonical[0]), dialect(name), row, failure(cause), posture, {})
                for posture in ("deny", "allow")
            )
            assert denied.verdict == ("none" if row.block is None else "block"), (row.native, cause)
            assert allowed.verdict == "none", (row.native, cause)
            assert len(denied.problems) == len(allowed.problems) == 1, "either way it is said, once"
        waited = judge(hook_of(name, row.canonical[0]), dialect(name), row, failure("cancelled"), "deny", {})
        assert waited.verdict == "none", f"{row.native}: nobody waits for it any more"


@pytest.mark.parametrize("name", DIALECTS)
def test_no_posture_changes_what_a_hook_said(name: str) -> None:
    said = (Outcome.block("no"), Outcome(verdict="ask", reason="?"), Outcome(verdict="allow"), Outcome(context=("c",)))
    for row in dialect(name).events:
        hook = hook_of(name, row.canonical[0])
        for outcome in said:
            native, denied, allowed = (
                judge(hook, dialect(name), row, outcome, posture, {}) for posture in ("native", "deny", "allow")
            )
            assert native == denied == allowed, (row.native, outcome.verdict)
            if row.block is not None:
                assert (native.verdict, native.reason) == (outcome.verdict, outcome.reason)


CANNOT: list[tuple[str, str, str]] = [
    ("L-17, Lt", "kodelet", "post_tool"),
    ("Lt", "kodelet", "stop"),
    ("L-23", "kodelet", "step_end"),
]


@each_of(("row", "name", "event"), CANNOT)
def test_what_cannot_block_does_not_and_says_so(row: str, name: str, event: str) -> None:
    found = counted(name, event, Outcome.block("no"))
    assert (found.verdict, found.reason) == ("none", None), row
    assert [problem.code for problem in found.problems] == ["cannot-block"], row


DOUBTED: list[tuple[str, str, Posture, Verdict]] = [
    ("kodik", "pre_tool", "deny", "block"),
    ("kodik", "pre_tool", "native", "none"),
    ("kodik", "pre_tool", "allow", "none"),
    ("kolega", "user_prompt_submit", "deny", "block"),
    ("kodik", "post_tool", "deny", "none"),  # feedback: not a gate
    ("kode", "session_end", "deny", "none"),  # advisory: not a gate
]


@each_of(("name", "event", "posture", "verdict"), DOUBTED)
def test_deny_closes_a_gate_on_an_answer_that_is_no_clear_yes(
    name: str, event: str, posture: Posture, verdict: Verdict
) -> None:
    """Contract, section 8. An event is a gate if a block has an effect other than `advisory` and `feedback`."""
    found = counted(name, event, Outcome(doubt="it printed half an object", messages=("m",)), posture)
    assert found.verdict == verdict
    assert found.messages[:1] == ("m",)
    if verdict == "block":
        assert "half an object" in str(found.reason)


def test_a_refused_stop_of_kimi_is_a_notice() -> None:
    """A-37, quoted from the document."""
    found = counted("agenthooks", "stop", Outcome.block("Tests must pass before completing"))
    assert found.context == ("[Hook blocked stop: Tests must pass before completing]",)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_failure_keeps_what_was_said_beside_it(name: str) -> None:
    """Law 2: a failure has one cause, and removes nothing else."""
    broken = failure("exit").replace(messages=("heard",))
    for row in dialect(name).events:
        found = judge(hook_of(name, row.canonical[0]), dialect(name), row, broken, "native", {})
        assert found.messages[:1] == ("heard",)
        assert len(found.problems) == 1
