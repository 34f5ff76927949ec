"""What a problem code is, and the groups that the error page lists them in."""

from __future__ import annotations

from anyhook.model.record import Record


class Code(Record):
    """What one code stands for."""

    group: str
    """The section of the error page that lists it."""
    severity: str
    """The severity that `check` shows. While hooks run, a value in `CORRECTED` is only a warning."""
    meaning: str
    """Why this is a problem, in one sentence."""
    fix: str
    """What to do, where the problem itself does not say."""


FILE, ENTRY, COMMAND, PLACE, ANSWER, RUN, OWN = "file", "entry", "command", "place", "answer", "run", "own"

GROUPS = {
    FILE: "Hook files that cannot be read",
    ENTRY: "Declarations that are wrong or do nothing",
    COMMAND: "Commands that would not start",
    PLACE: "Files in the wrong place, and hooks that hide each other",
    RUN: "Hooks that failed while they ran",
    ANSWER: "Answers that could not be used",
    OWN: "Our own files and options",
}
