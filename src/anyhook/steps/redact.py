"""Redact: what looks like a secret in a line of JSON → a word that says so. It knows names of keys, shapes of tokens and
passwords in addresses, at any depth of JSON inside JSON. It never lengthens what it cannot name, never breaks the JSON, and
works without regular expressions: loading them would cost the path an agent waits on half an interpreter start."""

from __future__ import annotations

INSTEAD = "[redacted]"

KEYS = (
    "password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey",
    "access-key", "private_key", "privatekey", "private-key", "authorization", "credential", "cookie", "auth_key",
    "x-auth", "_auth", "signing_key", "encryption_key", "connectionstring", "connection_string",
)  # fmt: skip
"""Parts of names whose values are secrets."""
COUNTS = ("tokens", "token_count", "tokenize", "tokenizer", "secretary", "passwordless")
"""Names that only look like these."""

TOKENS = (
    ("sk-", 20), ("sk_live_", 16), ("sk_test_", 16), ("rk_live_", 16), ("pk_live_", 16), ("whsec_", 16),
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("gldt-", 16), ("xoxb-", 10), ("xoxp-", 10), ("xoxa-", 10), ("xoxr-", 10), ("xoxs-", 10), ("xapp-", 10),
    ("AKIA", 16), ("ASIA", 16), ("AIza", 30), ("ya29.", 20), ("eyJ", 30), ("npm_", 30), ("pypi-", 30), ("hf_", 20),
    ("dop_v1_", 30), ("SG.", 30), ("shpat_", 20), ("gsk_", 20), ("xai-", 20), ("dckr_pat_", 20), ("lin_api_", 20),
    ("sntrys_", 20), ("AGE-SECRET-KEY-1", 20), ("tskey-", 16), ("ATATT3", 20), ("r8_", 30), ("pplx-", 20),
)  # fmt: skip
"""How known tokens begin, and how many letters must follow at least."""
BEARER = ("bearer ", "basic ")
PEM, PEM_END = "-----BEGIN ", "PRIVATE KEY-----"

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_OF_TOKEN = _LETTERS | frozenset("_-.")
_OF_NAME = _LETTERS | frozenset("_-.")
_OF_BASE64 = _LETTERS | frozenset("_-.+/=~")
_ENDS_BARE = frozenset(" \t\"'\\,;&|<>(){}[]`")
_ENDS_ADDRESS = frozenset(" \t\"'\\/?#<>,;()[]{}`")


def redact(line: str) -> str:
    """The line without what looks like a secret; the very same line where nothing does."""
    low = line.lower()
    spans: list[tuple[int, int]] = []
    for key in KEYS:
        place = low.find(key)
        while place >= 0:
            _after_name(line, low, place, place + len(key), spans)
            place = low.find(key, place + len(key))
    for start, least in TOKENS:
        if start in line:
            _tokens(line, start, least, spans)
    for scheme in BEARER:
        if scheme in low:
            _schemes(line, low, scheme, spans)
    if "://" in line and "@" in line:
        _addresses(line, spans)
    if PEM in line:
        _pem_blocks(line, spans)
    return _without(line, spans) if spans else line


