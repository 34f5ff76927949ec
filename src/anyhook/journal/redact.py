"""Redact: a value with what looks like a secret → the same with a word that says so. It knows names of keys, shapes of
tokens and passwords in addresses, at any depth of JSON inside JSON. It leaves alone what `suspect` does not suspect."""

from __future__ import annotations

from anyhook.journal.suspect import (
    COUNTS,
    KEYS,
    LETTERS,
    OF_TOKEN,
    OPENS,
    PEM,
    PEM_KIND,
    SCHEMES,
    TOKENS,
    is_suspect_text,
    names_secret,
)
from anyhook.model import lean_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

    Span = tuple[int, int, str]
    """Start, end, and the replacement."""

INSTEAD = "[redacted]"
_OF_NAME = OF_TOKEN
_OF_BASE64 = LETTERS | frozenset("_-.+/=~")
_BLANKS, _BACKSLASH = frozenset(" \t"), frozenset("\\")
_GAP = _BLANKS | frozenset("\r\n")
"""What may be between a name's sign and its value, which some write on the next line."""
_ENDS_BARE = frozenset(" \t\"',;&|<>(){}[]`")
_ENDS_ADDRESS = frozenset(" \t\"'\\/?#<>,;()[]{}`")


def redacted(value: Json) -> Json:
    """The value without its secrets; the very same where it has none."""
    if isinstance(value, str):
        return _in_string(value)
    if isinstance(value, dict):
        fields = {_in_text(key): _under(key, item) for key, item in value.items()}
        same = all(item is fields.get(key) for key, item in value.items())
        return value if same else fields
    if isinstance(value, list):
        items = [
            INSTEAD if item and isinstance(item, str) and _is_option(before) else redacted(item)
            for before, item in zip(("", *value), value, strict=False)
        ]
        return value if all(made is item for made, item in zip(items, value, strict=True)) else items
    return value


def _under(key: str, item: Json) -> Json:
    """The value of a key: all of it where the key names a secret and there is any text in it."""
    return INSTEAD if names_secret(key.lower()) and _has_text(item) else redacted(item)


def _has_text(item: Json) -> bool:
    if isinstance(item, (dict, list)):
        return any(map(_has_text, item.values() if isinstance(item, dict) else item))
    return isinstance(item, str) and item != ""


def _is_option(word: Json) -> bool:
    """Whether the next word of a command line is a secret."""
    return isinstance(word, str) and word.startswith("--") and "=" not in word and names_secret(word.lower())


def _in_string(text: str) -> str:
    """JSON inside a text stays JSON: what printed it is read again one day."""
    if text[:1] in OPENS and is_suspect_text(text):
        try:
            value = json.loads(text)
            made = redacted(value)
        except (ValueError, RecursionError):
            return _in_text(text)
        return text if made is value else json.dumps(made)
    return _in_text(text)


def _in_text(text: str) -> str:
    """Any text: its secrets have no place of their own, but a name before them or a shape."""
    if not is_suspect_text(text):
        return text
    spans: list[Span] = []
    low = text.lower()
    if len(low) != len(text):  # one letter became two, so positions differ
        low = "".join([letter if len(letter.lower()) > 1 else letter.lower() for letter in text])
    _named(text, low, spans)
    for start, min_letters in TOKENS:
        _tokens(text, start, min_letters, spans)
    for scheme in SCHEMES:
        _after_schemes(text, low, scheme, spans)
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
        value = _run(line, sign + (2 if line[sign : sign + 2] in (":=", "=>") else 1), _GAP)
        # `secret:name` is a name with a colon in it.
        is_name = level < 0 and line[sign] == ":" and value == sign + 1 and line[value : value + 1] not in ("\\", "'")
        return None if is_name else value
    if option and sign > place:
        return sign
    if option and level >= 0 and line.startswith(", ", place):  # the next word of an argv
        return place + 2
    return None


def _quoted(line: str, place: int) -> tuple[int, int]:
    """The place after a quote at this position, and how many backslashes are before it; -1 if there is no quote."""
    end = _run(line, place, _BACKSLASH)
    return (end + 1, end - place) if line[end : end + 1] in ('"', "'") else (place, -1)


def _value(line: str, place: int) -> Span | None:
    """The value at this position, without its quotes."""
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
    """Where a text ends that a quote with this many backslashes before it opened."""
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
    """Whether a quote with this many backslashes before it closes a text that was opened with `level` of them, or what
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


def _tokens(line: str, start: str, min_letters: int, spans: list[Span]) -> None:
    place = line.find(start)
    while place >= 0:
        end = _run(line, place + len(start), OF_TOKEN)
        alone = place == 0 or line[place - 1] not in LETTERS or line[place - 2 : place] in ("\\n", "\\t", "\\r")
        if alone and end - place - len(start) >= min_letters:
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
