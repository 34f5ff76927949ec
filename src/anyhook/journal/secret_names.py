"""Secret names: where a text has the name of a secret in it, and whether a whole name is one. It reads names only; what
stands behind them is `secret_values`' and `redact`'s to judge. No regular expressions: see `suspect`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
OF_NAME = LETTERS | frozenset("_-.")

PLAIN = (
    "secret", "token", "credential", "cookie", "pwd", "authorization", "mnemonic", "creds", "connectionstring",
    "connection_string", "seed_phrase", "recovery_phrase", "private-lines",
)  # fmt: skip
"""Parts of names whose values are secrets, wherever in a name they are."""
AFTER_PASS = ("word", "wd", "phrase", "code")
BEFORE_KEY = (
    "api", "access", "private", "auth", "signing", "encryption", "account", "master", "app", "shared", "admin",
    "license", "deploy", "client", "session", "jwt", "crypt", "subscription",
)  # fmt: skip
"""A key of these is a secret: `api_key`, `AccessKey`, `master-key`. Most keys are not."""
_BEFORE_KEY = tuple(word + sign for word in BEFORE_KEY for sign in ("", "_", "-", " "))
NOT_PASS = ("bypass", "compass", "trespass", "surpass", "encompass", "underpass", "overpass")
COUNTS = ("tokens", "token_count", "tokenize", "tokenizer", "secretary", "passwordless", "cookies", "tokenclass")
"""Names that only look like these."""
ABOUT = frozenset(
    {
        "type", "url", "uri", "endpoint", "name", "names", "field", "length", "len", "size", "expires", "expiry", "at",
        "expiration", "in", "count", "limit", "path", "file", "dir", "domain", "policy", "ttl", "timeout", "parser",
        "version", "budget", "enabled", "required", "rounds", "method", "mode", "label", "hint", "placeholder",
        "algorithm",
        "secure", "header", "format", "alg", "prefix", "regex", "pattern", "class", "store", "manager", "provider",
        "ref",
        "helper", "reader", "stdin", "only", "index", "usage", "cost", "price", "scope", "scopes", "samesite",
        "httponly",
        "age", "status", "valid", "exists", "description", "title", "error", "errors", "reset", "strength", "max",
        "min",
    }
)  # fmt: skip
"""Last words of names that say something about a secret and do not hold one."""
STEMS = (
    "pass",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "cookie",
    "pw",
    "connection",
    "mnemonic",
    "phrase",
    "e-lines",
)
"""Every name of a secret has one of these in it: most texts have none, and are done with."""


def places(low: str) -> Iterator[tuple[int, int, bool]]:
    """From and to of what names a secret in a text in small letters, too often rather than too seldom, and whether it
    does so only at the end of a name."""
    for stem in PLAIN:
        place = low.find(stem)
        while place >= 0:
            if not low.startswith(COUNTS, place):
                yield place, place + len(stem), False
            place = low.find(stem, place + 1)
    place = low.find("pass")
    while place >= 0:
        end = place + 4
        if low.startswith(AFTER_PASS, end):
            if not low.startswith(COUNTS, place):
                yield place, end, False
        elif not low[end : end + 1].isalnum() and not low.endswith(NOT_PASS, 0, end):
            yield place, end, True
        place = low.find("pass", end)
    place = low.find("key")
    while place >= 0:
        if low.endswith(_BEFORE_KEY, 0, place):
            yield place, place + 3, False
        place = low.find("key", place + 3)
    for word in ("pw", "auth"):
        place = low.find(word)
        while place >= 0:
            end = place + len(word)
            before = low[place - 1 : place]
            if not low[end : end + 1].isalnum() and not before.isalnum():
                yield place, end, True
            place = low.find(word, end)


def names_secret(low: str) -> bool:
    """Whether a text in small letters has the name of a secret in it, and not only names that look like one."""
    return next(places(low), None) is not None


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """From and to of the whole name that a place is in."""
    while start > 0 and text[start - 1] in OF_NAME:
        start -= 1
    while end < len(text) and text[end] in OF_NAME:
        end += 1
    return start, end


def words_of(name: str) -> list[str]:
    """The words of a name, whichever way they are joined: `dbPassword`, `DB_PASSWORD`, `db-password`."""
    made = ""
    for place, letter in enumerate(name):
        before = name[place - 1 : place]
        if letter not in LETTERS or (letter.isupper() and before.islower()):
            made += " "
        made += letter if letter in LETTERS else ""
    return made.lower().split()


def is_secret_name(name: str) -> bool:
    """Whether the value of a key with this name is a secret; of `auth` it depends on the value."""
    words = words_of(name)
    if not words or words[-1] in ABOUT:
        return False
    return any(not short or words[-1].endswith(("pass", "pw")) for _, _, short in places(name.lower()))


def is_auth(name: str) -> bool:
    return words_of(name)[-1:] == ["auth"]
