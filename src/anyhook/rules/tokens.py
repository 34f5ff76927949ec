"""Split a condition into words, each with its column. This handles quotes, patterns between slashes, and brackets, but
not what the words mean."""

from __future__ import annotations

from anyhook.model.record import Record
from anyhook.rules.wildcards import alternatives

SIGNS = "*?[]|{},$@"
QUOTED = {ord(sign): 0xE000 + place for place, sign in enumerate(SIGNS)}
"""Special characters, and what replaces them inside quotes."""
PLAIN = {
    code: SIGNS[code - 0xE000] if sign not in map(ord, "*?[") else f"[{chr(sign)}]" for sign, code in QUOTED.items()
}
KEYWORDS = ("and", "or", "not", "unless")
BEFORE_PATTERN = ("saying", "adding", "matches")
"""After these, a word that starts with a slash is a pattern up to the closing slash."""


class BadCondition(Exception):  # noqa: N818 - a property of the condition, not a fault of the program
    """Why a condition cannot be used, at which column (from 1), and how to fix it."""

    def __init__(self, what: str, column: int, fix: str = "") -> None:
        super().__init__(what)
        self.what, self.column, self.fix = what, column, fix


class Token(Record):
    """One word or bracket."""

    text: str
    column: int
    bare: bool = True
    """Whether it has no quotes. Only then it can be a keyword or a bracket."""
    pattern: str = ""
    """The same, with quoted special characters replaced by `QUOTED`."""

    def is_word(self, *words: str) -> bool:
        return self.bare and self.text in words


def tokens(text: str) -> list[Token]:
    """The words in order; raises BadCondition if a quote or a pattern is not closed."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
        elif char in "()":
            found.append(Token(char, at + 1))
            at += 1
        elif char == "/" and found and found[-1].is_word(*BEFORE_PATTERN):
            end = _closing(
                text, at, "/", "this pattern is not closed", "End it with `/`; write `\\/` for a slash in it."
            )
            found.append(Token(text[at + 1 : end].replace("\\/", "/"), at + 1, bare=False))
            at = end + 1
        else:
            token, at = _word(text, at)
            found.append(token)
    return found


def _closing(text: str, at: int, quote: str, what: str, fix: str) -> int:
    end = at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" and quote == "/" else 1
    if end >= len(text):
        raise BadCondition(what, at + 1, fix)
    return end


def _word(text: str, at: int) -> tuple[Token, int]:
    """One word, with its quoted parts."""
    start, made, pattern, bare, open_brackets = at, "", "", True, 0
    while at < len(text) and not text[at].isspace():
        char = text[at]
        if char in "'\"":
            end = _closing(text, at, char, "this quote is not closed", f"End it with {char}.")
            made += text[at + 1 : end]
            pattern += text[at + 1 : end].translate(QUOTED)
            at, bare = end + 1, False
            continue
        if char == "(":
            open_brackets += 1
        elif char == ")":
            if not open_brackets:  # it closes a group, and the word ends before it
                break
            open_brackets -= 1
        made += char
        pattern += char
        at += 1
    return Token(made, start + 1, bare, pattern), at


def choices(token: Token) -> tuple[str, ...]:
    """The alternatives in a word; quoted characters are literal."""
    for opened, closed in ("[]", "{}"):
        if token.pattern.count(opened) != token.pattern.count(closed):
            what = f"`{opened}` and `{closed}` of `{token.text}` do not match"
            raise BadCondition(what, token.column, f"Close it, or quote it: '{opened}'.")
    return tuple(each.translate(PLAIN) for each in alternatives(token.pattern))
