"""Secret objects: values that are secret because of their surroundings in a text: the data of a Kubernetes secret, the
private parts of a JSON web key, a password of SQL. It finds places; `redact` replaces them."""

from __future__ import annotations

from anyhook.journal.secret_named import INSTEAD, quoted, value_at
from anyhook.journal.secret_shapes import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.journal.secret_named import Span

OF_KEY = ("d", "p", "q", "dp", "dq", "qi", "k")
"""The secret parts of a JSON web key."""
_GAP = frozenset(" \t\r\n")


def manifests(text: str, low: str) -> Iterator[Span]:
    if "kind: secret" in low:
        yield from _yaml(text)
    if "kind" in low and "secret" in low and "data" in low:
        kind = _field(text, low, "kind", 0)
        while kind is not None:
            if low.startswith("secret", kind[0]) and kind[1] - kind[0] == 6:
                for name in ("data", "stringdata"):
                    data = _field(text, low, name, 0)
                    if data is not None:
                        yield data
                break
            kind = _field(text, low, "kind", kind[1])
    if "kty" in low and _field(text, low, "kty", 0) is not None:
        for name in OF_KEY:
            part = _field(text, low, name, 0)
            while part is not None:
                if part[1] - part[0] >= 20:
                    yield part
                part = _field(text, low, name, part[1])
    place = low.find("identified by")
    while place >= 0:
        begin = run(text, place + 13, _GAP)
        if quoted(text, begin)[1] >= 0:
            span = value_at(text, begin)
            if span is not None:
                yield span
        place = low.find("identified by", place + 1)


def _field(text: str, low: str, name: str, place: int) -> Span | None:
    """The value of the next field of JSON with this name."""
    place = low.find(name, place)
    while place >= 0:
        after, level = quoted(text, place + len(name))
        sign = run(text, after, _GAP)
        if level >= 0 and text[sign : sign + 1] == ":" and text[place - 1 : place] in ('"', "'"):
            span = value_at(text, run(text, sign + 1, _GAP))
            if span is not None:
                return span
        place = low.find(name, place + 1)
    return None


def _yaml(text: str) -> Iterator[Span]:
    """The data of a Kubernetes secret: whatever the names are."""
    place, inside = 0, -1
    for row in text.split("\n"):
        indent = len(row) - len(row.lstrip(" "))
        if row.strip() in ("data:", "stringData:"):
            inside = indent
        elif row.strip() and indent <= inside:
            inside = -1
        elif inside >= 0 and row.strip():
            sign = row.find(": ")
            begin = sign + 2 if sign >= 0 else indent
            if row[begin:].strip() not in ("", "|", ">", "|-"):
                yield place + begin, place + len(row), INSTEAD
        place += len(row) + 1
