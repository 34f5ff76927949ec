"""A JSON value as the bytes that a hook reads."""

from __future__ import annotations

from io import BytesIO

from anyhook.model import lean_json as json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json

LONG = 65_536
ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\t", b"\\t"), (b"\r", b"\\r"))
"""What texts often hold and JSON escapes. The backslash comes first, or it would escape the others' escapes."""
RARE = tuple(chr(code) for code in range(32) if chr(code) not in "\n\t\r")


def encode(value: Json, *, long: bool = False) -> bytes:
    """JSON with a space after each colon and comma (hooks search the text), as UTF-8 wherever it can be. `long` where
    there may be long texts in it."""
    try:
        if not long:
            return json.dumps(value, ensure_ascii=False).encode()
        made = BytesIO()
        _write(made, value)
        return made.getvalue()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
    except RecursionError:  # of the pieces
        return encode(value)


def _write(made: BytesIO, value: Json) -> None:
    """The same JSON, long texts piece by piece: what is made of a piece stays in the processor's cache, while a copy of
    a whole one costs as much as looking through it for what has to be escaped."""
    if isinstance(value, dict):
        before = "{"
        for key, item in value.items():
            made.write(f"{before}{json.dumps({key: 0}, False)[1:-2]}".encode())
            _write(made, item)
            before = ", "
        made.write(b"}" if value else b"{}")
    elif isinstance(value, str) and len(value) > LONG:
        made.write(b'"')
        for start in range(0, len(value), LONG):
            made.write(_escaped(value[start : start + LONG]))
        made.write(b'"')
    else:
        made.write(json.dumps(value, ensure_ascii=False).encode())


def _escaped(text: str) -> bytes:
    if any(sign in text for sign in RARE):
        return json.dumps(text, ensure_ascii=False)[1:-1].encode()
    made = text.encode()
    for sign, escaped in ESCAPES:
        made = made.replace(sign, escaped)
    return made
