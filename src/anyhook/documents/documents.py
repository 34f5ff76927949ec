"""Reads one document that a user or a project wrote, bounded in size, depth and time, or says plainly why not.

It never runs, imports or trusts anything it reads; the only error that comes out of bad content is `Unreadable`.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anyhook.model.json_types import Json

    Place = tuple[str | int, ...]

SIZE_LIMIT = 1_048_576
FOREIGN_LIMIT = 16 * SIZE_LIMIT
"""For files that hold more than hooks, or none: an agent's own settings, what a hook wrote."""
DEPTH_LIMIT = 64
KEY_PARTS_LIMIT = 16
"""Parts of one dotted TOML key; tomllib needs time and memory by the square of them."""
DIGITS_LIMIT = 4_300
"""Python refuses to read or print longer decimal numbers."""
BITS_LIMIT = 14_000

_BOM = "\ufeff"
_COUNTED_MOST = 50
"""How many keys are looked for one by one."""
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(code for code in range(256) if code not in _STEPS)
_NO_SIGNS = _NO_BRACKETS.replace(b'"', b"")
_NO_ESCAPES = bytes(code for code in _NO_SIGNS if code not in b"\\/bfnrtu")
_OPEN_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class Unreadable(Exception):  # noqa: N818 - a state of the document, not a fault of the program
    """Why a document cannot be used: what is wrong, what to do, and the line where it is known."""

    def __init__(self, what: str, fix: str, line: int | None = None) -> None:
        super().__init__(what, fix, line)
        self.what = what
        self.fix = fix
        self.line = line

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.what}; {self.fix}"


def read_bytes(path: str, limit: int = SIZE_LIMIT) -> bytes:
    """The bytes of a regular file. What is no regular file is refused without waiting for it.

    A path where nothing is raises FileNotFoundError; a symbolic link that leads to nothing is Unreadable.
    """
    try:
        handle = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError:
        if os.path.islink(path):
            raise Unreadable("it is a symbolic link to nothing", "restore its target or remove the link") from None
        raise
    except (OSError, ValueError) as error:
        raise _refused(error) from None
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            kind = next((name for test, name in _KINDS if test(state.st_mode)), "something else")
            raise Unreadable(f"it is {kind}, not a file", "put a regular file in its place")
        if state.st_size > limit:
            raise _too_large(limit)
        return _read_all(handle, limit)
    except OSError as error:
        raise _refused(error) from None
    finally:
        os.close(handle)


def head(path: str, size: int = 4096) -> bytes | None:
    """The first bytes of a regular file; None where there is none or it cannot be read. It waits for nothing."""
    try:
        handle = os.open(path, _OPEN_FLAGS)
    except (OSError, ValueError):
        return None
    try:
        return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(handle)


def _read_all(handle: int, limit: int) -> bytes:
    """Reads to the end rather than to the announced size: a file may grow, and kernel files announce none."""
    parts: list[bytes] = []
    room = limit + 1
    while room > 0 and (part := os.read(handle, min(room, 262_144))):
        parts.append(part)
        room -= len(part)
    if room <= 0:
        raise _too_large(limit)
    return b"".join(parts)


def _too_large(limit: int) -> Unreadable:
    return Unreadable(f"it is larger than {limit:,} bytes", "make it smaller")


def _refused(error: OSError | ValueError) -> Unreadable:
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.ELOOP:
        return Unreadable("its symbolic links run in a circle", "remove the link")
    if code in (errno.EACCES, errno.EPERM):
        return Unreadable("permission to read it is denied", "give yourself read permission (chmod u+r)")
    if code == errno.ENOTDIR:
        return Unreadable("a part of its path is a file, not a directory", "rename or remove that file")
    if code == errno.ENXIO:
        return Unreadable("it is a socket or a device, not a file", "put a regular file in its place")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Unreadable(f"it cannot be read: {reason}", "check the path and the file")


