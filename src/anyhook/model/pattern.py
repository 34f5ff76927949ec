"""Patterns that are compiled when they are first used: a module may hold many, and most calls use few. Compiling all
that read command lines would take a tenth of a call that no server answers, and importing `re` and `functools` alone as
much."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re as re  # noqa: PLC0414 (for modules that import it from here)
    from collections.abc import Callable
    from typing import Any, AnyStr, TypeVar, TypeVarTuple

    Given = TypeVarTuple("Given")
    Found = TypeVar("Found")
else:

    class _Re:
        """The module `re`, imported when it is first used, and not for a flag."""

        IGNORECASE, MULTILINE, DOTALL, ASCII, M, S = 2, 8, 16, 256, 8, 16

        def __getattr__(self, name):
            import re

            return getattr(re, name)

    re = _Re()


MAX_KNOWN = 1_000
"""How many answers are remembered."""


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


def cached(function: Callable[[*Given], Found]) -> Callable[[*Given], Found]:
    """Remembers what a function has found for the last arguments, which are positional."""
    known: dict[tuple[*Given], Found] = {}

    def found(*given: *Given) -> Found:
        try:
            return known[given]
        except KeyError:
            if len(known) >= MAX_KNOWN:
                known.clear()
            made = known[given] = function(*given)
            return made

    return found
