"""Suspect: whether a value may contain a secret at all. Hardly any does, so this check must be fast. In doubt it says
yes. It works without regular expressions: importing `re` would cost an agent's call half an interpreter start."""

from __future__ import annotations

from anyhook.journal.secret_names import HEX_TOKENS, LETTERS, OF_NAME, PEM, SCHEMES, STEMS, TOKENS, names_secret
from anyhook.programs.quick import hiding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

__all__ = ["LETTERS", "OPENS", "TEXT_LIMIT", "TOKENS", "is_suspect", "is_suspect_text"]
OPTIONS = (" -p", " -u", " -a", " -b", " -w", " -k", "-user", "-bearer", " --body")
"""Options that some programs put before a secret, in lower case."""
BUNDLED = "puabwk"
"""The letters of the short ones."""
QUERIES = ("sig=", "key=", "signature=", "session=", "sid=", "sessionid=", "hmac=", "sessid=")
HOOKS = ("hook", "/bot", "ifttt")

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
_SIGNS = (b"-", b"_", b".")
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
NAMING = frozenset({"name", "key", "kind", "Name", "Key"})
"""Keys of objects that name in one field what another one contains."""
_harmless: set[str] = set()
"""A cache of key names that have no secret: nearly all are the same few."""
_MAX_HARMLESS, _HARMLESS_SIZE = 1_000, 64


def is_suspect(value: Json, depth: int = 0) -> bool:
    """Whether there may be a secret, or a long text, deep nesting or something other than plain JSON. Most values
    pass."""
    if isinstance(value, str):
        return len(value) >= _SHORT and (len(value) > TEXT_LIMIT or is_suspect_text(value))
    if depth > _DEPTH_QUICK:
        return True
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _harmless and not _is_harmless(key):
                return True
            if key in NAMING and type(item) is str and [stem for stem in STEMS if stem in item.lower()]:
                return True
            if type(item) is str:
                if len(item) >= _SHORT and (len(item) > TEXT_LIMIT or is_suspect_text(item)):
                    return True
            elif type(item) not in _PLAIN and is_suspect(item, depth + 1):
                return True
        return False
    if isinstance(value, list):
        if len(value) == 2 and type(value[0]) is str and names_secret(value[0].lower()):  # a name and its value
            return True
        return any(
            (type(item) is str and item[:1] == "-" and (item[1:2] == "-" or not _OPTION.isdisjoint(item)))
            or is_suspect(item, depth + 1)
            for item in value
        )
    return type(value) not in _PLAIN


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
    colon, equals, blank = ":" in text, "=" in text, " " in text
    if colon or equals or blank or "<" in text:
        low = text.lower()
        for stem in STEMS:
            if stem in low:
                if names_secret(low):
                    return True
                break
        if colon and "://" in text and ("@" in text or _has_any(low, HOOKS)):
            return True
        if colon and "@" in text and "jdbc:oracle" in low:
            return True
        if equals and ("&" in text or "?" in text) and _has_any(low, QUERIES):
            return True
        if blank:
            if "-" in text and (PEM in text or (" -" in text and _has_option(low))):
                return True
            for scheme in SCHEMES:
                if scheme in low:
                    return True
            if "identified by" in low or " -t" in low:
                return True
        if colon and ("kty" in low or ":543" in text or ":*:" in text):  # a JSON web key, .pgpass
            return True
    # Every token has one of these characters, or has one of these letters at or near its start.
    if (
        "_" in text
        or "-" in text
        or "." in text
        or "A" in text
        or "J" in text
        or ("/" in text and "//" in text)
        or ("S" in text and "SK" in text)
        or ("d" in text and "dapi" in text)
    ):
        return _has_token(text.encode("ascii", "replace"))
    return False


def _has_any(low: str, parts: tuple[str, ...]) -> bool:
    for part in parts:  # noqa: SIM110 - a generator takes twice as long
        if part in low:
            return True
    return False


def _has_option(low: str) -> bool:
    """Whether a program that takes a secret on its command line has an option for one, or several in one word."""
    has_one = _has_any(low, OPTIONS) or any(word[:1] == "-" and word[-1] in BUNDLED for word in low.split())
    return "sudo -s" in low or (has_one and next(hiding(low), None) is not None)


def _has_token(text: bytes) -> bool:
    """Whether a long word starts like a token, or continues like one after a separator or after the letter of an
    escaped line break. Few texts have long words, so this is fast."""
    if _LONG_MASK not in text.translate(_MASK):
        return False
    if b"1//0" in text or b"Q~" in text:
        return True
    for word in text.translate(_WORDS).split():
        if len(word) >= _LONG:
            if word[:2] in _HEADS and word.startswith(_STARTS):
                return True
            if word[0] in b"ntr" and word[1:3] in _HEADS and word.startswith(_STARTS, 1):
                return True
            if len(word) > 55 and word.count(b".") >= 2:
                return True
            if word[32:35] == b"-us":
                return True
            for sign in _SIGNS:
                place = word.find(sign)
                while place >= 0:
                    if word[place + 1 : place + 3] in _HEADS and word.startswith(_STARTS, place + 1):
                        return True
                    place = word.find(sign, place + 1)
    return False
