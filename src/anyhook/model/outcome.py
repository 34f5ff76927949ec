"""Outcome: what one hook's run asks for, or the one cause of its failure."""

from __future__ import annotations

from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.model.words import ALLOW, ASK, BLOCK, NONE, VERDICTS, Cause, Effect, Verdict

__all__ = ["ALLOW", "ASK", "BLOCK", "EFFECTS", "NONE", "SILENT", "STOPPING", "STRENGTH", "Failure", "Outcome"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

STRENGTH: dict[str, int] = {verdict: strength for strength, verdict in enumerate(VERDICTS)}

# What a block does, weakest first: where two dialects block the same event, the stronger effect is the decision's.
EFFECTS: tuple[Effect, ...] = (
    "advisory",
    "feedback",
    "keep_working",
    "skip",
    "deny_permission",
    "deny_tool",
    "end_turn",
    "abort",
)
STOPPING = frozenset(EFFECTS) - {"advisory", "feedback"}
"""Effects that keep something from happening; the other two come too late, or only inform."""


class Failure(Record):
    """A hook that failed: the cause as one word, and a text for people."""

    cause: Cause
    detail: str
    refuses: bool = False
    """Whether the dialect reads the exit status of such a run as a refusal."""


class Outcome(Record):
    """The effects of one run. Absent effects are None or empty; silence is `none`, never `allow`."""

    verdict: Verdict = NONE
    reason: str | None = None
    tool_input: dict[str, Json] | None = None
    tool_output: Json = None
    prompt: str | None = None
    context: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    history: list[dict[str, str]] | None = None
    recipe: dict[str, Json] | None = None
    end_turn: bool = False
    failure: Failure | None = None
    problems: tuple[Problem, ...] = ()
    spoke: bool = False
    """Whether it answered with an object, even an empty one."""
    doubt: str = ""
    """Why its answer is not a clear yes in its dialect; counts if failures have to block."""

    @classmethod
    def block(cls, reason: str) -> Outcome:
        """For hooks written in Python: block the event, and say why."""
        return cls(verdict=BLOCK, reason=reason)


SILENT = Outcome()
