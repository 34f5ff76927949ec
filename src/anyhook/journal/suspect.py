"""Suspect: whether a value may contain a secret at all. Hardly any does, so this check must be fast. In doubt it says
yes. It works without regular expressions: importing `re` would cost an agent's call half an interpreter start."""

from __future__ import annotations

from anyhook.journal.secret_names import HEX_TOKENS, LETTERS, OF_NAME, PEM, SCHEMES, STEMS, TOKENS, names_secret
from anyhook.programs.quick import hiding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.json_types import Json

__all__ = ["LETTERS", "OPENS", "TEXT_LIMIT", "TOKENS", "is_suspect", "is_suspect_text"]
OPTIONS = (" -p", " -u", " -a", " -b", " -w", " -k", "-user", "-bearer", " --body")
"""Options that some programs put before a secret, in lower case."""
BUNDLED = "puabwk"
"""The letters of the short ones."""
QUERIES = ("sig=", "key=", "signature=", "session=", "sid=", "sessionid=", "hmac=", "sessid=")
CLUES = (
    ("://", "@", ("",)), ("://", "", ("hook", "/bot", "ifttt")), (":", "@", ("jdbc:oracle",)),
    ("=", "&", QUERIES), ("=", "?", QUERIES), (PEM, "", ("",)), (" ", "", (*SCHEMES, "identified by", " -t")),
    (":", "", ("kty", ":543", ":*:")),
)  # fmt: skip
"""Two signs that a text must have, and words; with one of them it may contain a secret: an address with a password, a
link that is a secret, a private key, a JSON web key, .pgpass."""
_TOKEN_SIGNS = (("_", ""), ("-", ""), (".", ""), ("A", ""), ("J", ""), ("/", "//"), ("S", "SK"), ("d", "dapi"))
"""Every token has one of these characters, or has one of these letters at or near its start."""

_TOKEN = "".join(OF_NAME).encode()
_OTHERS = bytes(range(256)).translate(None, _TOKEN)
_WORDS = bytes.maketrans(_OTHERS, b" " * len(_OTHERS))
"""Turns everything that is not part of a token into spaces."""
_MASK = _WORDS.translate(bytes.maketrans(_TOKEN, b"x" * len(_TOKEN)))
"""The same, and every character of a token into an x."""
_LONG = min(len(start) + min_letters for start, min_letters in TOKENS)
_LONG_MASK = b"x" * _LONG
_STARTS = (*[start.encode() for start, _ in (*TOKENS, *HEX_TOKENS)], b"AA", b"s.", b"pat")
_HEADS = frozenset(start[:2] for start in _STARTS)
"""Their first characters, for a quick check."""
_SEPARATORS = (b"-", b"_", b".")
_SHORT = 4
"""No shorter text contains a secret: a name, `=` and one character (`pw=x`)."""
TEXT_LIMIT = 16_384
"""Longer texts are cut in the journal, and say so."""
_DEPTH_QUICK = 8
"""How deep a value may be nested for the quick check."""
_PLAIN = frozenset({int, float, bool, type(None)})
OPENS = frozenset('{["')
_OPTION = frozenset("puabwktPUK")
"""Letters of options that some programs put before a secret."""
NAMING_KEYS = frozenset({"name", "key", "kind", "Name", "Key"})
"""Keys of objects that name in one field what another one contains."""
_harmless: set[str] = set()
"""A cache of key names that have no secret: nearly all are the same few."""
_MAX_HARMLESS, _HARMLESS_SIZE = 1_000, 64


def is_suspect(value: Json, depth: int = 0) -> bool:
    """Whether there may be a secret, or a long text, deep nesting or something other than plain JSON. Most values
    pass."""
    if isinstance(value, str):
        return len(value) >= _SHORT and (len(value) > TEXT_LIMIT or is_suspect_text(value))
    if type(value) in _PLAIN:
        return False
    if depth > _DEPTH_QUICK or not isinstance(value, (dict, list)):
        return True
    if isinstance(value, list):
        return _is_suspect_list(value, depth)
    for key, item in value.items():
        if key not in _harmless and not _is_harmless(key):
            return True
        if key in NAMING_KEYS and type(item) is str and _has_any(item.lower(), STEMS):
            return True
        if is_suspect(item, depth + 1):
            return True
    return False


