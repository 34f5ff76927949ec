"""What is left of a run, and what each effect came to by that: one function per effect. Nothing here runs anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anyhook.live.drive import Request
from anyhook.live.observed import HEARD, NOTHING, STOPPED, UNASKED, WORKS
from anyhook.live.script import ASIDE
from anyhook.walk.settle import WORDS

OUTPUT = "OUTPUTOLD"
END_SAID = WORDS["end_turn", "context"].format("")
END_REASON = "refused by "
"""How the reason begins that anyhook gives for an end whose hook gave none: the only hook of such a trial."""


@dataclass(frozen=True)
class Evidence:
    """What is left of a run."""

    files: frozenset[str]
    """In the project."""
    requests: tuple[Request, ...]
    shown: str
    """What the agent printed."""
    fired: frozenset[str]

    @property
    def ran(self) -> bool:
        return "ran.txt" in self.files

    @property
    def over(self) -> bool:
        """Whether the turn ended before the model had done."""
        return all(request.answered for request in self.requests)

    def told(self, word: str) -> bool:
        return any(word in request.text for request in self.requests)


Look = Callable[[Evidence], str]


def told(word: str) -> Look:
    return lambda seen: WORKS if seen.told(word) else NOTHING


def feedback(seen: Evidence) -> str:
    """After a tool a block tells the model and stops nothing."""
    return HEARD if seen.told("WORDREFUSED") else NOTHING


def heard(word: str) -> Look:
    """For people: what is printed at all."""
    return lambda seen: WORKS if word in seen.shown else HEARD if seen.told(word) else NOTHING


def stopped(seen: Evidence) -> str:
    return NOTHING if seen.ran else WORKS


def asked(seen: Evidence) -> str:
    """Without a person, an agent that asks refuses."""
    return NOTHING if seen.ran else STOPPED


def let_through(seen: Evidence) -> str:
    """Something that nobody spoke for shows whether the agent asks at all."""
    return UNASKED if "unasked.txt" in seen.files else WORKS if seen.ran else NOTHING


def denied(seen: Evidence) -> str:
    """Without an answer it is refused as well; the reason tells the two apart."""
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
    """A compaction would have left its summary."""
    return NOTHING if seen.told(ASIDE) else WORKS
