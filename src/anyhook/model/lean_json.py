"""JSON without the `json` package: the same C scanner and encoder, minus the import of `re`, which costs as much
as half an interpreter start and would be spent before the first hook is looked up. If the C parts are not
available, `json` is used. And the bytes that a hook reads, and the hash of bytes, without `hashlib`."""

from __future__ import annotations

from io import BytesIO

try:  # the C module itself: `hashlib` loads a whole library of others with it
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyhook.model.json_types import Json

    _Encoder = Callable[[object, int], tuple[str, ...]]

_BLANKS = " \t\n\r"


def every_text(value: Json) -> Iterator[str]:
    """Every text in a value, however deep, in its order; names of keys are left out."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            left.extend(reversed(item.values() if isinstance(item, dict) else item))


def _finite(text: str) -> float:
    """1e999 is valid JSON, but its value (infinity) cannot be written as JSON."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large a number")
    return number


class _Rules:
    """What the C scanner asks for: the defaults of `json.loads`, but no NaN and no Infinity."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = staticmethod(_finite)
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 (the C scanner keeps its own)

    @staticmethod
    def parse_constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")


def _refuse(value: object) -> None:
    raise TypeError(f"{type(value).__name__} is not JSON")


try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

    _scan = make_scanner(_Rules)  # type: ignore[arg-type]  # it takes anything with these attributes
    _ascii: _Encoder = make_encoder(None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, True)
    _plain: _Encoder = make_encoder(None, _refuse, encode_basestring, None, ": ", ", ", False, False, True)
    _dense: _Encoder = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, True)

    def loads(text: str) -> Json:
        """The value of a JSON text; ValueError if it is not JSON, RecursionError if it is nested too deeply."""
        start = 0
        while start < len(text) and text[start] in _BLANKS:
            start += 1
        try:
            value, end = _scan(text, start)
        except StopIteration as stop:
            raise ValueError(f"no value at character {stop.value}") from None
        except SystemError:
            # The scanner takes its error from `json.decoder`, and gives none while that is not imported.
            import json

            value, end = json.loads(text, parse_constant=_Rules.parse_constant, parse_float=_finite), len(text)
        if text[end:].strip(_BLANKS):
            raise ValueError(f"extra data at character {end}")
        found: Json = value
        return found

    if (
        loads('{"a": [1, null]}') != {"a": [1, None]}
        or "".join(_ascii({"a": [1.5, "\\"]}, 0)) != '{"a": [1.5, "\\\\"]}'
    ):
        raise ImportError("the C parts of json behave differently here")
except (ImportError, TypeError):
    import json

    def loads(text: str) -> Json:
        value: Json = json.loads(text, parse_constant=_Rules.parse_constant, parse_float=_finite)
        return value

    def _ascii(value: object, _level: int) -> tuple[str, ...]:
        return (json.dumps(value),)

    def _plain(value: object, _level: int) -> tuple[str, ...]:
        return (json.dumps(value, ensure_ascii=False),)

    def _dense(value: object, _level: int) -> tuple[str, ...]:
        return (json.dumps(value, ensure_ascii=False, separators=(",", ":")),)


def leaf(value: object, *, ensure_ascii: bool) -> str:
    """As `dumps`, for what is nested no deeper than the encoder can go."""
    return "".join((_ascii if ensure_ascii else _plain)(value, 0))


def dumps(value: Json, *, ensure_ascii: bool = True) -> str:
    """The JSON text of a value, with a space after each colon and comma, however deep it is nested."""
    try:
        return "".join((_ascii if ensure_ascii else _plain)(value, 0))
    except (RecursionError, TypeError):  # too deep, or with `Digits` in it
        from anyhook.model.deep_json import write

        return write(value, lambda item: leaf(item, ensure_ascii=ensure_ascii))


def loads_any(text: str) -> Json:
    """The value of a JSON text from a host: valid JSON is read at any depth and with numbers of any length. ValueError
    if it is not JSON."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        from anyhook.model.deep_json import read

        return read(text)


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal, however deep they are."""
    try:
        return bool(one == other)
    except RecursionError:
        return dumps(one) == dumps(other)


def hasher() -> blake2b:
    """The hash of `digest`, for bytes that come in parts."""
    return blake2b(digest_size=32)


def digest(data: bytes) -> str:
    """The hash for everything that is proven or compared by one: BLAKE2b with 256 bits, in hexadecimal digits."""
    return blake2b(data, digest_size=32).hexdigest()


def short_digest(text: str) -> str:
    """Half of a text's digest: for names of files, and ids of 128 bits."""
    return digest(text.encode("utf-8", "surrogatepass"))[:32]


LONG_TEXT = 65_536
ESCAPED = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\t", b"\\t"), (b"\r", b"\\r"))
"""Frequent characters that JSON escapes. The backslash comes first, or it would escape the other escapes."""
RARE_LETTERS = tuple(chr(code) for code in range(32) if chr(code) not in "\n\t\r")


def encode(value: Json, *, long: bool = False, dense: bool = False) -> bytes:
    """JSON as UTF-8 wherever it can be, with a space after each colon and comma, or without any (`dense`): hooks search
    the text, as their product writes it. What is nested too deep for the encoder has spaces. `long` where there may be
    long texts in it."""
    try:
        if not long:
            return "".join(_dense(value, 0)).encode() if dense else dumps(value, ensure_ascii=False).encode()
        made = BytesIO()
        _write(made, value, dense)
        return made.getvalue()
    except UnicodeEncodeError:
        return dumps(value).encode()
    except (RecursionError, TypeError):  # of the pieces, or of what has no spaces
        if not long and not dense:
            raise
        return encode(value)


def _write(made: BytesIO, value: Json, dense: bool) -> None:
    """The same JSON, long texts piece by piece: what is made of a piece stays in the processor's cache, while a copy of
    a whole one costs as much as looking through it for what has to be escaped."""
    if isinstance(value, dict):
        before = "{"
        for key, item in value.items():
            made.write(f"{before}{dumps({key: 0}, ensure_ascii=False)[1:-3]}{'' if dense else ' '}".encode())
            _write(made, item, dense)
            before = "," if dense else ", "
        made.write(b"}" if value else b"{}")
    elif isinstance(value, str) and len(value) > LONG_TEXT:
        made.write(b'"')
        for start in range(0, len(value), LONG_TEXT):
            made.write(_escaped(value[start : start + LONG_TEXT]))
        made.write(b'"')
    else:
        made.write("".join(_dense(value, 0)).encode() if dense else dumps(value, ensure_ascii=False).encode())


def _escaped(text: str) -> bytes:
    if any(sign in text for sign in RARE_LETTERS):
        return dumps(text, ensure_ascii=False)[1:-1].encode()
    made = text.encode()
    for sign, escaped in ESCAPED:
        made = made.replace(sign, escaped)
    return made