def _is_suspect_list(value: list[Json], depth: int) -> bool:
    if len(value) == 2 and type(value[0]) is str and names_secret(value[0].lower()):  # a name and its value
        return True
    for item in value:
        if type(item) is str and item[:1] == "-" and (item[1:2] == "-" or not _OPTION.isdisjoint(item)):
            return True
        if is_suspect(item, depth + 1):
            return True
    return False


def _is_harmless(key: object) -> bool:
    if type(key) is not str or key == "kty" or names_secret(key.lower()) or is_suspect_text(key):
        return False
    if len(key) <= _HARMLESS_SIZE:
        if len(_harmless) >= _MAX_HARMLESS:
            _harmless.clear()
        _harmless.add(key)
    return True


def is_suspect_text(text: str) -> bool:
    """The same for a text. A single character is found much faster than a word, so characters are checked first."""
    if text[:1] in OPENS and ("\\u" in text or "\\/" in text):  # JSON that may hide a name or an address in escapes
        return True
    if (":" in text or "=" in text or " " in text or "<" in text) and _has_clue(text, text.lower()):
        return True
    for sign, part in _TOKEN_SIGNS:
        if sign in text and part in text:
            return _has_token(text.encode("ascii", "replace"))
    return False


def _has_clue(text: str, low: str) -> bool:
    """Whether a text names a secret, or contains what a secret comes with."""
    if _has_any(low, STEMS) and names_secret(low):
        return True
    for sign, other, parts in CLUES:
        if sign in text and other in text and _has_any(low, parts):
            return True
    return " -" in text and _has_option(low)


def _has_any(low: str, parts: tuple[str, ...]) -> bool:
    for part in parts:  # noqa: SIM110 - a generator takes twice as long
        if part in low:
            return True
    return False


def _has_option(low: str) -> bool:
    """Whether a program that takes a secret on its command line has an option for one, or several in one word."""
    has_one = "sudo -s" in low or _has_any(low, OPTIONS) or _has_bundle(low)
    if not has_one or "sudo -s" in low:
        return has_one
    return next(hiding(low), None) is not None


def _has_bundle(low: str) -> bool:
    place = low.find(" -")
    while place >= 0:
        if low[place + 2 : place + 3].isalpha() and low[place + 1 : place + 32].split(maxsplit=1)[0][-1] in BUNDLED:
            return True
        place = low.find(" -", place + 2)
    return False


def _has_token(text: bytes) -> bool:
    return b"1//0" in text or b"Q~" in text or next(like_tokens(text), None) is not None


def like_tokens(text: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of the long words that start like a token, or continue like one after a separator or after the
    letter of an escaped line break. Few texts have long words, so this is fast."""
    mask = text.translate(_MASK)
    place = mask.find(_LONG_MASK)
    while place >= 0:
        end = mask.find(b" ", place)
        end = len(mask) if end < 0 else end
        if _is_like_token(text[place:end]):
            yield place, end
        place = mask.find(_LONG_MASK, end)


def _is_like_token(word: bytes) -> bool:
    if (len(word) > 55 and word.count(b".") >= 2) or word[32:35] == b"-us" or _starts_token(word, 0):
        return True
    if word[0] in b"ntr" and _starts_token(word, 1):
        return True
    for sign in _SEPARATORS:
        place = word.find(sign)
        while place >= 0:
            if _starts_token(word, place + 1):
                return True
            place = word.find(sign, place + 1)
    return False


def _starts_token(word: bytes, place: int) -> bool:
    return word[place : place + 2] in _HEADS and word.startswith(_STARTS, place)
