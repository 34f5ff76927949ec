"""The evidence of a run, and the result of each effect: one function per effect. It runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anyhook.engine.settle import WORDS
from anyhook.extra.live.drive import Request
from anyhook.extra.live.script import ASIDE
from anyhook.gates.observed import WORKS
from live.matrix import HEARD, NOTHING, STOPPED, UNASKED

OUTPUT = "OUTPUTOLD"
END_SAID = WORDS["end_turn", "context"].format("")
END_REASON = "refused by "
"""The start of the reason that anyhook gives if the hook that ended the turn gave none."""


@dataclass(frozen=True)
class Evidence:
    """The evidence that a run leaves behind."""

    files: frozenset[str]
    """Files in the project."""
    requests: tuple[Request, ...]
    shown: str
    """The agent's output."""
    fired: frozenset[str]

    @property
    def ran(self) -> bool:
        return "ran.txt" in self.files

    @property
    def over(self) -> bool:
        """Whether the turn ended before the model had finished."""
        return all(request.answered for request in self.requests)

    def told(self, word: str) -> bool:
        return any(word in request.text for request in self.requests)


Look = Callable[[Evidence], str]


def told(word: str) -> Look:
    return lambda seen: WORKS if seen.told(word) else NOTHING


def feedback(seen: Evidence) -> str:
    """A block after a tool: it tells the model and stops nothing."""
    return HEARD if seen.told("WORDREFUSED") else NOTHING


def heard(word: str) -> Look:
    """A message for people: whether it is printed anywhere."""
    return lambda seen: WORKS if word in seen.shown else HEARD if seen.told(word) else NOTHING


def stopped(seen: Evidence) -> str:
    return NOTHING if seen.ran else WORKS


def asked(seen: Evidence) -> str:
    """Without a person, an agent that asks refuses."""
    return NOTHING if seen.ran else STOPPED


def let_through(seen: Evidence) -> str:
    """A call that no hook allowed shows whether the agent asks at all."""
    return UNASKED if "not-asked.txt" in seen.files else WORKS if seen.ran else NOTHING


def denied(seen: Evidence) -> str:
    """Without an answer the agent refuses as well; the reason distinguishes the two."""
    return NOTHING if seen.ran or not seen.told("WORDREFUSED") else WORKS


def rewritten(seen: Evidence) -> str:
    return NOTHING if seen.ran else WORKS if "changed.txt" in seen.files else STOPPED


def replaced(seen: Evidence) -> str:
    if not seen.told("WORDOUTPUT"):
        return NOTHING
    texts = [request.text.replace(f"echo {OUTPUT}", "") for request in seen.requests]
    return HEARD if any(OUTPUT in text for text in texts) else WORKS


def ended(seen: Evidence) -> str:
    return WORKS if seen.over else HEARD if seen.told(END_REASON) else NOTHING


def ended_before(seen: Evidence) -> str:
    """The turn ends and the tool has not run, or at least the tool has not run."""
    return NOTHING if seen.ran else WORKS if seen.over else STOPPED


def unsent(seen: Evidence) -> str:
    if not seen.told("PROMPTOLD"):
        return WORKS
    return HEARD if seen.told("WORDREFUSED") else NOTHING


def unsent_by_end(seen: Evidence) -> str:
    if not seen.told("PROMPTOLD"):
        return WORKS
    return HEARD if seen.told(END_SAID) else NOTHING


def reworded(seen: Evidence) -> str:
    if not seen.told("PROMPTNEW"):
        return NOTHING
    return HEARD if seen.told("PROMPTOLD") else WORKS


def went_on(seen: Evidence) -> str:
    return WORKS if seen.told("WORDMORE") and len(seen.requests) > 2 else NOTHING


def kept_out(seen: Evidence) -> str:
    """A sub-agent's own call."""
    return NOTHING if "inside.txt" in seen.files else WORKS


def skipped(seen: Evidence) -> str:
    """Whether no compaction happened: one would have left its summary."""
    return NOTHING if seen.told(ASIDE) else WORKS
