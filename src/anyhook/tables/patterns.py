"""Patterns that users write in their matchers, with limits on time and memory. They are never passed to the standard
`re`.

The engine is the `regex` package, because it can stop after a time limit. It is imported only for a pattern that is
more than plain names, as importing it costs more than reading a whole configuration.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import regex

    from anyhook.model.json_types import Json

MATCH_LIMIT_S = 0.1
LENGTH_LIMIT = 10_000
SIZE_LIMIT = 50_000
"""The size after unrolling: the engine expands `(…){9}` nine times, so ten nested groups of this kind would use all
memory."""

_SIGNS = frozenset("\\.^$*+?{}[]()")
_COUNTED = r"\{([0-9]*)(?:,[0-9]*)?\}"
_VERBOSE = r"\(\?[A-Za-z]*x"


class BadPattern(Exception):  # noqa: N818 - a property of the pattern, not a fault of the program
    """Why a pattern cannot be used; `position` is where in it, from 0, if it is one place."""

    def __init__(self, what: str, position: int | None = None) -> None:
        super().__init__(what, position)
        self.what = what
        self.position = position

    def __str__(self) -> str:
        return self.what if self.position is None else f"{self.what} (at position {self.position})"


class PatternTimeout(Exception):  # noqa: N818 - an outcome that callers decide on, not a fault of the program
    """A pattern took longer than MATCH_LIMIT_S on one text."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.pattern = pattern
        self.what = f"the pattern {pattern!r} took longer than {MATCH_LIMIT_S} s"

    def __str__(self) -> str:
        return self.what


class Pattern:
    """One usable pattern. Both methods raise PatternTimeout after MATCH_LIMIT_S."""

    __slots__ = ("_engine", "_names", "text")

    def __init__(self, text: str, names: frozenset[str] | None, engine: regex.Pattern[str] | None) -> None:
        self.text = text
        self._names = names
        self._engine = engine

    def fullmatch(self, text: str) -> bool:
        """Whether the pattern matches the whole text; each alternative must match all of it."""
        if self._engine is None:
            return self._names is not None and text in self._names
        try:
            return self._engine.fullmatch(text, timeout=MATCH_LIMIT_S) is not None
        except TimeoutError:
            raise PatternTimeout(self.text) from None

    def search(self, text: str) -> bool:
        """Whether the pattern matches some part of the text."""
        if self._engine is None:
            return self._names is not None and any(name in text for name in self._names)
        try:
            return self._engine.search(text, timeout=MATCH_LIMIT_S) is not None
        except TimeoutError:
            raise PatternTimeout(self.text) from None

    def every(self, text: str) -> list[str]:
        """All parts of the text that match."""
        if self._engine is None:
            return [name for name in self._names or () for _ in range(text.count(name))]
        try:
            return [found[0] for found in self._engine.finditer(text, timeout=MATCH_LIMIT_S)]
        except TimeoutError:
            raise PatternTimeout(self.text) from None


def names_only(pattern: str) -> frozenset[str] | None:
    """The names of a pattern such as `Edit|Write`, without special characters; None for all others."""
    if not _SIGNS.isdisjoint(pattern):
        return None
    names = frozenset(pattern.split("|"))
    return None if "" in names else names


MAX_COMPILED = 500


class Known:
    """The patterns that were compiled. They cannot change, and the same few are asked at every call."""

    def __init__(self) -> None:
        self.patterns: dict[str, Pattern] = {}


known = Known()


def compile_pattern(pattern: str) -> Pattern:
    """The compiled pattern; raises BadPattern if it cannot be used."""
    found = known.patterns.get(pattern)
    if found is None:
        found = _compiled(pattern)
        if len(known.patterns) >= MAX_COMPILED:
            known.patterns.clear()
        known.patterns[pattern] = found
    return found


def _compiled(pattern: str) -> Pattern:
    if len(pattern) > LENGTH_LIMIT:
        raise BadPattern(f"the pattern is longer than {LENGTH_LIMIT:,} characters")
    names = names_only(pattern)
    if names is not None:
        return Pattern(pattern, names, None)
    import regex

    _bound(pattern)
    text, added = _literal_braces(pattern)
    try:
        return Pattern(pattern, None, regex.compile(text, regex.VERSION0))
    except regex.error as error:
        at: int | None = getattr(error, "pos", None)
        position = None if at is None else at - sum(place < at for place in added)
        raise BadPattern(str(getattr(error, "msg", error)), position) from None
    except ValueError as error:  # flags that cannot be combined
        raise BadPattern(str(error)) from None
    except RecursionError:
        raise BadPattern("the pattern is nested too deeply") from None


def needed_texts(pattern: str) -> tuple[str, ...]:
    """Texts in lower case, one of which is in every ASCII text that the pattern matches; () if none are known. They
    rule out nearly everything without the engine, which takes long to load."""
    try:
        from re import _parser  # type: ignore[attr-defined] # without it, nothing is ruled out

        return _needed(_parser.parse(pattern))
    except Exception:  # noqa: BLE001 (the engine understands more)
        return ()


