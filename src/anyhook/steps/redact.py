"""Redact: what looks like a secret in a line of JSON → a word that says so. It knows names of keys, shapes of tokens
and passwords in addresses, at any depth of JSON inside JSON, and never breaks the JSON. It does without regular
expressions: loading them would cost the path an agent waits on half an interpreter start."""

from __future__ import annotations

from anyhook.model import lean_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Span = tuple[int, int, str]
    """From, to, and what stands there instead."""

INSTEAD = "[redacted]"

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

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_OF_NAME = _OF_TOKEN = _LETTERS | frozenset("_-.")
_OF_BASE64 = _LETTERS | frozenset("_-.+/=~")
_BLANKS, _BACKSLASH = frozenset(" \t"), frozenset("\\")
_ENDS_BARE = frozenset(" \t\"',;&|<>(){}[]`")
_ENDS_ADDRESS = frozenset(" \t\"'\\/?#<>,;()[]{}`")

_TOKEN = "".join(_OF_TOKEN).encode()
_OTHERS = bytes(range(256)).translate(None, _TOKEN)
_WORDS = bytes.maketrans(_OTHERS, b" " * len(_OTHERS))
"""Turns everything that is not part of a token into blanks."""
_MASK = _WORDS.translate(bytes.maketrans(_TOKEN, b"x" * len(_TOKEN)))
"""The same, and every part of one into an x."""
_LONG = min(len(start) + least for start, least in TOKENS)
_LONG_MASK = b"x" * _LONG
_STARTS = tuple(start.encode() for start, _ in TOKENS)
_SIGNS = (b"-", b"_", b".")


def redact(line: str) -> str:
    """The JSON without what looks like a secret; the very same text where nothing does."""
    if not _is_suspect(line):
        return line
    try:
        value = json.loads(line)
        made = _in_value(value)
    except (ValueError, RecursionError):
        return _in_text(line)
    return line if made is value else json.dumps(made)


def _is_suspect(line: str) -> bool:
    """Whether there may be anything at all: most lines are done with after this."""
    low = line.lower()
    for stem in STEMS:
        if stem in low:
            if _names_secret(low):
                return True
            break
    for scheme in SCHEMES:
        if scheme in low:
            return True
    return PEM in line or ("://" in line and "@" in line) or not line.isascii() or _has_token(line.encode())


def _has_token(line: bytes) -> bool:
    """Whether a long word begins like a token, or goes on like one after a sign. Few lines have a word that is long, so
    this is quickly said."""
    if _LONG_MASK not in line.translate(_MASK):
        return False
    for word in line.translate(_WORDS).split():
        if len(word) >= _LONG:
            if word.startswith(_STARTS):
                return True
            for sign in _SIGNS:
                place = word.find(sign)
                while place >= 0:
                    if word.startswith(_STARTS, place + 1):
                        return True
                    place = word.find(sign, place + 1)
    return False


def _in_value(value: Json) -> Json:
    """The value without its secrets; the very same where it has none."""
    if isinstance(value, str):
        return _in_string(value)
    if isinstance(value, dict):
        fields = {_in_text(key): _under(key, item) for key, item in value.items()}
        same = all(item is fields.get(key) for key, item in value.items())
        return value if same else fields
    if isinstance(value, list):
        items = [
            INSTEAD if item and isinstance(item, str) and _is_option(before) else _in_value(item)
            for before, item in zip(("", *value), value, strict=False)
        ]
        return value if all(made is item for made, item in zip(items, value, strict=True)) else items
    return value


def _under(key: str, item: Json) -> Json:
    """The value of a key: all of it where the key names a secret and there is any text in it."""
    return INSTEAD if _names_secret(key.lower()) and _has_text(item) else _in_value(item)


def _names_secret(low: str) -> bool:
    """Whether a text in small letters has the name of a secret in it, and not only names that look like one."""
    for key in KEYS:
        place = low.find(key)
        while place >= 0:
            if not low.startswith(COUNTS, place):
                return True
            place = low.find(key, place + 1)
    return False


def _has_text(item: Json) -> bool:
    if isinstance(item, (dict, list)):
        return any(map(_has_text, item.values() if isinstance(item, dict) else item))
    return isinstance(item, str) and item != ""