def parse_json(text: str) -> Json:
    """Strict JSON; of equal keys the last counts. Non-finite numbers and halves of surrogate pairs are refused."""
    import json

    text = text.removeprefix(_BOM)
    coded = _bound_json(_utf8(text))
    try:
        value: Json = json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
    except (ValueError, NotFinite) as error:
        from anyhook.documents import mistakes

        raise mistakes.in_json(text, error) from None
    if coded:
        _refuse_half_pairs(text)
    return value


def repeated_key(text: str, document: Json) -> tuple[str, int] | None:
    """A key that stands twice in one object of a JSON document, and the line of the second; looked for among the keys
    under which hooks are declared: those at the top and right below. Nearly every document is done with by counting."""
    if not isinstance(document, dict):
        return None
    names = {*document, *(key for item in document.values() if isinstance(item, dict) for key in item)}
    few = len(names) <= _COUNTED_MOST  # for more than a few, reading once more is the lesser work
    if few and not any(text.count(f'"{name}"') > 1 for name in names):
        return None
    import json

    twice: list[str] = []

    def look(pairs: list[tuple[str, Json]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                twice.append(key)
            seen.add(key)

    json.loads(text.removeprefix(_BOM), object_pairs_hook=look)
    for name in twice:
        if name in names:
            first = text.find(f'"{name}"')
            return name, line_at(text, text.find(f'"{name}"', first + 1))
    return None


def _bound_json(data: bytes) -> bool:
    """Refuses too much depth; says whether there are `\\u` escapes.

    With escapes taken out, quotes open and close strings in turn, so every second piece is outside of strings. The rest
    makes it cheap: letters that cannot follow a backslash go first, and two quotes side by side change no bracket.
    """
    coded = False
    if b"\\" in data:
        data = data.translate(None, _NO_ESCAPES).replace(rb"\\", b"").replace(rb"\"", b"")
        coded = b"\\" in data and rb"\u" in data
    signs = data.translate(None, _NO_SIGNS).replace(b'""', b"")
    _bound_depth(b"".join(signs.split(b'"')[::2]))
    return coded


class NotFinite(Exception):  # noqa: N818 - a property of the document, as above
    """A number that is not finite; the argument is how it was written."""


def _refuse_number(literal: str) -> float:
    raise NotFinite(literal)


def _finite(literal: str) -> float:
    number = float(literal)
    if number - number != 0:
        raise NotFinite(literal)
    return number


def _refuse_half_pairs(text: str) -> None:
    import re

    pair_or_half = r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(u[dD][89a-fA-F]\w\w)|.)"
    for found in re.finditer(pair_or_half, text, re.DOTALL):
        if found[1]:
            what = f"\\{found[1]} is half of a character"
            raise Unreadable(what, "write the character itself", line_at(text, found.start()))


def parse_yaml(text: str, counted: Callable[[int], None] | None = None) -> Json:
    """One YAML 1.2 document of plain data: no tags, dates or repeated keys; keys are strings. Aliases are bounded,
    and a plain `<<` brings in the mappings it names. `counted` hears how many values were read, to the end or not."""
    from anyhook.documents import yaml_tree

    return yaml_tree.load(_clean(text), counted)


def mend_backslashes(yaml_text: str) -> str:
    """The text with backslashes in double-quoted scalars doubled, for an author who meant them literally.

    Escaped quotes, escaped backslashes and escaped line ends stay, so that every scalar ends where it ended.
    """
    if "\\" not in yaml_text:
        return yaml_text
    from anyhook.documents import yaml_tree

    return yaml_tree.mend_backslashes(yaml_text)


def parse_toml(text: str) -> Json:
    """A TOML document; dates and times become text in ISO form, non-finite numbers are refused."""
    import tomllib

    text = _clean(text)
    bound_toml(text)
    try:
        value = tomllib.loads(text)
    except ValueError as error:
        from anyhook.documents import mistakes

        raise mistakes.in_toml(text, error) from None
    return _plain_toml(value, (), text)


def bound_toml(text: str) -> None:
    """Refuses a depth or a key that would hurt a parser. Strings and comments are taken out; where one has no end, the
    parsers stop as well."""
    if text.count("[") + text.count("{") <= DEPTH_LIMIT and text.count(".") < KEY_PARTS_LIMIT:
        return
    import re

    noise = (
        r'"""(?:[^"\\]+|\\.|"(?!""))*+(?:"{3,5})?'
        r"|'''(?:[^']+|'(?!''))*+(?:'{3,5})?"
        r'|"(?:[^"\\\n]+|\\.)*+"?'
        r"|'[^'\n]*+'?"
        r"|#[^\n]*"
    )
    outside = re.sub(noise, "", text, flags=re.DOTALL)
    _bound_depth(outside.encode().translate(None, _NO_BRACKETS))
    if any(piece.count(".") >= KEY_PARTS_LIMIT for piece in re.split(r"[=,\[\]{}\n]", outside)):
        raise Unreadable(f"a key has more than {KEY_PARTS_LIMIT} parts", "write it flatter")


def _plain_toml(value: object, place: Place, text: str) -> Json:
    if isinstance(value, dict | list) and len(place) >= DEPTH_LIMIT:
        raise too_deep()
    if isinstance(value, dict):
        return {key: _plain_toml(item, (*place, key), text) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_toml(item, (*place, index), text) for index, item in enumerate(value)]
    if isinstance(value, str | bool):
        return value
    if isinstance(value, float) and value - value != 0:
        raise Unreadable(f"the number {value} is not finite", "write a finite number", line_of(text, "toml", place))
    if isinstance(value, int) and value.bit_length() > BITS_LIMIT:
        raise Unreadable("a number too long to read", "write a shorter number", line_of(text, "toml", place))
    if isinstance(value, int | float):
        return value
    return _moment(value)


def _moment(value: object) -> str:
    from datetime import date, time

    return value.isoformat() if isinstance(value, date | time) else str(value)


def split_front_matter(text: str) -> tuple[str, int] | None:
    """The text between a first line `---` and the next line `---` or `...`, and how many lines stand before it."""
    text = text.removeprefix(_BOM)
    end = text.find("\n")
    if (text if end < 0 else text[:end]).rstrip() != "---":
        return None
    start = at = end + 1
    while end >= 0:
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if line.rstrip() in ("---", "..."):
            return text[start:at], 1
        at = end + 1
    raise Unreadable("the front matter has no end", "add a line with --- after its last field", 1)


def line_of(text: str, syntax: str, path: Place) -> int | None:
    """The line, from 1, of the key or entry at this path of a `json`, `yaml` or `toml` text; None if there is none."""
    return lines_of(text, syntax, (path,)).get(path)


def lines_of(text: str, syntax: str, paths: Iterable[Place]) -> dict[Place, int]:
    """The lines of many paths in one pass over the text; a path that leads to nothing is left out."""
    from anyhook.documents import locate

    try:
        return locate.lines_of(_clean(text), syntax, paths)
    except Unreadable:
        return {}


def too_deep() -> Unreadable:
    return Unreadable(f"nested more than {DEPTH_LIMIT} levels deep", "write it flatter")


def _bound_depth(brackets: bytes) -> None:
    """Refuses too many brackets open at once; parsers recurse, this does not. Taking out pairs with nothing in them
    lowers the depth by at most one each time, and ends ordinary documents at once; the rest is counted."""
    from itertools import accumulate

    peeled = brackets
    for _ in range(DEPTH_LIMIT // 8):
        peeled = peeled.replace(b"{}", b"").replace(b"[]", b"")
        if not peeled:
            return
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > DEPTH_LIMIT:
        raise too_deep()


def _clean(text: str) -> str:
    """The text without a byte order mark, if it is text."""
    text = text.removeprefix(_BOM)
    if not text.isascii():
        _utf8(text)
    return text


def _utf8(text: str) -> bytes:
    """Halves of surrogate pairs are what a lenient decoder makes of bytes that are not UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Unreadable("it is not UTF-8", "save the file as UTF-8", line_at(text, error.start)) from None


def line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
