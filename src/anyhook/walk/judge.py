"""Judge: what one outcome means under a posture. A failure becomes a block or nothing, by the dialect's rule or
the caller's; an effect that the event cannot have is dropped, with a problem. It never looks at another hook."""

from __future__ import annotations

from anyhook.model.outcome import BLOCK, NONE, STOPPING, Failure, Outcome
from anyhook.model.problem import ERROR, WARNING, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.hook import Hook
    from anyhook.model.words import Cause
    from anyhook.tables.rows import Dialect, EventRow

GATING = STOPPING - {"keep_working"}
"""What a hook that cannot be started stops, where its dialect fails closed: never the end of the agent's work."""
CODES: dict[Cause, str] = {
    "timed_out": "hook-timed-out",
    "signalled": "hook-signalled",
    "not_started": "hook-not-started",
    "overflowed": "hook-overflowed",
    "exit": "hook-failed",
    "output": "hook-output-invalid",
    "cancelled": "hook-cancelled",
}
FIXES = {
    "timed_out": "Make it faster, or raise its limit.",
    "not_started": "Check the path, the execute permission and the first line of the script.",
    "output": "Print one JSON object on stdout, or nothing. Print other messages on stderr.",
}
ASKED_FIXES = {
    "not_started": "Name a model with --model PROVIDER:NAME or under [models] in config.toml; see docs/config.md.",
    "exit": "Check the model's name, its endpoint and its key.",
    "output": "Let the prompt ask for nothing but the decision, or choose a model that answers with JSON.",
}
POSTED_FIXES = {
    "exit": "Check the address, and what answers there.",
    "output": "Let it answer with one JSON object, or with nothing.",
}
HANDLER_FIXES = {"prompt": ASKED_FIXES, "agent": ASKED_FIXES, "http": POSTED_FIXES}
"""What else helps where no program of the user's was run."""


def judge(
    hook: Hook, dialect: Dialect, row: EventRow, outcome: Outcome, posture: str, settings: Mapping[str, str]
) -> Outcome:
    """The outcome as it counts."""
    if outcome.failure is not None:
        return _failed(hook, dialect, row, outcome, posture, settings)
    if outcome.verdict != BLOCK:
        if outcome.doubt and posture == "deny" and row.block in STOPPING:
            doubted = Outcome(failure=Failure("output", outcome.doubt), problems=outcome.problems, spoke=outcome.spoke)
            return _failed(hook, dialect, row, doubted.replace(messages=outcome.messages), posture, settings)
        return outcome
    if row.block is None:
        problem = Problem(
            "cannot-block",
            f"a hook of {row.native} cannot block; the block is ignored",
            hook.where(),
            fix="Move it to an event that can be blocked.",
            severity=WARNING,
        )
        return outcome.replace(verdict=NONE, reason=None, problems=(*outcome.problems, problem))
    if row.notice:
        outcome = outcome.replace(context=(*outcome.context, row.notice.format(reason=outcome.reason)))
    code = dialect.failing.codes.get("blocked")
    if code is None:
        return outcome
    problem = Problem(
        code,
        f"hook `{hook.name}` blocked {row.native}",
        hook.where(),
        outcome.reason or "",
        "Do what it asks for, or turn it off with `anyhook disable`.",
    )
    return outcome.replace(problems=(*outcome.problems, problem), messages=(*outcome.messages, _banner(problem)))


def _failed(
    hook: Hook, dialect: Dialect, row: EventRow, outcome: Outcome, posture: str, settings: Mapping[str, str]
) -> Outcome:
    failure = outcome.failure
    assert failure is not None  # noqa: S101 (the caller looked)
    cause = failure.cause
    failing = dialect.failing
    native = (
        failure.refuses
        or cause in failing.blocks
        or (failing.strict and hook.spec.get(failing.strict) in (True, "block"))
        or (cause in failing.gates_only and row.block in GATING and settings.get("missing_binary") != "pass")
    )
    blocks = (
        {"native": native, "deny": True, "allow": False}[posture] and row.block is not None and cause != "cancelled"
    )
    own_code = failing.codes.get(cause)
    fixes = FIXES | HANDLER_FIXES.get(hook.handler, {})
    meaning = "so it blocks" if blocks else "so the action goes on"
    rule = "the dialect's rule" if posture == "native" else f"--on-failure {posture}"
    problem = Problem(
        own_code or CODES[cause],
        f"hook `{hook.name}` failed on {row.native}: {failure.detail}",
        hook.where(),
        f"{rule}, {meaning}",
        fixes.get(cause, "Run it by hand with the payload that `anyhook explain` shows."),
        ERROR,
    )
    messages = (*outcome.messages, _banner(problem)) if own_code else outcome.messages
    return outcome.replace(
        verdict=BLOCK if blocks else NONE,
        reason=f"{hook.name}: {failure.detail}" if blocks else None,
        problems=(*outcome.problems, problem),
        messages=messages,
    )


def _banner(problem: Problem) -> str:
    """The error as its product shows it: id and sentence first, details below."""
    details = "".join(f"\n  {line}" for line in problem.why.splitlines())
    return f"{problem.code}: {problem.what}{details}"
