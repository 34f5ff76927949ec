"""Not run: what counts for a hook that could not be asked, or whose gate is off."""

from __future__ import annotations

from anyhook.model.outcome import Failure, Outcome
from anyhook.model.problem import Problem
from anyhook.tables.isolation import error_line
from anyhook.walk.merge import ignore_block, judge, posture_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.walk.routes import HookStep
    from anyhook.walk.walk import Walk


def fail(walk: Walk, position: int, step: HookStep, error: Exception) -> None:
    """Our own code failed on this hook. The hook counts as broken, and the user gets a message."""
    left, walk.running = walk.running, None
    if left is not None:
        left.end("cancelled")
        left.wait(None)
    if not any(entry.position == position for entry in walk.entries):
        why = error_line(error)
        message = f"anyhook: hook `{step.hook.name}` could not be asked: {why}"
        count_as_broken(walk, position, step, f"anyhook failed while it was asked ({why})", (message,))


def count_as_broken(walk: Walk, position: int, step: HookStep, why: str, messages: tuple[str, ...] = ()) -> None:
    """Count a hook as broken that could not be asked, for example because its matcher failed."""
    outcome = Outcome(failure=Failure("not_started", why), messages=messages)
    outcome = judge(step.hook, step.dialect, step.row, outcome, posture_of(walk.context, step.hook), {})
    walk.report(step.hook, "broken", why, verdict=outcome.verdict)
    walk.take(position, step, outcome, upstream=False)


def refuse_as_off(walk: Walk, position: int, step: HookStep) -> None:
    """Refuse for a gate that is off, because the user's `off` setting says so."""
    hook, why = step.hook, "it is off, and `off` in the settings is `deny`"
    refusal = Outcome.block(step.closed_because)
    outcome = judge(hook, step.dialect, step.row, refusal, posture_of(walk.context, hook), {})
    problem = Problem("gate-off", f"`{hook.name}` is off, so what it guards is refused", hook.where(), hook.why)
    outcome = outcome.replace(problems=(*outcome.problems, problem))
    if step.dialect.name in walk.context.exhausted:
        outcome = ignore_block(hook, step.row, outcome)
    walk.report(hook, "untrusted" if not hook.trusted else "broken", hook.why or why, verdict=outcome.verdict)
    walk.take(position, step, outcome, upstream=False)
