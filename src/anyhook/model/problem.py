"""Problem: something was ignored, broken or lost. Says what, where, why and how to fix it. A value, never raised."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.model.words import ERROR, WARNING, HookScope, Severity

__all__ = ["ERROR", "WARNING", "Problem"]


class Problem(Record):
    """What the user needs to know, and what to do about it."""

    code: str
    """Stable and listed in docs/errors.md; a dialect's own error id where its document has one."""
    what: str
    where: str = ""
    """A path, with `:line` where known, or the id of a hook."""
    why: str = ""
    fix: str = ""
    severity: Severity = ERROR
    dialect: str = ""
    scope: HookScope = ""
    """Whose hook file it is about, if it is about one."""
    event: str = ""
    """The event of the declaration that it is about, in the dialect's own words, where that is known."""

    def as_dict(self) -> dict[str, str]:  # type: ignore[override]  # texts alone
        """All five fields; the code's own meaning and fix if this problem has none."""
        why, fix = self.why, self.fix
        if not why or not fix:
            from anyhook.model.codes import CODES

            known = CODES.get(self.code)
            if known is not None:
                why, fix = why or known.meaning, fix or known.fix
        return {"code": self.code, "what": self.what, "where": self.where, "why": why, "fix": fix}

    def sentence(self) -> str:
        """One line for a person."""
        place = f"{self.where}: " if self.where else ""
        cause = f" ({self.why})" if self.why else ""
        fix = f" → {self.fix}" if self.fix else ""
        return f"{place}{self.what}{cause}{fix}"
