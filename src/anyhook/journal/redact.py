"""Redact: a value that looks like a secret → a word that says so. It knows names of keys, shapes of tokens, options of
programs and passwords in URLs, at any depth of JSON inside JSON. It handles only what `suspect` suspects."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from anyhook.journal.secret_names import is_auth, is_secret_name
from anyhook.journal.secrets import (
    INSTEAD,
    OF_KEY,
    Clues,
    Span,
    clues_of,
    in_text,
    is_placeholder,
    is_token,
    is_user_and_password,
    looks_random,
    manifests,
    named,
    of_words,
    shapes,
)
from anyhook.journal.suspect import OPENS, is_suspect_text
from anyhook.model import lean_json as json
from anyhook.model.json_types import Json

__all__ = ["INSTEAD", "redacted"]
SCHEMA = frozenset(
    {
        "type", "description", "title", "format", "minLength", "maxLength", "pattern", "enum", "items", "properties",
        "required", "additionalProperties", "nullable", "writeOnly", "readOnly", "deprecated", "$ref", "anyOf", "oneOf",
    }
)  # fmt: skip
"""Words of a JSON schema about a field, which are not its value."""
BEFORE, BEHIND, LONG_LINE = 300, 1_000, 8_192
"""How many characters before and behind a clue are looked at again without the numbers of lines; in a longer line they
change nothing."""


def redacted(value: Json) -> Json:
    """The value without its secrets; the same object if it has none."""
    if isinstance(value, str):
        return _in_string(value)
    if isinstance(value, dict):
        hidden = _hidden(value)
        fields = {
            _in_text(key): INSTEAD if key in hidden and _has_text(item) else _under(key, item)
            for key, item in value.items()
        }
        same = all(item is fields.get(key) for key, item in value.items())
        return value if same else fields
    if isinstance(value, list):
        items = _in_list(value)
        return value if all(made is item for made, item in zip(items, value, strict=True)) else items
    return value


def _hidden(value: dict[str, Json]) -> tuple[str, ...]:
    """The keys of an object whose values are secrets because of its other fields."""
    name = value.get("name", value.get("key", value.get("Name", value.get("Key"))))
    if isinstance(name, str) and len(value) < 6 and is_secret_name(name):
        return "value", "Value"
    if value.get("kind") == "Secret":
        return "data", "stringData"
    return OF_KEY if "kty" in value else ()


def _in_list(value: list[Json]) -> list[Json]:
    """A list; it may be the words of a command line, or a name and its value."""
    items = [
        INSTEAD
        if _is_option(before) and item and isinstance(item, str) and not is_placeholder(item)
        else redacted(item)
        for before, item in zip(("", *value), value, strict=False)
    ]
    words = [item if isinstance(item, str) else "" for item in value]
    if len(words) == 2 and is_secret_name(words[0]) and looks_random(words[1], 12):
        items[1] = INSTEAD
    for place, begin in _hidden_words(words):
        items[place] = words[place][:begin] + INSTEAD
    return items


def _hidden_words(words: list[str]) -> Iterator[tuple[int, int]]:
    """Of the words of a command line: which one is a secret, and from which letter on."""
    for place, word in enumerate(words):
        begin = 3 if word[:3] == "-t=" else 2 if word[:2] == "-t" else 0
        before = words[: place if begin else place - 1]
        if (begin or words[place - 1 : place] == ["-t"]) and is_token(before, word[begin:]):
            yield place, begin
    for start, word in enumerate(words):
        yield from ((start + at, offset) for at, offset in (of_words(words[start:]) if word else ()))


def _under(key: str, item: Json) -> Json:
    """The value of a key: all of it if the key names a secret and the value contains text."""
    if is_secret_name(key) and _has_text(item) and not _is_harmless(item):
        return INSTEAD
    if isinstance(item, str) and is_auth(key) and (is_user_and_password(item) or looks_random(item, 20)):
        return INSTEAD
    return redacted(item)


def _is_harmless(item: Json) -> bool:
    if isinstance(item, dict):
        return "type" in item and not set(item) - SCHEMA
    return isinstance(item, str) and is_placeholder(item)


def _has_text(item: Json) -> bool:
    if isinstance(item, (dict, list)):
        return any(map(_has_text, item.values() if isinstance(item, dict) else item))
    return isinstance(item, str) and item != ""


def _is_option(word: Json) -> bool:
    """Whether the next word of a command line is a secret."""
    return isinstance(word, str) and word[:1] == "-" and len(word) > 3 and "=" not in word and is_secret_name(word)


def _in_string(text: str) -> str:
    """JSON inside a text stays JSON, because it may be parsed again later."""
    if text[:1] in OPENS and is_suspect_text(text):
        try:
            value = json.loads(text)
            made = redacted(value)
        except (ValueError, RecursionError):
            return _in_text(text)
        return text if made is value else json.dumps(made)
    return _in_text(text)


def _in_text(text: str) -> str:
    """Any text: its secrets are found by a name before them, or by their shape."""
    spans = spans_in(text)
    return _without(text, spans) if spans else text


def spans_in(text: str) -> list[Span]:
    """Where a text has secrets, and what to write instead of each."""
    if not is_suspect_text(text):
        return []
    low = _lower(text)
    clues = clues_of(text, low)
    spans = _spans_in(text, low, clues)
    if "\n" in text and (widths := _gutter(lines := text.splitlines(keepends=True))):
        spans += _without_gutter(lines, widths, _near_clues(lines, clues, whole="kind: secret" in low))
    return spans


def _without_gutter(lines: list[str], widths: list[int], near: Iterable[int]) -> Iterator[Span]:
    """The secrets in these lines, as they are without their numbers or signs."""
    starts = [0, *accumulate(map(len, lines))]
    kept = [(starts[at] + widths[at], lines[at][widths[at] :]) for at in near]
    begins = [0, *accumulate(len(line) for _, line in kept)]  # where each line begins in the text without them

    def moved(place: int) -> int:
        at = min(bisect_right(begins, place), len(kept)) - 1
        return place - begins[at] + kept[at][0]

    plain = "".join([line for _, line in kept])
    low = _lower(plain)
    for start, end, instead in _spans_in(plain, low, clues_of(plain, low)):
        yield moved(start), moved(end - 1) + 1, instead


def _near_clues(lines: list[str], clues: Clues, *, whole: bool) -> Iterable[int]:
    """The lines in which there may be a secret that only shows without their numbers: those around each clue."""
    if whole:
        return range(len(lines))
    begins = [0, *accumulate(map(len, lines))]
    found: set[int] = set()
    for place in clues.places():
        first = bisect_right(begins, max(0, place - BEFORE)) - 1
        last = bisect_right(begins, min(begins[-1] - 1, place + BEHIND))
        found.update(range(first, last))
    return sorted(at for at in found if len(lines[at]) < LONG_LINE)


def _lower(text: str) -> str:
    low = text.lower()
    if len(low) != len(text):  # one letter became two, so positions differ
        low = "".join([letter if len(letter.lower()) > 1 else letter.lower() for letter in text])
    return low


def _spans_in(text: str, low: str, clues: Clues) -> list[Span]:
    spans: list[Span] = [*named(text, low, clues)]
    spans += [(begin, end, INSTEAD) for begin, end in shapes(text, low, clues)]
    spans += [(begin, end, INSTEAD) for begin, end in in_text(text, low, clues)]
    spans += manifests(text, low)
    return spans


def _gutter(lines: list[str]) -> list[int]:
    """How much of each line its number takes, or the sign of a diff or a quote; [] if most lines have none: tools print
    files so, and a secret may be known by how its line begins."""
    numbers = [_number_of(line) for line in lines]
    if sum(map(bool, numbers)) * 2 > len(lines):
        return numbers
    signs = [int(line[0] in "+-> ") for line in lines]
    return signs if sum(signs) * 2 > len(lines) and any(line[0] in "+->" for line in lines) else []


def _number_of(line: str) -> int:
    """How many characters a line's number takes, with what parts it from the line."""
    rest = line.lstrip(" L")
    after = rest.lstrip("0123456789")
    if after == rest:
        return 0
    after = after.lstrip(" ")
    if after[:1] not in (":", "|", "→", "\t"):
        return 0
    return len(line) - len(after) + 1 + (after[1:2] == " ")


def _without(line: str, spans: list[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, instead in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:  # one inside another goes with it
            parts += (line[done:start], instead)
            done = end
        elif end > done:  # one that begins in another and goes on takes the rest with it
            done = end
    parts.append(line[done:])
    return "".join(parts)