def _is_option(word: Json) -> bool:
    """Whether the next word of a command line is a secret."""
    return isinstance(word, str) and word.startswith("--") and "=" not in word and _names_secret(word.lower())


def _in_string(text: str) -> str:
    """JSON inside a text stays JSON: what printed it is read again one day."""
    if text[:1] in ("{", "[") and _is_suspect(text):
        try:
            value = json.loads(text)
            made = _in_value(value)
        except (ValueError, RecursionError):
            return _in_text(text)
        return text if made is value else json.dumps(made)
    return _in_text(text)


def _in_text(text: str) -> str:
    """Any text: its secrets have no place of their own, but a name before them or a shape."""
    if not _is_suspect(text):
        return text
    spans: list[Span] = []
    _named(text, text.lower(), spans)
    for start, least in TOKENS:
        _tokens(text, start, least, spans)
    for scheme in SCHEMES:
        _after_schemes(text, text.lower(), scheme, spans)
    _pem_blocks(text, spans)
    _addresses(text, spans)
    return _without(text, spans) if spans else text


def _without(line: str, spans: list[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, instead in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:  # one inside another goes with it
            parts += (line[done:start], instead)
            done = end
    parts.append(line[done:])
    return "".join(parts)


def _run(line: str, place: int, letters: frozenset[str]) -> int:
    """Where the letters from here on end."""
    while place < len(line) and line[place] in letters:
        place += 1
    return place


# -- values by the names of their keys


def _named(line: str, low: str, spans: list[Span]) -> None:
    for key in KEYS:
        place = low.find(key)
        while place >= 0:
            value = _place_of_value(line, low, place, place + len(key))
            span = _value(line, value) if value is not None else None
            if span is not None:
                spans.append(span)
            place = low.find(key, place + len(key))


def _place_of_value(line: str, low: str, start: int, end: int) -> int | None:
    """Where the value after a name begins: `"name": "value"` at any depth, `NAME=value`, `--name value`."""
    if low.startswith(COUNTS, start):
        return None
    place, level = _quoted(line, _run(line, end, _OF_NAME))
    sign = _run(line, place, _BLANKS)
    option = "--" in low[max(0, start - 24) : start]
    if line[sign : sign + 1] in (":", "="):
        value = _run(line, sign + (2 if line[sign : sign + 2] in (":=", "=>") else 1), _BLANKS)
        # `secret:name` is a name with a colon in it.
        is_name = level < 0 and line[sign] == ":" and value == sign + 1 and line[value : value + 1] not in ("\\", "'")
        return None if is_name else value
    if option and sign > place:
        return sign
    if option and level >= 0 and line.startswith(", ", place):  # the next word of an argv
        return place + 2
    return None


def _quoted(line: str, place: int) -> tuple[int, int]:
    """The place behind a quote that stands here, and how many backslashes are before it; -1 where there is no quote."""
    end = _run(line, place, _BACKSLASH)
    return (end + 1, end - place) if line[end : end + 1] in ('"', "'") else (place, -1)


def _value(line: str, place: int) -> Span | None:
    """The value that stands here, without its quotes."""
    inside, level = _quoted(line, place)
    if level >= 0:
        end = _end_of_text(line, inside, level) if line[inside - 1] == '"' else _end_of_single(line, inside)
        return (inside, end, INSTEAD) if end > inside else None
    if line[place : place + 1] in ("{", "["):
        return _nested(line, place)
    for scheme in SCHEMES:
        if line[place : place + len(scheme)].lower() == scheme:
            place += len(scheme)
    end = _end_of_bare(line, place)
    word = line[place:end]
    number = word.replace(".", "", 1).lstrip("-").isdigit() and len(word) < 16
    harmless = not word or word in ("null", "true", "false", "None") or word[0] == "$" or number
    return None if harmless else (place, end, INSTEAD)


def _end_of_bare(line: str, place: int) -> int:
    """Where a value without quotes ends. A letter that JSON has escaped, at whatever depth, belongs to it."""
    while place < len(line) and line[place] not in _ENDS_BARE:
        if line[place] == "\\":
            after = _run(line, place, _BACKSLASH)
            if line[after : after + 1] != "u":
                return place
            place = after + 5
        else:
            place += 1
    return place


def _end_of_single(line: str, place: int) -> int:
    """A text in single quotes ends with one, or with the JSON text that it is in."""
    double = line.find('"', place)
    double = len(line) if double < 0 else double
    single = line.find("'", place, double)
    return single if single >= 0 else double - _backslashes(line, double)


def _end_of_text(line: str, place: int, level: int) -> int:
    """Where a text ends that a quote with so many backslashes before it has opened."""
    while True:
        end = line.find('"', place)
        if end < 0:
            return len(line)
        count = _backslashes(line, end)
        if _closes(count, level):
            return end - min(count, level)  # further backslashes are the text's own
        place = end + 1


def _backslashes(line: str, place: int) -> int:
    """How many backslashes stand right before a place."""
    start = place
    while start > 0 and line[start - 1] == "\\":
        start -= 1
    return place - start


def _closes(count: int, level: int) -> bool:
    """Whether a quote with so many backslashes before it closes a text that was opened with `level` of them, or what
    is around that text. With each depth of JSON inside JSON, k backslashes before a quote become 2k + 1, and one
    backslash of the text itself takes 2(k + 1)."""
    return count < level or (count - level) % (2 * (level + 1)) == 0


def _nested(line: str, place: int) -> Span | None:
    """An object or a list as a whole; what stands for it is a text at the same depth. None where it holds no text at
    all, or where it does not end before the text that it is in."""
    end = place
    level, depth, outside = -1, 0, True
    while end < len(line):
        char = line[end]
        if char == '"':
            count = _backslashes(line, end)
            level = count if level < 0 else level
            if count < level:
                return None
            outside = outside != _closes(count, level)
        elif outside and char in "{[":
            depth += 1
        elif outside and char in "}]":
            depth -= 1
            if depth == 0:
                quote = "\\" * level + '"'
                return None if level < 0 else (place, end + 1, f"{quote}{INSTEAD}{quote}")
        end += 1
    return None


# -- shapes


def _tokens(line: str, start: str, least: int, spans: list[Span]) -> None:
    place = line.find(start)
    while place >= 0:
        end = _run(line, place + len(start), _OF_TOKEN)
        alone = place == 0 or line[place - 1] not in _LETTERS or line[place - 2 : place] in ("\\n", "\\t", "\\r")
        if alone and end - place - len(start) >= least:
            spans.append((place, end, INSTEAD))
        place = line.find(start, max(end, place + 1))


def _after_schemes(line: str, low: str, scheme: str, spans: list[Span]) -> None:
    place = low.find(scheme)
    while place >= 0:
        begin = place + len(scheme)
        end = _run(line, begin, _OF_BASE64)
        if end - begin >= 12 and not line[begin:end].isalpha():
            spans.append((begin, end, INSTEAD))
        place = low.find(scheme, begin)


def _addresses(line: str, spans: list[Span]) -> None:
    """`scheme://user:password@host`: the password; a long user without one may be a token, and goes as well."""
    place = line.find("://")
    while place >= 0:
        begin = end = place + 3
        while end < len(line) and line[end] not in _ENDS_ADDRESS:
            end += 1
        user = line[begin:end].rpartition("@")[0]
        name, colon, password = user.partition(":")
        if password or len(user) >= 16:
            spans.append((begin + (len(name) + 1 if colon else 0), begin + len(user), INSTEAD))
        place = line.find("://", begin)


def _pem_blocks(line: str, spans: list[Span]) -> None:
    """The body of a private key: up to its last line, or to the end of the text that it is in."""
    place = line.find(PEM)
    while place >= 0:
        head = line.find("-----", place + len(PEM))
        if head >= 0 and PEM_KIND in line[place:head]:
            begin = head + 5
            stops = [stop for stop in (line.find("-----END ", begin), line.find('"', begin)) if stop >= 0]
            end = min(stops, default=len(line))
            end -= _backslashes(line, end) if line[end : end + 1] == '"' else 0
            if end > begin:
                spans.append((begin, end, INSTEAD))
        place = line.find(PEM, place + 1)
