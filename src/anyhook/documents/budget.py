"""Budget: how much of a project is read before its hooks are left out. A project can contain anything, and an agent
waits while it is read, so all of it together has a limit."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, process_time

from anyhook.model.problem import ERROR, Problem

BYTES, HASHED, VALUES, HOOKS, NAMES, LOOKS, PROBLEMS = (
    "bytes", "hashed", "values", "hooks", "names", "looks", "problems"
)  # fmt: skip
LIMITS = {
    BYTES: 20 * 1024 * 1024,
    HASHED: 512 * 1024 * 1024,
    VALUES: 500_000,
    HOOKS: 30_000,
    NAMES: 40_000,
    LOOKS: 100_000,
    PROBLEMS: 10_000,
}
"""Enough for 3,000 hook files of ordinary size and 16 MB, with some to spare. In the worst case, all of it takes a few
seconds."""
UNITS = {
    BYTES: "bytes of hook files",
    HASHED: "bytes of scripts and programs that hooks name",
    VALUES: "values in YAML files",
    HOOKS: "hooks",
    NAMES: "names in folders of hooks",
    LOOKS: "paths to look at",
    PROBLEMS: "problems in hook files",
}
MAX_CPU_S = 20.0
"""A safety net for content that is expensive in an unexpected way. It is CPU time, so that a busy machine does not
matter."""


class TooLarge(BaseException):
    """The project is too large to read. It is not an Exception, so that no `except Exception` in between treats it as
    the failure of one file. The code that creates a Budget catches it."""

    def __init__(self, what: str, where: str, lasting: bool) -> None:
        super().__init__(what)
        self.what, self.where, self.lasting = what, where, lasting

    def problem(self) -> Problem:
        return Problem(
            "project-too-large",
            "this project's hooks are off: there is more to read than an agent can wait for",
            self.where,
            self.what,
            "In this folder, remove files that are not hook files, or make it smaller.",
            ERROR,
        )


class Budget:
    """What one project may cost. Costs are charged in advance if they are known."""

    def __init__(
        self,
        by_s: float | None = None,
        limits: dict[str, int] = LIMITS,
        cpu: Callable[[], float] = process_time,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.by_s, self.limits = by_s, limits
        self.spent = dict.fromkeys(limits, 0)
        self.place = ""
        """The current source."""
        self.exceeded: TooLarge | None = None
        """Stays set, even if someone swallows the exception."""
        self._by_place: dict[str, dict[str, int]] = {}
        self._cpu, self._clock = cpu, clock
        self._cpu_begun_s = cpu()

    def charge(self, kind: str, amount: int = 1) -> None:
        """Count a cost. Raises TooLarge if that is too much, and for every call after that."""
        if self.exceeded is not None:
            raise self.exceeded
        spent = self.spent[kind] = self.spent[kind] + amount
        here = self._by_place.setdefault(self.place, {})
        here[kind] = here.get(kind, 0) + amount
        if spent > self.limits[kind]:
            self._refuse(f"more than {self.limits[kind]:,} {UNITS[kind]}", self._largest(kind), lasting=True)
        if self._cpu() - self._cpu_begun_s > MAX_CPU_S:
            self._refuse(f"reading it takes more than {MAX_CPU_S:g} s", self.place, lasting=True)
        if self.by_s is not None and self._clock() > self.by_s:
            self._refuse("reading it takes more than half of the agent's time limit", self.place, lasting=False)

    def _largest(self, kind: str) -> str:
        return max(self._by_place, key=lambda place: self._by_place[place].get(kind, 0))

    def _refuse(self, what: str, where: str, lasting: bool) -> None:
        self.exceeded = TooLarge(what, where, lasting)
        raise self.exceeded
