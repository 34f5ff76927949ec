"""Wildcards: `*`, `?` and `[…]` in one name, `**` across folders, alternatives. Without regular expressions: importing
`re` takes longer than all of the matching."""

from __future__ import annotations

SIGNS = "*?["
MAX_ALTERNATIVES = 200


def alternatives(word: str) -> tuple[str, ...]:
    """Expand `a|b` and `x{a,b}`."""
    made: list[str] = []
    for part in _split(word, "|"):
        made.extend(_braces(part))
        if len(made) > MAX_ALTERNATIVES:
            return (word,)
    return tuple(made)


def _split(word: str, sign: str) -> list[str]:
    """Split at the signs outside braces and brackets."""
    parts, depth = [""], 0
    for char in word:
        depth += (char in "{[") - (char in "}]")
        if char == sign and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts if all(parts) else [word]


def _braces(word: str) -> list[str]:
    start = word.find("{")
    depth = 0
    for end in range(start, len(word)) if start >= 0 else ():
        depth += (word[end] == "{") - (word[end] == "}")
        if depth == 0:
            choices = _split(word[start + 1 : end], ",")
            if len(choices) < 2:
                break
            return [f"{word[:start]}{choice}{rest}" for choice in choices for rest in _braces(word[end + 1 :])]
    return [word]


def is_plain(pattern: str) -> bool:
    return not any(sign in pattern for sign in SIGNS)


def spelled(name: str) -> str:
    """The one spelling of a rule's name: blanks and hyphens are the same."""
    return " ".join(name.replace("-", " ").split())


def names_rule(wanted: str, names: tuple[str, ...] | list[str]) -> bool:
    """Whether what a person wrote is one of a rule's names, or a pattern for one."""
    plain = spelled(wanted)
    return any(like(wanted, name) or like(plain, spelled(name)) for name in names)


def like(pattern: str, text: str) -> bool:
    """Whether a pattern matches a name; `*` matches any characters, including slashes."""
    if pattern in ("*", text):
        return True
    head, middle, tail = PIECES_OF.get(pattern) or _known_pieces(pattern)
    if not text.startswith(head) or not text.endswith(tail) or len(text) < len(head) + len(tail):
        return False
    if middle is None:
        return _by_signs(pattern, text)
    if not middle:
        return pattern != head
    at, end = len(head), len(text) - len(tail)
    for piece in middle:
        at = text.find(piece, at, end) + len(piece)
        if at < len(piece):
            return False
    return True


def may_match(pattern: str, texts: str) -> bool:
    """Whether a pattern can match one of several texts, given as one."""
    head, middle, tail = _known_pieces(pattern)
    return head in texts and tail in texts and all(piece in texts for piece in middle or ())


def _known_pieces(pattern: str) -> tuple[str, tuple[str, ...] | None, str]:
    known = PIECES_OF.get(pattern)
    if known is None:
        if len(PIECES_OF) >= MAX_PIECES:
            PIECES_OF.clear()
        known = PIECES_OF[pattern] = _pieces(pattern)
    return known


PIECES_OF: dict[str, tuple[str, tuple[str, ...] | None, str]] = {}
"""Patterns, and what every match begins with, contains in this order, and ends with. The middle is None if it has other
wildcards than stars."""
MAX_PIECES = 4_096


def _pieces(pattern: str) -> tuple[str, tuple[str, ...] | None, str]:
    if "?" not in pattern and "[" not in pattern:
        head, *rest = pattern.split("*")
        return head, tuple(filter(None, rest[:-1])), rest[-1] if rest else ""
    start = min(pattern.find(sign) for sign in SIGNS if sign in pattern)
    end = max(pattern.rfind(sign) for sign in f"{SIGNS}]") + 1
    return pattern[:start], None, pattern[end:]


def _by_signs(pattern: str, text: str) -> bool:
    at = place = 0
    star, resumed = -1, 0
    while place < len(text):
        step = _one(pattern, at, text[place]) if at < len(pattern) and pattern[at] != "*" else 0
        if step:
            at += step
            place += 1
        elif at < len(pattern) and pattern[at] == "*":
            star, resumed = at, place
            at += 1
        elif star >= 0:  # the last star matches one more character
            resumed += 1
            at, place = star + 1, resumed
        else:
            return False
    return not pattern[at:].strip("*")


def _one(pattern: str, at: int, char: str) -> int:
    """How many characters of the pattern match this one; 0 if they do not."""
    sign = pattern[at]
    if sign == "?":
        return 1
    end = pattern.find("]", at + 2) if sign == "[" else -1
    if end < 0:
        return int(sign == char)
    inside = pattern[at + 1 : end]
    negated = inside[:1] in ("!", "^")
    inside = inside[negated:]
    found = False
    for place, low in enumerate(inside):
        if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
            found = found or low <= char <= inside[place + 2]
        found = found or low == char
    return end + 1 - at if found != negated else 0


def any_like(patterns: tuple[str, ...], text: str) -> bool:
    """Whether one of the patterns matches a name."""
    for pattern in patterns:  # called for every program and every rule, and nearly all are plain names
        if pattern == text:
            return True
        if ("*" in pattern or "?" in pattern or "[" in pattern) and like(pattern, text):
            return True
    return False


def path_like(pattern: tuple[str, ...], path: list[str]) -> bool:
    """The same for paths, part by part: a part of the pattern matches one part of the path, `**` any number."""
    at = place = 0
    star, resumed = -1, 0
    while place < len(path):
        if at < len(pattern) and pattern[at] == "**":
            star, resumed = at, place
            at += 1
        elif at < len(pattern) and like(pattern[at], path[place]):
            at += 1
            place += 1
        elif star >= 0:
            resumed += 1
            at, place = star + 1, resumed
        else:
            return False
    return all(part == "**" for part in pattern[at:])
