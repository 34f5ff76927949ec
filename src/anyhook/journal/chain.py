"""The chain: every line of the journal ends with its number and a hash over itself and the hash before it, so that an
edited, missing or moved line shows. It computes and compares, and opens no file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Link = tuple[int, bytes]
    """Number and hash of a record; the next one's hash is over this one's."""

START: Link = (0, b"0" * 64)
"""What the first record of all follows."""
MAX_SEAL = 128
"""No seal is longer than this many bytes."""
_NUMBER, _HASH, _END = b', "n": ', b', "hash": "', b'"}\n'
_HASHED = len(_HASH) + 64 + len(_END)
"""How many bytes at the end of a line its hash does not cover."""


def sealed(lines: Iterable[bytes], last: Link, digest: Callable[[bytes], str]) -> tuple[list[bytes], Link]:
    """The lines, each with its seal, and the last link. A line is a JSON object and its line break."""
    number, before = last
    made: list[bytes] = []
    for line in lines:
        number += 1
        body, numbered = line[:-2], b"%b%d" % (_NUMBER, number)
        before = digest(b"".join((before, body, numbered))).encode()
        made.append(b"".join((body, numbered, _HASH, before, _END)))
    return made, (number, before)


def link_of(line: bytes) -> Link | None:
    """The seal of a line, or of the end of one, or None."""
    if not line.endswith(_END) or line[-_HASHED : 64 - _HASHED + len(_HASH) - 64] != _HASH:
        return None
    found = line[-len(_END) - 64 : -len(_END)]
    start = line.rfind(_NUMBER, -MAX_SEAL)
    digits = line[start + len(_NUMBER) : -_HASHED] if start >= 0 else b""
    return (int(digits), found) if digits.isdigit() else None


def follows(line: bytes, before: bytes, digest: Callable[[bytes], str]) -> bool:
    """Whether a sealed line is as it was written, after the record with that hash."""
    return digest(before + line[:-_HASHED]).encode() == line[-len(_END) - 64 : -len(_END)]