def _without(line: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end <= done:
            continue
        if start >= done:
            parts += (line[done:start], INSTEAD)
        done = end
    parts.append(line[done:])
    return "".join(parts)


def _run(line: str, place: int, letters: frozenset[str]) -> int:
    """Where the letters from here on end."""
    while place < len(line) and line[place] in letters:
        place += 1
    return place


# -- values by the names of their keys


def _after_name(line: str, low: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """The value that follows a name: `"name": "value"` at any depth, `NAME=value`, `--name value`."""
    if any(low.startswith(word, start) for word in COUNTS):
        return
    end = _run(line, end, _OF_NAME)
    option = (
        low[:start].rstrip("abcdefghijklmnopqrstuvwxyz0123456789_-").endswith((" ", '"', "'"))
        and "--" in low[max(0, start - 24) : start]
    )
    place, level = _quotes(line, end)
    gap = _blanks(line, place)
    if gap < len(line) and line[gap] in ":=":
        place = _blanks(line, gap + (2 if line.startswith(":=", gap) or line.startswith("=>", gap) else 1))
    elif option and gap > place:
        place = gap
    elif option and level >= 0 and line.startswith(", ", place):  # the next word of an argv
        place += 2
    else:
        return
    value = _value(line, place)
    if value is not None:
        spans.append(value)


def _blanks(line: str, place: int) -> int:
    while place < len(line) and line[place] in " \t":
        place += 1
    return place


def _quotes(line: str, place: int) -> tuple[int, int]:
    """Behind a quote that stands here, and how many backslashes it has before it; -1 where there is no quote."""
    end = place
    while end < len(line) and line[end] == "\\":
        end += 1
    if end < len(line) and line[end] in "\"'":
        return end + 1, end - place
    return place, -1


def _value(line: str, place: int) -> tuple[int, int] | None:
    """Where the value that stands here begins and ends, without its quotes."""
    inside, level = _quotes(line, place)
    if level >= 0:
        end = _closing(line, inside, level, line[inside - 1])
        return (inside, end) if end > inside else None
    if place < len(line) and line[place] in "{[":
        return _nested(line, place)
    low = line[place : place + 8].lower()
    for scheme in BEARER:
        if low.startswith(scheme):
            place += len(scheme)
    end = place
    while end < len(line) and line[end] not in _ENDS_BARE:
        end += 1
    word = line[place:end]
    harmless = not word or word in ("null", "true", "false", "None", "$") or word[0] == "$" or _is_number(word)
    return None if harmless else (place, end)


def _is_number(word: str) -> bool:
    return word.replace(".", "", 1).lstrip("-").isdigit() and len(word) < 16


def _closing(line: str, place: int, level: int, quote: str) -> int:
    """Where a text that was opened by a quote with so many backslashes before it is closed: by a quote with as many, or
    with fewer, which closes what is around it."""
    while True:
        end = line.find(quote, place)
        if end < 0:
            return _before_outer_quote(line, place, len(line), level)
        back = end
        while back > 0 and line[back - 1] == "\\":
            back -= 1
        if end - back <= level:
            return _before_outer_quote(line, place, back, level)
        place = end + 1


def _before_outer_quote(line: str, start: int, end: int, level: int) -> int:
    """A single quote's text still ends where the JSON text around it does."""
    place = start
    while True:
        quote = line.find('"', place, end)
        if quote < 0:
            return end
        back = quote
        while back > start and line[back - 1] == "\\":
            back -= 1
        if quote - back < max(level, 1):
            return back
        place = quote + 1


def _nested(line: str, place: int) -> tuple[int, int] | None:
    """An object or a list inside a text. It ends with its bracket, and never beyond the text that it stands in. On the
    outermost level, where its end must be found exactly, names inside it are looked at one by one."""
    inside = place + 1
    while inside < len(line) and line[inside] in " \t":
        inside += 1
    first, level = _quotes(line, inside)
    if level <= 0 or first == inside:
        return None
    depth, end = 0, place
    while end < len(line):
        char = line[end]
        if char == '"':
            back = end
            while line[back - 1] == "\\":
                back -= 1
            if end - back < level:
                return None
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return place, end + 1
        end += 1
    return None


# -- shapes


def _tokens(line: str, start: str, least: int, spans: list[tuple[int, int]]) -> None:
    place = line.find(start)
    while place >= 0:
        end = _run(line, place + len(start), _OF_TOKEN)
        alone = place == 0 or line[place - 1] not in _LETTERS or line[place - 2 : place] in ("\\n", "\\t", "\\r")
        if alone and end - place - len(start) >= least:
            spans.append((place, end))
        place = line.find(start, max(end, place + 1))


def _schemes(line: str, low: str, scheme: str, spans: list[tuple[int, int]]) -> None:
    place = low.find(scheme)
    while place >= 0:
        begin = place + len(scheme)
        end = _run(line, begin, _OF_BASE64)
        if end - begin >= 12 and not line[begin:end].isalpha():
            spans.append((begin, end))
        place = low.find(scheme, begin)


def _addresses(line: str, spans: list[tuple[int, int]]) -> None:
    """`scheme://user:password@host`: the password; a user without one may be a token, so both go."""
    place = line.find("://")
    while place >= 0:
        begin = end = place + 3
        while end < len(line) and line[end] not in _ENDS_ADDRESS:
            end += 1
        user = line[begin:end].rpartition("@")[0]
        if user:
            name, colon, _ = user.partition(":")
            if colon:
                spans.append((begin + len(name) + 1, begin + len(user)))
            elif len(user) >= 16:
                spans.append((begin, begin + len(user)))
        place = line.find("://", begin)


def _pem_blocks(line: str, spans: list[tuple[int, int]]) -> None:
    place = line.find(PEM)
    while place >= 0:
        head = line.find("-----", place + len(PEM))
        kind = line[place : head + 5] if head >= 0 else ""
        if kind.endswith(PEM_END) or "PRIVATE KEY" in kind:
            stop = line.find("-----END ", head)
            quote = line.find('"', head)
            end = stop if 0 <= stop and (quote < 0 or stop < quote) else quote if quote >= 0 else len(line)
            while end > head + 5 and line[end - 1] == "\\":
                end -= 1
            spans.append((head + 5, end))
        place = line.find(PEM, place + 1)
