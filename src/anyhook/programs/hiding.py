"""Secrets on command lines: which words are passwords. An option means a password to one program and a port to the
next, so the program's row says it. This finds places; whether a value there is a secret is decided in `journal`. It
works on any text that contains command lines, so it needs no grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anyhook.programs.rows import ProgramRow

Place = tuple[int, int]

PIPED = ("sudo -s", "--password-stdin", "chpasswd", "--with-token", "passphrase-fd 0", "passwd --stdin")
"""Commands that read a secret from what is piped into them."""
LOGINS = frozenset({"login", "auth", "signin", "authenticate"})
"""Sub-commands whose `-t` is a token, however plain."""
MAX_COMMAND = 4_096
"""How many characters of a command are looked at."""
_ENDS = frozenset("\n;|&")
_BETWEEN = frozenset(" \t")


def in_words(words: Sequence[str]) -> Iterator[Place]:
    """Of one command, the program first: which word may be a secret, and from which letter on."""
    row = _row(words)
    if row.hides_last and len(words) > 3 and any(_is_option(word, row.hides_last.split()) for word in words[1:]):
        yield len(words) - 1, 0
    if not row.hides_with or row.hides_with in words:
        for each in row.hides.split():
            yield from _behind(words, each, row.has("whole"))


def is_name_after_t(before: Sequence[str]) -> bool:
    """Whether what these words have after `-t` is a name, and no token."""
    return bool(before) and _row(before).has("tags")


def _row(words: Sequence[str]) -> ProgramRow:
    from anyhook.programs.table import row_of

    return row_of(words[0].rpartition("/")[2])


def _is_option(word: str, options: Sequence[str]) -> bool:
    return any(word == each or (len(each) == 2 and word[:1] == "-" and each[1] in word) for each in options)


def _behind(words: Sequence[str], hides: str, whole: bool) -> Iterator[Place]:
    """The words behind one option, or what follows it in its own word. `whole` options have no value in their word."""
    option = hides.rstrip(":=%,*") if hides[0] == "-" else hides
    sign = hides[len(option) :]
    glued = option[0] != "-" or (len(option) == 2 and not whole)
    for at, word in enumerate(words):
        if word == option or (glued and _bundles(word, option)):
            if sign != "*" and at + 1 < len(words):
                yield from _from_sign(at + 1, words[at + 1], sign, 0)
        elif word.startswith(option) and (glued or word[len(option)] == "="):
            yield from _from_sign(at, word, sign.strip("*"), len(option) + (not glued))


def _from_sign(at: int, word: str, sign: str, begin: int) -> Iterator[Place]:
    place = word.find(sign, begin)
    if place >= 0:
        yield at, place + len(sign)


def _bundles(word: str, option: str) -> bool:
    """Whether a word has more options before this one, as in `-sSu`."""
    return word[:1] == "-" and word[-1] == option[1] != word[1:2] and word[1:].isalpha()


def in_text(text: str, programs: Iterable[Place]) -> Iterator[Place]:
    """Start and end of what may be a secret in the commands of a text, which begin with these names."""
    done: dict[str, int] = {}
    for place, end in programs:
        name = text[place:end]
        if place < done.get(name, 0):
            continue
        spans = [(place, end), *word_spans(text, end, _quote_around(text, place))]
        for at, offset in in_words([text[a:b] for a, b in spans]):
            begin, stop = spans[at]
            yield _unquoted(text, begin + offset, stop)
        line_end = text.find("\n", end)  # a long line of nothing but programs is walked once
        done[name] = spans[-1][1] if line_end < 0 else min(spans[-1][1], line_end)


def after_t(text: str) -> Iterator[tuple[list[str], int, int]]:
    """The words after `-t`, as the next one, after `=`, or in the same one: what is before them, start and end."""
    place = text.find(" -t")
    while place >= 0:
        start = max([text.rfind(sign, 0, place) for sign in _ENDS]) + 1
        begins = place + 3 + (text[place + 3 : place + 4] in (" ", "="))
        before = text[max(start, place - MAX_COMMAND) : place].replace('"', " ").replace("\\n", "  ").split()
        for begin, end in word_spans(text, begins, _quote_around(text, place))[:1]:
            yield [word for word in before if word != "$"], *_unquoted(text, begin, end)
        place = text.find(" -t", place + 1)


def piped(text: str, low: str) -> Iterator[list[Place]]:
    """The words that an `echo` or a `printf` pipes into a command that reads a secret."""
    for reader in PIPED:
        place = low.find(reader)
        while place >= 0:
            pipe = text.rfind("|", 0, place)
            start = max(low.rfind("echo ", 0, max(pipe, 0)), low.rfind("printf ", 0, max(pipe, 0)))
            if pipe >= 0 and start >= 0 and pipe - start <= 400 and "\n" not in text[start:place]:
                spans = word_spans(text, low.find(" ", start), _quote_around(text, start))
                yield [_unquoted(text, a, b) for a, b in spans if text[a] != "-" and "%" not in text[a:b]]
            place = low.find(reader, place + 1)


def _quote_around(text: str, place: int) -> str:
    """The quote around a command, which ends it."""
    line = text[text.rfind("\n", max(0, place - MAX_COMMAND), place) + 1 : place][-MAX_COMMAND:]
    for quote in ("'", '"'):
        if line.count(quote) % 2:
            return quote
    return ""


def word_spans(text: str, place: int, around: str) -> list[Place]:
    """Start and end of the words up to the end of a command."""
    found: list[Place] = []
    start, quote = -1, ""
    limit = min(len(text), place + MAX_COMMAND)
    while place < limit:
        char = text[place]
        if quote:
            quote = "" if char == quote else quote
        elif char == around or char in _ENDS:
            break
        elif char in _BETWEEN or text.startswith("\\\n", place):
            if start >= 0:
                found.append((start, place))
            start, place = -1, place + (char == "\\")
        else:
            start = place if start < 0 else start
            quote = char if char in "'\"" else ""
        place += 1
    if start >= 0:
        found.append((start, place))
    return found


def _unquoted(text: str, begin: int, end: int) -> Place:
    """The same without the quotes around it."""
    if text[begin : begin + 1] in ("'", '"'):
        begin += 1
    if end > begin and text[end - 1] in "'\"\\":
        end -= 1
    return begin, end
