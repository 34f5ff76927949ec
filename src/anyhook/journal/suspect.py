"""Suspect: whether a value may hold a secret at all; nearly none do, and are done with after this. It changes nothing,
says yes rather too often than too seldom, and does without regular expressions: loading them would cost the path an
agent waits on half an interpreter start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

STEMS = ("pass", "secret", "token", "key", "authori", "credential", "cookie", "connection")
"""Every key below has one of these in it: most lines have none, and are done with."""
KEYS = (
    "password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey",
    "access-key", "private_key", "privatekey", "private-key", "authorization", "credential", "cookie", "auth_key",
    "signing_key", "encryption_key", "connectionstring", "connection_string",
)  # fmt: skip
"""Parts of names whose values are secrets."""
COUNTS = ("tokens", "token_count", "tokenize", "tokenizer", "secretary", "passwordless")
"""Names that only look like these."""

TOKENS = (
    ("sk-", 20), ("sk_live_", 16), ("sk_test_", 16), ("rk_live_", 16), ("pk_live_", 16), ("whsec_", 16),
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("gldt-", 16), ("xoxb-", 15), ("xoxp-", 15), ("xoxa-", 15), ("xoxr-", 15), ("xoxs-", 15), ("xapp-", 15),
    ("AKIA", 16), ("ASIA", 16), ("AIza", 30), ("ya29.", 20), ("eyJ", 30), ("npm_", 30), ("pypi-", 30), ("hf_", 20),
    ("dop_v1_", 30), ("SG.", 30), ("shpat_", 20), ("gsk_", 20), ("xai-", 20), ("dckr_pat_", 20), ("lin_api_", 20),
    ("sntrys_", 20), ("AGE-SECRET-KEY-1", 20), ("tskey-", 16), ("ATATT3", 20), ("r8_", 30), ("pplx-", 20),
)  # fmt: skip
"""How known tokens begin, and how many letters must follow at least."""
SCHEMES = ("bearer ", "basic ")
PEM, PEM_KIND = "-----BEGIN ", "PRIVATE KEY"

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
OF_TOKEN = LETTERS | frozenset("_-.")

_TOKEN = "".join(OF_TOKEN).encode()
_OTHERS = bytes(range(256)).translate(None, _TOKEN)
_WORDS = bytes.maketrans(_OTHERS, b" " * len(_OTHERS))
"""Turns everything that is not part of a token into blanks."""
_MASK = _WORDS.translate(bytes.maketrans(_TOKEN, b"x" * len(_TOKEN)))
"""The same, and every part of one into an x."""
_LONG = min(len(start) + min_letters for start, min_letters in TOKENS)
_LONG_MASK = b"x" * _LONG
_STARTS = tuple(start.encode() for start, _ in TOKENS)
_SIGNS = (b"-", b"_", b".")
_SHORT = min(map(len, KEYS)) + 2
"""No shorter text holds a secret: a name, a sign and one letter."""
TEXT_LIMIT = 16_384
"""Longer texts are cut in the journal, and say so."""
_DEPTH_QUICK = 8
"""How deep a value may be nested to be done with quickly."""
_PLAIN = frozenset({int, float, bool, type(None)})
OPENS = frozenset("{[")
_harmless: set[str] = set()
"""Names of keys that were looked at and stand before no secret: nearly all are the same few."""
_MAX_HARMLESS, _HARMLESS_SIZE = 1_000, 64


def is_suspect(value: Json, depth: int = 0) -> bool:
    """Whether there may be anything at all, or a long text, or something nested deeply or no plain JSON value: most are
    done with after this."""
    kind = type(value)
    if kind is str:
        return len(value) >= _SHORT and (len(value) > TEXT_LIMIT or is_suspect_text(value))  # type: ignore[arg-type]
    if depth > _DEPTH_QUICK:
        return True
    if kind is dict:
        for key, item in value.items():  # type: ignore[union-attr]
            if key not in _harmless and not _is_harmless(key):
                return True
            if type(item) is str:
                if len(item) >= _SHORT and (len(item) > TEXT_LIMIT or is_suspect_text(item)):
                    return True
            elif type(item) not in _PLAIN and is_suspect(item, depth + 1):
                return True
        return False
    if kind is list:
        return any((type(item) is str and item[:2] == "--") or is_suspect(item, depth + 1) for item in value)  # type: ignore[union-attr]
    return kind not in _PLAIN


def _is_harmless(key: object) -> bool:
    if type(key) is not str or names_secret(key.lower()) or is_suspect_text(key):
        return False
    if len(key) <= _HARMLESS_SIZE:
        if len(_harmless) >= _MAX_HARMLESS:
            _harmless.clear()
        _harmless.add(key)
    return True


def is_suspect_text(text: str) -> bool:
    """The same of a text. One letter is found many times faster than a word, so letters are asked for first: a name
    says something about what follows a colon, an equals sign or, after `--`, a blank."""
    if text[:1] in OPENS and ("\\u" in text or "\\/" in text):  # JSON that may hide a name or an address in escapes
        return True
    low = ""
    colon = ":" in text
    if colon or "=" in text or ("-" in text and "--" in text):
        low = text.lower()
        for stem in STEMS:
            if stem in low:
                if names_secret(low):
                    return True
                break
        if PEM in text or (colon and "@" in text and "://" in text):
            return True
    if " " in text:
        low = low or text.lower()
        for scheme in SCHEMES:
            if scheme in low:
                return True
    # Every token has one of these signs, or begins with one of these letters or has it soon after.
    if "_" in text or "-" in text or "." in text or "A" in text or "J" in text:
        return _has_token(text.encode("ascii", "replace"))
    return False


def _has_token(text: bytes) -> bool:
    """Whether a long word begins like a token, or goes on like one after a sign or after the letter of an escaped line
    break. Few texts have a word that is long, so this is quickly said."""
    if _LONG_MASK not in text.translate(_MASK):
        return False
    for word in text.translate(_WORDS).split():
        if len(word) >= _LONG:
            if word.startswith(_STARTS) or (word[0] in b"ntr" and word.startswith(_STARTS, 1)):
                return True
            for sign in _SIGNS:
                place = word.find(sign)
                while place >= 0:
                    if word.startswith(_STARTS, place + 1):
                        return True
                    place = word.find(sign, place + 1)
    return False


def names_secret(low: str) -> bool:
    """Whether a text in small letters has the name of a secret in it, and not only names that look like one."""
    for key in KEYS:
        place = low.find(key)
        while place >= 0:
            if not low.startswith(COUNTS, place):
                return True
            place = low.find(key, place + 1)
    return False
