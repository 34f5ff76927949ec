"""Patterns that are compiled when they are first used: a module may hold many, and most calls use few. Compiling all
that read command lines would take a tenth of a call that no server answers."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


class _Pattern:
    """Becomes what `re.compile` makes, method by method."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def later(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The same as `re.compile`, later. For constants of modules."""
    return _Pattern(text, flags)  # type: ignore[return-value]