def _needed(items: Iterable[tuple[object, Any]]) -> tuple[str, ...]:
    """For a sequence: the longest texts that one of its parts needs."""
    found: list[tuple[str, ...]] = []
    text = ""
    for sign, given in items:
        if str(sign) == "LITERAL" and given < 128:
            text += chr(given).lower()
        else:
            found += [(text,), _needed_by(str(sign), given)]
            text = ""
    usable = [texts for texts in (*found, (text,)) if texts and all(texts)]
    return max(usable, key=lambda texts: min(map(len, texts)), default=())


def _needed_by(sign: str, given: Any) -> tuple[str, ...]:
    if sign in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _needed(given[-1] if sign == "SUBPATTERN" else given)
    if sign in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _needed(given[2]) if given[0] > 0 else ()
    if sign == "BRANCH":
        return tuple(dict.fromkeys(text for choice in given[1] for text in _needed(choice) or ("",)))
    return ()


def _literal_braces(pattern: str) -> tuple[str, list[int]]:
    """The pattern with braces escaped that are not counts, as in other engines: this one reads `{i}` as "match
    approximately" and `{id}` as an error. Also returns where backslashes were added."""
    import re

    if "{" not in pattern:
        return pattern, []
    added: list[int] = []

    def literal(found: re.Match[str]) -> str:
        if found[0] != "{":
            return found[0]
        added.append(found.start() + len(added))
        return "\\{"

    pieces = r"\\[pPN]\{[^{}]*\}|\\.|\{[0-9]+(?:,[0-9]*)?\}|\{,[0-9]*\}|\{"
    return re.sub(pieces, literal, pattern, flags=re.DOTALL), added


def _bound(pattern: str) -> None:
    """Refuses a pattern that would be too large when unrolled. Only a repeat right after a `)` can repeat other
    repeats, so those are multiplied and all others added: an upper bound that is exact enough in practice."""
    import re

    if "{" not in pattern:
        return
    spread = re.search(_VERBOSE, pattern) is not None
    size, times = len(pattern), 1
    for found in re.finditer(_COUNTED, pattern):
        digits = found[1].lstrip("0")
        fewest = int(digits or 0) if len(digits) < 9 else SIZE_LIMIT
        if spread or pattern[found.start() - 1 : found.start()] == ")":
            times *= max(fewest, 1)
        else:
            size += fewest
        if size * times > SIZE_LIMIT:
            raise BadPattern("its counted repeats are too large together", found.start())


def can_never_match(pattern: str) -> str | None:
    """Why this pattern cannot match any tool's whole name; None if that is not certain, and for `` and `*` (all)."""
    import re

    if pattern in ("", "*") or re.search(_VERBOSE, pattern):
        return None
    if re.fullmatch(r"/.+/[a-z]*", pattern, re.DOTALL):
        return "the slashes are part of the pattern, and no tool name has them at its ends; write it without them"
    reasons = [_never(choice) for choice in _choices(pattern)]
    return reasons[0] if reasons and None not in reasons else None


def _choices(pattern: str) -> list[str]:
    """The alternatives on the top level; empty if the brackets are not closed."""
    import re

    choices, start, depth = [], 0, 0
    for found in re.finditer(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*+\]|[()|]", pattern, re.DOTALL):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found[0] == "|" and depth == 0:
            choices.append(pattern[start : found.start()])
            start = found.end()
    return [*choices, pattern[start:]] if depth == 0 else []


def _never(choice: str) -> str | None:
    import re

    if choice in ("", "^", "$", "^$", "()", "(?:)"):
        return "it matches an empty name only"
    if re.match(r"\^?/(?![?*{])", choice):
        return "no tool name begins with a slash"
    if re.match(r"\^?\s(?![?*{])", choice) or re.search(r"\s\$?\Z", choice):
        return "a space at its end or beginning is part of the pattern, and no tool name has one there"
    if not _SIGNS.isdisjoint(choice) and re.search(r"[\\\[\](){}]", choice):
        return None
    if re.search(r"\w\^(?![?*])", choice):
        return "nothing can stand before the beginning (^)"
    if re.search(r"\$\w(?![?*])", choice):
        return "nothing can follow the end ($)"
    if _SIGNS.isdisjoint(choice) and re.search(r"[\s,]", choice):
        return "no tool name has a space or a comma; several names are joined with |"
    return None


def check_pattern(pattern: Json) -> str | None:
    """What is wrong with a matcher that is text, or None."""
    if pattern is None:
        return None
    if not isinstance(pattern, str):
        return f"a matcher must be text, not {pattern!r}"
    if pattern.strip() in ("", "*") or names_only(pattern) is not None:
        return None
    try:
        compile_pattern(pattern)
    except BadPattern as error:
        return f"the matcher {pattern!r} is not a valid pattern: {error.what}"
    return None
